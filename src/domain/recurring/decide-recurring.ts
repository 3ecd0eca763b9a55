import type { OpenAttempt } from '../attempt.ts';
import type { CalendarDate } from '../calendar-date.ts';
import { dateOf, daysBetween } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import { freezeAgainst, mayBeResumed } from '../obstacles.ts';
import { whyPayerWaits } from './payer.ts';
import type { RecurringPolicy } from './policy.ts';
import type {
  NotPaidReason,
  RecurringDecision,
  RecurringDeferReason,
  RecurringFacts,
} from './recurring-decision.ts';
import type { RecurringSubscription } from './recurring.ts';
import { isCharged } from './recurring.ts';

/** A token stands for a card: there is no account to turn to, and no ACH entry that could come back. */
export const RECURRING_RAIL = 'PINLESS';

/**
 * The one place that decides whether a recurring payment is charged. The order of the questions is the order of the
 * rules, and each answer says why.
 */
export function decideRecurring(
  subscription: RecurringSubscription,
  facts: RecurringFacts,
  policy: RecurringPolicy,
  now: Instant,
): RecurringDecision {
  const notPaid = whyNotPaid(subscription, dateOf(now));
  if (notPaid !== null) return { verdict: 'no-op', reason: notPaid };

  const deferral = freezeAgainst(facts.freezes, RECURRING_RAIL, now) ?? whyPayerWaits(facts.user);
  if (facts.openAttempt !== null) return decideOpenAttempt(facts, facts.openAttempt, deferral, now);
  if (deferral !== null) return { verdict: 'deferred', reason: deferral };

  // Before the reminder: nobody is told of a payment that is not asked for any more.
  if (daysBetween(subscription.periodDate, dateOf(now)) > policy.maxDaysPastDue)
    return { verdict: 'go-stale', reason: 'too-old' };
  if (!facts.reminded) return { verdict: 'deferred', reason: 'reminder-not-sent' };
  const { paymentAmount: amount } = subscription;
  if (amount <= 0) return { verdict: 'skipped', reason: 'amount-not-positive', until: null };
  return { verdict: 'charge', amount, rail: RECURRING_RAIL, fallback: null, representment: false };
}

/** Cheap: needs nothing but the subscription. With an answer here the caller need not ask for the facts. */
export function whyNotPaid(
  { status, nextPaymentDate }: Pick<RecurringSubscription, 'status' | 'nextPaymentDate'>,
  today: CalendarDate,
): NotPaidReason | null {
  if (!isCharged(status)) return 'status-not-collected';
  return nextPaymentDate !== null && nextPaymentDate <= today ? null : 'not-due';
}

/** Repeating an open attempt may move money now, so what forbids a charge forbids that too. */
function decideOpenAttempt(
  { triggerId }: RecurringFacts,
  open: OpenAttempt,
  deferral: RecurringDeferReason | null,
  now: Instant,
): RecurringDecision {
  const { attemptId, rail } = open;
  if (deferral !== null) return { verdict: 'blocked', attemptId, reason: deferral };
  return mayBeResumed(open, { automatic: true, triggerId, now })
    ? { verdict: 'resume', attemptId, rail }
    : { verdict: 'blocked', attemptId, reason: 'open-attempt' };
}
