import type { OpenAttempt } from '../attempt.ts';
import { addDays, dateOf } from '../calendar-date.ts';
import type { CalendarDate } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import { nextStamp } from '../instant.ts';
import type { RecurringChange } from './outcomes.ts';
import { changed, periodOn } from './outcomes.ts';
import { firstPaymentDate, later, paymentDateIn, reminderDate } from './payment-dates.ts';
import type { RecurringPolicy } from './policy.ts';
import type { RecurringSubscription } from './recurring.ts';
import { isCharged } from './recurring.ts';
import { RECURRING_BIRTH_STATUS } from './transitions.ts';

/* What people ask for: to begin, to change and to end a recurring payment. */

export type NewRecurring = Pick<
  RecurringSubscription,
  | 'accountId'
  | 'recurringId'
  | 'sku'
  | 'email'
  | 'paymentAmount'
  | 'paymentDay'
  | 'paymentToken'
  | 'paymentDetails'
> & {
  /** The first payment is on the first payment day from then on. */
  readonly startDate: CalendarDate;
};

export function recurringCreated(
  { startDate, ...wish }: NewRecurring,
  by: string,
  policy: RecurringPolicy,
  now: Instant,
): RecurringChange {
  const first = firstPaymentDate(startDate, wish.paymentDay);
  const subscription: RecurringSubscription = {
    ...wish,
    status: RECURRING_BIRTH_STATUS,
    ...periodOn(first, policy, dateOf(now)),
    // Not yet paid or told of, but without them it would be in neither index.
    lastPaymentDate: now,
    lastReminderDate: now,
    error: '',
    createdDate: now,
    changedDate: nextStamp(now, null),
  };
  return { subscription, cause: 'created', receipt: null, by, attemptId: null };
}

export type RecurringWish = Partial<
  Pick<RecurringSubscription, 'sku' | 'paymentAmount' | 'paymentDay' | 'paymentToken' | 'paymentDetails'>
>;

export type RecurringPlan =
  { readonly plan: 'change'; readonly change: RecurringChange } | { readonly plan: 'nothing' } | Refused;

interface Refused {
  readonly plan: 'refused';
  readonly reason: 'open-attempt' | 'over' | 'owed';
  readonly detail: string;
}

export function planRecurringChange(
  subscription: RecurringSubscription,
  wish: RecurringWish,
  by: string,
  openAttempt: Pick<OpenAttempt, 'attemptId'> | null,
  { policy, now }: { readonly policy: RecurringPolicy; readonly now: Instant },
): RecurringPlan {
  const refused = refusalOf(subscription, wish, openAttempt);
  if (refused !== null) return refused;
  const told = isAnotherPayment(subscription, wish) ? toldAnew(subscription, policy, now) : {};
  const day = wish.paymentDay === undefined ? {} : movedTo(subscription, wish.paymentDay, policy, now);
  const fields = { ...wish, ...told, ...day };
  return { plan: 'change', change: changed(subscription, 'changed', fields, now, { by }) };
}

function refusalOf(
  subscription: RecurringSubscription,
  wish: RecurringWish,
  openAttempt: Pick<OpenAttempt, 'attemptId'> | null,
): Refused | null {
  const { status, periodDate } = subscription;
  if (!isCharged(status)) {
    const detail = `the subscription is ${status}: make a new one`;
    return { plan: 'refused', reason: 'over', detail };
  }
  // It may have been charged already, as it was then.
  if (openAttempt !== null) {
    const detail = `nobody knows yet what became of attempt ${openAttempt.attemptId}`;
    return { plan: 'refused', reason: 'open-attempt', detail };
  }
  // What is owed is what the account was told of, and it is not told of the next tries.
  if (status === 'PAST_DUE' && isAnotherPayment(subscription, wish)) {
    const detail = `the payment of ${periodDate} is owed as the account was told of it`;
    return { plan: 'refused', reason: 'owed', detail };
  }
  return null;
}

/** What an account is told of, beside the day. */
const isAnotherPayment = (
  { sku, paymentAmount }: RecurringSubscription,
  { sku: wishedSku = sku, paymentAmount: wishedAmount = paymentAmount }: RecurringWish,
): boolean => wishedSku !== sku || wishedAmount !== paymentAmount;

/**
 * Nobody is charged another amount than they were told of, be it less, nor for something else. What was put off is paid
 * from today on: a reminder that is to come after the payment is one of the next period, and holds nothing back.
 */
const toldAnew = (
  { periodDate, nextPaymentDate }: RecurringSubscription,
  { reminderDays }: RecurringPolicy,
  now: Instant,
): Partial<RecurringSubscription> => ({
  nextPaymentDate: nextPaymentDate === null ? null : later(nextPaymentDate, dateOf(now)),
  nextReminderDate: reminderDate(periodDate, reminderDays, dateOf(now)),
});

/**
 * Every month has one payment, on whatever day. So this period moves within its month; where the new day has passed, or
 * the payment has been tried, it stays where it is and the day counts from the next one on. A day on which the period
 * before was paid has passed: nobody is charged twice on one day.
 */
function movedTo(
  subscription: RecurringSubscription,
  paymentDay: number,
  policy: RecurringPolicy,
  now: Instant,
): Partial<RecurringSubscription> {
  const { status, periodDate } = subscription;
  const today = dateOf(now);
  const earliest = wasPaidOn(subscription, today) ? addDays(today, 1) : today;
  const moved = paymentDateIn(periodDate, paymentDay);
  const stays = status !== 'ACTIVE' || moved === periodDate || moved < earliest;
  return { paymentDay, ...(stays ? {} : periodOn(moved, policy, today)) };
}

/** What was never paid has its creation as its last payment. */
const wasPaidOn = ({ lastPaymentDate, createdDate }: RecurringSubscription, date: CalendarDate): boolean =>
  lastPaymentDate !== createdDate && dateOf(lastPaymentDate) === date;

/** A member can always leave. What was sent before is still recorded, with its receipt. */
export function planRecurringCancel(
  subscription: RecurringSubscription,
  by: string,
  now: Instant,
): RecurringPlan {
  if (subscription.status === 'CANCELLED') return { plan: 'nothing' };
  if (!isCharged(subscription.status)) {
    const detail = `the subscription is ${subscription.status}: nothing is charged any more`;
    return { plan: 'refused', reason: 'over', detail };
  }
  const fields = { status: 'CANCELLED', nextPaymentDate: null, nextReminderDate: null } as const;
  return { plan: 'change', change: changed(subscription, 'cancelled', fields, now, { by }) };
}
