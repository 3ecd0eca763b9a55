import { attemptId } from '../domain/attempt-id.ts';
import type { PastAttempt } from '../domain/attempt.ts';
import type { CalendarDate } from '../domain/calendar-date.ts';
import { midnightOf } from '../domain/calendar-date.ts';
import type { Instant } from '../domain/instant.ts';
import { plusMs } from '../domain/instant.ts';
import { declineText } from '../domain/outcomes.ts';
import type { NewRecurring } from '../domain/recurring/by-hand.ts';
import { planRecurringCancel, recurringCreated } from '../domain/recurring/by-hand.ts';
import { RECURRING_RAIL } from '../domain/recurring/decide-recurring.ts';
import type { RecurringChange } from '../domain/recurring/outcomes.ts';
import {
  recurringDeclined,
  recurringOpened,
  recurringPaid,
  recurringReminded,
} from '../domain/recurring/outcomes.ts';
import { DEFAULT_RECURRING_POLICY } from '../domain/recurring/policy.ts';
import { payerOf, recurringRecordId } from '../domain/recurring/record-id.ts';
import type { NewReceipt, RecurringSubscription } from '../domain/recurring/recurring.ts';
import { RECURRING_PAYMENTS } from '../domain/recurring/runs.ts';
import { runId } from '../domain/runs.ts';
import type { AttemptRecord, Resolution } from '../ports/pipeline.ts';

/*
 * A past for a made-up recurring payment, step by step, by the same rules that real ones live by: so it is one that could
 * have been, and the audit finds nothing wrong with it.
 */
export interface RecurringLife {
  readonly subscription: RecurringSubscription;
  /** Oldest first. */
  readonly changes: readonly RecurringChange[];
  /** Oldest first; numbered with those of the account's others. */
  readonly receipts: readonly NewReceipt[];
  readonly attempts: readonly AttemptRecord[];
  readonly past: readonly PastAttempt[];
}

const HOUR_MS = 3_600_000;
const policy = DEFAULT_RECURRING_POLICY;
/** When the runs start, and how long they take to come to somebody and the processor to answer. */
const TELLS_MS = 15 * HOUR_MS;
const CHARGES_MS = 16 * HOUR_MS;
const STARTS_AFTER_MS = 4_200;
const ANSWERS_AFTER_MS = 900;

const NO_MONEY = { errorCode: '62', errorMessage: 'insufficient funds' };

export function begun(wish: NewRecurring, at: Instant): RecurringLife {
  const change = recurringCreated(wish, 'demo', policy, at);
  return { subscription: change.subscription, changes: [change], receipts: [], attempts: [], past: [] };
}

export const told = (life: RecurringLife, day: CalendarDate): RecurringLife =>
  changed(life, recurringReminded(life.subscription, plusMs(midnightOf(day), TELLS_MS + STARTS_AFTER_MS)));

export const paid = (life: RecurringLife, day: CalendarDate): RecurringLife => tried(life, day, 'COMPLETED');

export const declined = (life: RecurringLife, day: CalendarDate): RecurringLife => tried(life, day, 'FAILED');

export function left(life: RecurringLife, at: Instant): RecurringLife {
  const plan = planRecurringCancel(life.subscription, 'demo', at);
  if (plan.plan !== 'change') throw new Error('it was left before');
  return changed(life, plan.change);
}

function tried(life: RecurringLife, day: CalendarDate, status: 'COMPLETED' | 'FAILED'): RecurringLife {
  const attempt = attemptOn(life.subscription, day, status);
  const { attemptId: id, amount, openedAt, resolution } = attempt;
  const opened = recurringOpened(life.subscription, id, openedAt).subscription;
  const { at, confirmationId, errorCode, errorMessage } = resolution;
  const made = { attemptId: id, amount, period: life.subscription.periodDate, confirmationId };
  const change =
    status === 'COMPLETED'
      ? recurringPaid(opened, made, policy, at)
      : recurringDeclined(opened, made, declineText(errorCode, errorMessage), policy, at);
  const outcome: PastAttempt = { process: 'RECURRING', at: openedAt, rail: RECURRING_RAIL, result: status };
  const lived = changed(life, change);
  return { ...lived, attempts: [...life.attempts, attempt], past: [...life.past, outcome] };
}

const changed = (life: RecurringLife, change: RecurringChange): RecurringLife => ({
  ...life,
  subscription: change.subscription,
  changes: [...life.changes, change],
  receipts: change.receipt === null ? life.receipts : [...life.receipts, change.receipt],
});

function attemptOn(
  subscription: RecurringSubscription,
  day: CalendarDate,
  status: 'COMPLETED' | 'FAILED',
): AttemptRecord & { readonly resolution: Resolution } {
  const tick = plusMs(midnightOf(day), CHARGES_MS);
  const triggerId = runId(RECURRING_PAYMENTS, tick);
  const subscriptionId = recurringRecordId(subscription);
  const id = attemptId(subscriptionId, triggerId, RECURRING_RAIL);
  const openedAt = plusMs(tick, STARTS_AFTER_MS);
  return {
    attemptId: id,
    subscriptionId,
    userId: payerOf(subscription.accountId),
    triggerId,
    process: 'RECURRING',
    rail: RECURRING_RAIL,
    amount: subscription.paymentAmount,
    accountId: null,
    description: null,
    insteadOf: null,
    refundOf: null,
    upgrades: null,
    period: subscription.periodDate,
    openedAt,
    resolution: {
      status,
      at: plusMs(openedAt, ANSWERS_AFTER_MS),
      confirmationId: `USIO-${id.slice(0, 20)}`,
      ...(status === 'FAILED' ? NO_MONEY : { errorCode: null, errorMessage: null }),
    },
  };
}
