import { janitorRound } from '../src/app/janitor-round.ts';
import { watchReturnRates } from '../src/app/return-meters.ts';
import type { WorkerContext } from './context.ts';
import type { Processor } from './job.ts';

/** Asks about attempts without an answer and entries without a word, as far as they are due; looks at the return rates. */
export function janitorProcessor(context: WorkerContext): Processor {
  const { collect, log, metrics } = context;
  const lookAtRates = watchReturnRates({ ...collect, log, metrics });
  return async () => {
    const counts = await janitorRound(collect, context.janitor, (ids, error) =>
      log.error({ ...ids, err: error }, 'the janitor could not settle it'),
    );
    await lookAtRates().catch((error: unknown) =>
      log.error({ err: error }, 'the return rates cannot be read'),
    );
    return counts;
  };
}
