import type { AttemptId } from '../attempt.ts';
import type { CalendarDate } from '../calendar-date.ts';
import { addDays, dateOf } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import { nextStamp, plusDays } from '../instant.ts';
import type { Cents } from '../money.ts';
import { later, nextPeriodDate, reminderDate } from './payment-dates.ts';
import type { RecurringPolicy } from './policy.ts';
import type { NewReceipt, RecurringSubscription } from './recurring.ts';
import { isCharged } from './recurring.ts';
import type { RecurringCause } from './transitions.ts';

/*
 * What each thing that happens to a recurring subscription makes of it. A receipt is written in the same transaction.
 */
export interface RecurringChange {
  readonly subscription: RecurringSubscription;
  readonly cause: RecurringCause;
  readonly receipt: NewReceipt | null;
  /** The caller who asked for it; null where a run did it. */
  readonly by: string | null;
  readonly attemptId: AttemptId | null;
}

/** What an outcome is told of the attempt that led to it. */
export interface PaidAttempt {
  readonly attemptId: AttemptId;
  readonly amount: Cents;
  /** For which period it was made. */
  readonly period: CalendarDate;
  readonly confirmationId: string;
}

/** An intent is stored before anything is sent. */
export const recurringOpened = (
  subscription: RecurringSubscription,
  attemptId: AttemptId,
  now: Instant,
): RecurringChange => changed(subscription, 'attempt-opened', {}, now, { attemptId });

/** Paid: the receipt, and the next period begins. A member who has left meanwhile gets the receipt only. */
export function recurringPaid(
  subscription: RecurringSubscription,
  attempt: PaidAttempt,
  policy: RecurringPolicy,
  now: Instant,
): RecurringChange {
  const { attemptId } = attempt;
  const next = isCharged(subscription.status)
    ? { status: 'ACTIVE' as const, ...periodAfter(subscription, policy, now) }
    : {};
  const receipt = receiptOf(subscription, attempt, policy, now);
  const fields = { ...next, lastPaymentDate: now, error: '' };
  return changed(subscription, 'attempt-succeeded', fields, now, { attemptId, receipt });
}

/** Declined: the same period again some days later, or never. */
export function recurringDeclined(
  subscription: RecurringSubscription,
  { attemptId }: Pick<PaidAttempt, 'attemptId'>,
  error: string,
  policy: RecurringPolicy,
  now: Instant,
): RecurringChange {
  const next = isCharged(subscription.status) ? nextTry(subscription, policy, now) : {};
  return changed(subscription, 'attempt-declined', { ...next, error }, now, { attemptId });
}

function nextTry(
  { failedTries: before }: RecurringSubscription,
  { retryDays }: RecurringPolicy,
  now: Instant,
): Pick<RecurringSubscription, 'status' | 'failedTries' | 'nextPaymentDate' | 'nextReminderDate'> {
  const failedTries = before + 1;
  const wait = retryDays[before];
  if (wait === undefined)
    return { status: 'FAILED', failedTries, nextPaymentDate: null, nextReminderDate: null };
  const nextPaymentDate = addDays(dateOf(now), wait);
  return { status: 'PAST_DUE', failedTries, nextPaymentDate, nextReminderDate: null };
}

/**
 * Given up, because the processor never knew of it: no card was declined, so it counts as no try, and a processor that
 * is down ends no subscription. The same period again tomorrow.
 */
export function recurringAbandoned(
  subscription: RecurringSubscription,
  { attemptId }: Pick<PaidAttempt, 'attemptId'>,
  error: string,
  now: Instant,
): RecurringChange {
  const next = isCharged(subscription.status) ? { nextPaymentDate: addDays(dateOf(now), 1) } : {};
  return changed(subscription, 'attempt-abandoned', { ...next, error }, now, { attemptId });
}

/** Told of this period's payment. */
export const recurringReminded = (subscription: RecurringSubscription, now: Instant): RecurringChange =>
  changed(subscription, 'reminded', { nextReminderDate: null, lastReminderDate: now }, now);

/** No run asks for this period any more, nor for others that have passed: the next one is on its own day. */
export function recurringTooOld(
  subscription: RecurringSubscription,
  policy: RecurringPolicy,
  now: Instant,
): RecurringChange {
  const today = dateOf(now);
  let { periodDate } = subscription;
  while (periodDate <= today) periodDate = nextPeriodDate(periodDate, subscription.paymentDay);
  const fields = { status: 'ACTIVE', error: '', ...periodOn(periodDate, policy, today) } as const;
  return changed(subscription, 'period-too-old', fields, now);
}

/** What was missed is caught up with, but nobody is charged twice on one day. */
const periodAfter = (
  { periodDate, paymentDay }: RecurringSubscription,
  policy: RecurringPolicy,
  now: Instant,
) => {
  const today = dateOf(now);
  const next = nextPeriodDate(periodDate, paymentDay);
  return { ...periodOn(next, policy, today), nextPaymentDate: later(next, addDays(today, 1)) };
};

/** A period that begins: when it is told of, and when it is paid. */
export const periodOn = (
  periodDate: CalendarDate,
  { reminderDays }: Pick<RecurringPolicy, 'reminderDays'>,
  today: CalendarDate,
): Pick<RecurringSubscription, 'periodDate' | 'nextPaymentDate' | 'nextReminderDate' | 'failedTries'> => ({
  periodDate,
  nextPaymentDate: periodDate,
  nextReminderDate: reminderDate(periodDate, reminderDays, today),
  failedTries: 0,
});

const receiptOf = (
  { accountId, recurringId, sku, email, lastReminderDate }: RecurringSubscription,
  { attemptId, amount, period, confirmationId }: PaidAttempt,
  { receiptDays }: RecurringPolicy,
  processedDate: Instant,
): NewReceipt => ({
  accountId,
  recurringId,
  sku,
  email,
  processedDate,
  processedAmount: amount,
  periodDate: period,
  remindedDate: lastReminderDate,
  attemptId,
  confirmationId,
  expiresAt: plusDays(processedDate, receiptDays),
});

/** What every change has in common: a stamp of its own. */
export const changed = (
  subscription: RecurringSubscription,
  cause: RecurringCause,
  fields: Partial<RecurringSubscription>,
  now: Instant,
  more: Partial<Pick<RecurringChange, 'receipt' | 'by' | 'attemptId'>> = {},
): RecurringChange => ({
  subscription: { ...subscription, ...fields, changedDate: nextStamp(now, subscription.changedDate) },
  cause,
  receipt: more.receipt ?? null,
  by: more.by ?? null,
  attemptId: more.attemptId ?? null,
});
