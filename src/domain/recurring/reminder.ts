import type { CalendarDate } from '../calendar-date.ts';
import { dateOf } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import { sortableText } from '../instant.ts';
import { whyPayerWaits } from './payer.ts';
import { recurringRecordId } from './record-id.ts';
import type { NotRemindedReason, RecurringFacts, ReminderDecision } from './recurring-decision.ts';
import type { RecurringSubscription } from './recurring.ts';

/** The notifications service knows it by this name. */
export const RECURRING_REMINDER = 'recurring_payment_reminder';

export function decideReminder(
  subscription: RecurringSubscription,
  user: RecurringFacts['user'],
  now: Instant,
): ReminderDecision {
  const notReminded = whyNotReminded(subscription, dateOf(now));
  if (notReminded !== null) return { verdict: 'no-op', reason: notReminded };
  const deferral = whyPayerWaits(user);
  return deferral === null ? { verdict: 'remind' } : { verdict: 'deferred', reason: deferral };
}

/** Cheap: needs nothing but the subscription. */
export function whyNotReminded(
  {
    status,
    nextReminderDate,
    paymentAmount,
  }: Pick<RecurringSubscription, 'status' | 'nextReminderDate' | 'paymentAmount'>,
  today: CalendarDate,
): NotRemindedReason | null {
  if (status !== 'ACTIVE') return 'status-not-reminded';
  if (nextReminderDate === null) return 'already-reminded';
  if (nextReminderDate > today) return 'not-due';
  return paymentAmount <= 0 ? 'amount-not-positive' : null;
}

/**
 * Dedupe key: the same while nothing has changed. After a change of day or amount the account is told again, even if it
 * was changed back. `changedDate` tells them apart whatever the clocks say, and even if an earlier reminder was sent
 * but not recorded.
 */
export const reminderKey = (subscription: RecurringSubscription): string => {
  const { periodDate, changedDate } = subscription;
  return `${recurringRecordId(subscription)}.${periodDate}.${RECURRING_REMINDER}.${sortableText(changedDate)}`;
};
