import { RememberingLocks } from '../src/adapters/lock/remembering-locks.ts';
import { janitorRound } from '../src/app/janitor-round.ts';
import type { WorkerContext } from './context.ts';
import type { Processor } from './job.ts';

/** Asks about attempts without an answer and entries without a word, as far as they are due. */
export function janitorProcessor(context: WorkerContext): Processor {
  const { collect } = context;
  const dependencies = { ...collect, locks: new RememberingLocks(collect.locks, collect.timer) };
  return async () => {
    const counts = await janitorRound(dependencies, context.janitor, (ids, error) =>
      context.log.error({ ...ids, err: error }, 'the janitor could not settle it'),
    );
    return counts;
  };
}
