import { setTimeout as sleep } from 'node:timers/promises';
import { addDays, dateOf } from '../src/domain/calendar-date.ts';
import type { Instant } from '../src/domain/instant.ts';
import { msOf } from '../src/domain/instant.ts';
import type { Book } from './book.ts';
import { lostEvents, untoldChanges } from './checks.ts';
import { EVENING, timeOn } from './days.ts';
import type { Ground } from './ground.ts';
import type { PipelineState } from './tables.ts';
import { readCallbacks, readPipeline, readRows, readTold } from './tables.ts';
import { TIMED_RUNS, newestRun } from './timetable.ts';

/** Until the entries of the last day have been settled or returned, and every chain has had its run. */
const DAYS = 5;
const LOOK_EVERY_MS = 500;
/**
 * In an ordinary run a day is over after seconds, the first after a minute: runs whose records other runs took
 * meanwhile wait half a minute for their verdicts before they end without. Beside a simulation on both of two slow cores
 * the first took nearly five minutes.
 */
const DAY_LIMIT_MS = 600_000;
/** What is put off is looked at again after minutes of the members' time: so many pass now and then while we look. */
const MEANWHILE = '20m';
const LOOKS_BETWEEN = 6;

/** The lists that empty themselves when nothing goes wrong. Others hold what is waited for, like a bank's word. */
const MUST_EMPTY = ['open-attempts', 'inbox', 'membership-flags', 'requests', 'running-runs'];

export interface QuietOptions {
  readonly book: Book;
  /** Every process is up: from now on none has a reason not to be. */
  readonly onBegin: () => void;
  readonly onDay: (evening: Instant) => void;
  /** Now and then, what a day still waits for. */
  readonly onWait: (open: readonly string[]) => void;
}

/**
 * Nothing strikes any more: every process comes up, and day after day everything that was begun comes to its end. Gives
 * what does not.
 */
export async function quiet(
  ground: Ground,
  { book, onBegin, onDay, onWait }: QuietOptions,
): Promise<readonly string[]> {
  const missing = await settled(async () => ground.crew.missing());
  if (missing.length > 0) return missing.map((name) => `${name} does not come up`);
  onBegin();
  const firstDay = dateOf((await ground.bank.time()).now);
  for (let day = 1; day <= DAYS; day += 1) {
    const evening = timeOn(addDays(firstDay, day), EVENING);
    await ground.bank.setTime(evening);
    onDay(evening);
    const left = await settled(
      () => openOn(ground, book, evening),
      async (open) => {
        onWait(open);
        await letTimePass(ground);
      },
    );
    if (left.length > 0) return left;
  }
  return [];
}

/** Looks until nothing is left, or the time is up. Gives what is left. */
async function settled(
  look: () => Promise<readonly string[]>,
  meanwhile: (left: readonly string[]) => Promise<void> = async () => undefined,
): Promise<readonly string[]> {
  const deadline = performance.now() + DAY_LIMIT_MS;
  for (let looks = 1; ; looks += 1) {
    const left = await look();
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(LOOK_EVERY_MS);
    if (looks % LOOKS_BETWEEN === 0) await meanwhile(left);
  }
}

/** The janitor looks once a minute of real time; here it is called at once. */
async function letTimePass({ bank, queues }: Ground): Promise<void> {
  await bank.advance(MEANWHILE);
  await queues.get('janitor').add('round', {});
}

async function openOn(ground: Ground, book: Book, evening: Instant): Promise<string[]> {
  const put = [...book.events, ...(await readCallbacks(ground))];
  const state = await readPipeline(ground);
  const lists = MUST_EMPTY.map((list) => [list, state.open.get(list) ?? 0] as const);
  // Those that no bridge has read yet are in no list.
  const unread = ['events that nobody has dealt with', lostEvents(put, state.dealtWith).length] as const;
  const open = [...saidOf([...lists, unread]), ...missingRuns(state, evening)];
  if (open.length > 0) return open;
  const untold = untoldChanges(await readRows(ground), await readTold(ground));
  return saidOf([['changes that others were not told of', untold.length]]);
}

const saidOf = (counts: readonly (readonly [what: string, count: number])[]): string[] =>
  counts.filter(([, count]) => count > 0).map(([what, count]) => `${what}: ${count}`);

/** The scheduler has noticed the hour when the newest run of each kind has begun. */
function missingRuns({ runs }: PipelineState, evening: Instant): string[] {
  const expected = TIMED_RUNS.map((run) => newestRun(run, msOf(evening)).id);
  return expected.filter((id) => !runs.has(id)).map((id) => `${id} has not begun`);
}
