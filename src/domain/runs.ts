import type { CalendarDate } from './calendar-date.ts';
import { addDays, dateOf, midnightOf } from './calendar-date.ts';
import type { Instant } from './instant.ts';
import { FLOAT_PROCESSES } from './floats/runs.ts';
import { RECURRING_PAYMENTS, RECURRING_REMINDERS } from './recurring/runs.ts';
import { lowerBoundText, parseInstant, plusDays } from './instant.ts';
import type { Path } from './paths.ts';
import type { CollectionPolicy } from './policy.ts';
import type { Subscription } from './subscription.ts';

export const BILLING_PROCESSES = ['scheduled', 'retry', 'pause', 'stale'] as const;
export type BillingProcess = (typeof BILLING_PROCESSES)[number];

/** Of whatever product: those that decide about money, and can be foretold. */
export const COLLECTING_PROCESSES = [...BILLING_PROCESSES, ...FLOAT_PROCESSES, RECURRING_PAYMENTS] as const;
export type CollectingProcess = (typeof COLLECTING_PROCESSES)[number];

/** The last two read and report like the others, and collect nothing: members are told what is due soon. */
export const RUN_PROCESSES = [...COLLECTING_PROCESSES, 'notify', RECURRING_REMINDERS] as const;
export type RunProcess = (typeof RUN_PROCESSES)[number];

export type RunId = string & { readonly __brand: 'RunId' };

/** By which path a run considers its billing records. */
export const PATH_OF_RUN: Record<BillingProcess, Path> = {
  scheduled: 'INITIAL',
  retry: 'RETRY',
  pause: 'PAUSE',
  stale: 'STALE',
};

export const isBilling = (process: RunProcess): process is BillingProcess =>
  Object.hasOwn(PATH_OF_RUN, process);

export const isCollecting = (process: RunProcess): process is CollectingProcess =>
  COLLECTING_PROCESSES.some((collecting) => collecting === process);

/** So many days before a record is due its member is told. */
const NOTICE_DAYS = 4;

/** Members are told of what is due on this day. */
export const noticeDay = (tick: Instant): CalendarDate => addDays(dateOf(tick), NOTICE_DAYS);

/** Which billing records are due: those of a status, on one side of an instant or between two. */
export type DueRange =
  | { readonly status: 'SCHEDULED'; readonly from: Instant; readonly before: Instant }
  | { readonly status: 'SCHEDULED' | 'PAUSED'; readonly before: Instant }
  | { readonly status: 'ERROR'; readonly after: Instant }
  | { readonly status: 'ERROR'; readonly upTo: Instant };

/** The retry run stops where the stale run begins: no record is in both, none in neither. */
export function dueRange(
  process: BillingProcess | 'notify',
  tick: Instant,
  { oldSubscriptionDays }: CollectionPolicy,
): DueRange {
  const cut = plusDays(tick, -oldSubscriptionDays);
  switch (process) {
    case 'scheduled':
      return { status: 'SCHEDULED', before: tick };
    case 'pause':
      return { status: 'PAUSED', before: tick };
    case 'retry':
      return { status: 'ERROR', after: cut };
    case 'stale':
      return { status: 'ERROR', upTo: cut };
    case 'notify': {
      // A whole day, whenever on its own day the run starts: a run each day leaves nobody out and takes nobody twice.
      const day = noticeDay(tick);
      return { status: 'SCHEDULED', from: midnightOf(day), before: midnightOf(addDays(day, 1)) };
    }
  }
}

export function isInRange(range: DueRange, { billingStatus, billingDate }: Subscription): boolean {
  if (billingStatus !== range.status) return false;
  if ('from' in range && billingDate < range.from) return false;
  if ('before' in range) return billingDate < range.before;
  return 'after' in range ? billingDate > range.after : billingDate <= range.upTo;
}

/** A run is its process and its tick: starting it twice starts it once. */
export const runId = (process: RunProcess, tick: Instant): RunId =>
  `${process}-${lowerBoundText(tick).replaceAll(/[-:]/g, '')}Z` as RunId;

export function parseRunId(id: string): { process: RunProcess; tick: Instant } | null {
  const match = /^([a-z-]+)-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(id);
  if (match === null) return null;
  const [, name, year, month, day, hour, minute, second] = match;
  const tick = parseInstant(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const process = RUN_PROCESSES.find((known) => known === name);
  return tick === null || process === undefined ? null : { process, tick };
}

/** Of an id that is known to be a run's. */
export function processOf(id: RunId): RunProcess {
  const named = parseRunId(id);
  if (named === null) throw new Error(`${id} is no run`);
  return named.process;
}
