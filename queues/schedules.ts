import { RUN_PROCESSES } from '../src/domain/runs.ts';
import { cronOf } from '../src/domain/schedule.ts';
import { PAGES_OF_RUN } from './jobs.ts';
import type { QueueSet } from './queue-set.ts';

/** How often the janitor looks whether there is anything to ask about. */
const JANITOR_CRON = '* * * * *';

/**
 * Made or brought up to date; safe to repeat, also from several processes. A tick only wakes a worker up: which run it
 * is follows from the clock, so that a tick that fires twice starts one run, and one that never fires is made up for.
 */
export async function upsertSchedules(queues: QueueSet): Promise<void> {
  for (const process of RUN_PROCESSES) {
    const repeat = { pattern: cronOf(process), tz: 'UTC' };
    await queues
      .get(PAGES_OF_RUN[process])
      .upsertJobScheduler(`tick-${process}`, repeat, { name: 'tick', data: {} });
  }
  const janitor = queues.get('janitor');
  await janitor.upsertJobScheduler(
    'janitor-round',
    { pattern: JANITOR_CRON, tz: 'UTC' },
    { name: 'round', data: {} },
  );
}
