import type { AttemptProcess, PastAttempt } from './attempt.ts';
import type { CalendarDate } from './calendar-date.ts';
import { addDays, dateOf, midnightOf } from './calendar-date.ts';
import type { Instant } from './instant.ts';
import type { CollectionPolicy } from './policy.ts';
import type { Subscription } from './subscription.ts';

export type LimitReason =
  'older-period-first' | 'initial-today' | 'retried-today' | 'webhooks-today' | 'attempts-used-up';

export interface LimitReached {
  readonly reason: LimitReason;
  /** When to look again; null when time alone changes nothing. */
  readonly until: Instant | null;
}

/** How often a path may try. The days are UTC days. */
export type AttemptLimit =
  'one-initial-per-user-and-day' | 'one-retry-per-day' | 'webhooks-per-day' | 'in-all' | 'none';

export interface LimitFacts {
  readonly attempts: readonly PastAttempt[];
  /** Every record of the user. */
  readonly partition: readonly Subscription[];
}

/** The limit that forbids another attempt on this record now, or null. */
export function limitReached(
  limit: AttemptLimit,
  record: Subscription,
  facts: LimitFacts,
  policy: CollectionPolicy,
  now: Instant,
): LimitReached | null {
  if (limit === 'none') return null;
  if (facts.attempts.length >= policy.retryMaxAttempts) return { reason: 'attempts-used-up', until: null };
  switch (limit) {
    case 'one-initial-per-user-and-day':
      return initialLimit(record, facts, now);
    case 'one-retry-per-day':
      return perDay('retried-today', ['RETRY'], 1, facts.attempts, now);
    case 'webhooks-per-day':
      return perDay(
        'webhooks-today',
        ['WEBHOOK', 'WEBHOOK_BALANCE'],
        policy.webhookMaxPerDay,
        facts.attempts,
        now,
      );
    case 'in-all':
      return null;
  }
}

/**
 * Two months owed are not taken from one account in one night: the oldest period goes first, one a day. An older period
 * that today's run has handled still blocks the newer one today: the result does not depend on their order.
 */
function initialLimit(
  record: Subscription,
  { attempts, partition }: LimitFacts,
  now: Instant,
): LimitReached | null {
  const today = dateOf(now);
  const older = partition.filter(
    (other) => other.billingDate < record.billingDate && other.billingDate <= now,
  );
  if (older.some(({ billingStatus }) => billingStatus === 'SCHEDULED')) {
    return { reason: 'older-period-first', until: null };
  }
  if (older.some((other) => isDealtWithOn(today, other))) {
    return { reason: 'older-period-first', until: tomorrow(now) };
  }
  const tried = partition.some(
    (other) => other.initialRunDate !== null && dateOf(other.initialRunDate) === today,
  );
  if (tried) return { reason: 'initial-today', until: tomorrow(now) };
  // A record that was scheduled anew keeps the date of its very first attempt; today's shows in the attempts only.
  return perDay('initial-today', ['INITIAL'], 1, attempts, now);
}

/** Tried, resumed, cancelled, waived or written off by the run of first attempts: each writes its name into `process`. */
const isDealtWithOn = (day: CalendarDate, { process, lastRunDate }: Subscription): boolean =>
  process === 'INITIAL' && lastRunDate !== null && dateOf(lastRunDate) === day;

function perDay(
  reason: LimitReason,
  processes: readonly AttemptProcess[],
  most: number,
  attempts: readonly PastAttempt[],
  now: Instant,
): LimitReached | null {
  const today = dateOf(now);
  const count = attempts.filter(
    ({ process, at }) => processes.includes(process) && dateOf(at) === today,
  ).length;
  return count < most ? null : { reason, until: tomorrow(now) };
}

/** When the UTC day of `now` is over. */
export const tomorrow = (now: Instant): Instant => midnightOf(addDays(dateOf(now), 1));
