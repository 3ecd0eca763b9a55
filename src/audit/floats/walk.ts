import { ALLOWED_FLOAT_TRANSITIONS, FLOAT_BORN_AS } from './allowed-float-transitions.ts';
import type { LogRow } from './float-record.ts';

/*
 * A float has no history of its own states: its log tells of attempts, of support and of the end. What lies between two
 * rows is not told, but it can only have been one of a few things. So a float is walked along its log with every status
 * that it may have had.
 */

export type Statuses = ReadonlySet<string>;

/** Changes that leave no row. */
const SILENT: readonly string[] = [
  'attempt-opened',
  'given-up-for-today',
  'account-missing',
  'credit-returned',
];

/** What a row says the float became. A decline leaves much open: by hand, or the day before, it changes nothing. */
const STATUSES_OF: Readonly<Record<string, readonly string[]>> = {
  ACHSENT: ['ACHSENT'],
  COMPLETED: ['COMPLETED'],
  DEFAULTED: ['DEFAULTED'],
  RETURNED: ['SCHEDULING', 'RETRY', 'UNCOLLECTABLE', 'DEFAULTED'],
};

const CAUSES_OF: Readonly<Record<string, readonly string[]>> = {
  ACHSENT: ['ach-accepted'],
  COMPLETED: ['attempt-succeeded', 'ach-completed'],
  RETURNED: ['attempt-declined', 'ach-returned'],
};

export interface Step {
  readonly row: LogRow;
  /** What the float may have been before the row. */
  readonly before: Statuses;
  /** What it may have been then. None: nothing allows this row here. */
  readonly after: Statuses;
}

export function walk(log: readonly LogRow[]): Step[] {
  const steps: Step[] = [];
  let now: Statuses = new Set([FLOAT_BORN_AS]);
  for (const row of log) {
    const before = thenOrLater(now);
    const after = stepsTo(row, before);
    steps.push({ row, before, after });
    // What is wrong once is said once: from here on the row is believed.
    now = after.size > 0 ? after : statusesOf(row);
  }
  return steps;
}

/** What the float may have been right after the last of these rows. */
export function statusesTold(log: readonly LogRow[]): Statuses {
  const last = walk(log).at(-1);
  if (last === undefined) return new Set([FLOAT_BORN_AS]);
  return last.after.size > 0 ? last.after : statusesOf(last.row);
}

const statusesOf = ({ outcome }: LogRow): Statuses => new Set(STATUSES_OF[outcome] ?? []);

function stepsTo(row: LogRow, before: Statuses): Statuses {
  // What came too late to decide anything leaves the float as it was.
  if (row.remark === 'aside') return reach(before, (cause) => cause === 'told-aside', null);
  const causes = causesOf(row);
  const wanted = statusesOf(row);
  return reach(before, (cause) => causes?.includes(cause) ?? true, wanted);
}

/** Null: anything. Support, and a run that gives a float up, use no rail; rows of the service before us name none. */
function causesOf({ process, method, outcome }: LogRow): readonly string[] | null {
  if (method !== null) return CAUSES_OF[outcome] ?? [];
  if (process === 'SUPPORT') return ['support-changed'];
  return outcome === 'DEFAULTED' ? ['limit-reached'] : null;
}

/** Whatever may have happened since without a row, if anything. */
export function thenOrLater(statuses: Statuses): Statuses {
  const more = new Set([...statuses, ...silentStep(statuses)]);
  return more.size === statuses.size ? more : thenOrLater(more);
}

/** Something has happened since, without a row. */
export const later = (statuses: Statuses): Statuses => thenOrLater(silentStep(statuses));

const silentStep = (statuses: Statuses): Statuses => reach(statuses, (cause) => SILENT.includes(cause), null);

const reach = (from: Statuses, by: (cause: string) => boolean, to: Statuses | null): Statuses =>
  new Set(
    ALLOWED_FLOAT_TRANSITIONS.filter(
      (one) => from.has(one.from) && (to === null || to.has(one.to)) && one.causes.some(by),
    ).map((one) => one.to),
  );
