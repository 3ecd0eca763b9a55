import { v5 as uuidV5 } from 'uuid';
import { billingInstant } from '../billing-dates.ts';
import type { CalendarDate } from '../calendar-date.ts';
import { FRIDAY, MONDAY, addDays, dateOf, partsOf, weekday } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import type { Cents } from '../money.ts';
import { newRecord } from '../new-record.ts';
import type { Subscription, SubscriptionId, Term, UserId } from '../subscription.ts';

/** A member does not pay before they know what for. */
const TRIAL_DAYS = 9;

const NAMESPACE = 'c0b1f7c2-4f0c-5d35-8a0e-6f1d2b7e9a41';

/** A member is activated once: the id is the member's, so that asking twice cannot give two records. */
export const activationId = (userId: UserId): SubscriptionId => uuidV5(userId, NAMESPACE) as SubscriptionId;

export interface Activation {
  readonly userId: UserId;
  readonly tierName: string;
  readonly term: Term;
  readonly amount: Cents;
  readonly isFriday: boolean;
}

/** The first period of a membership. */
export function firstPeriod(
  { userId, tierName, term, amount, isFriday }: Activation,
  now: Instant,
): Subscription {
  const date = firstBillingDay(now, isFriday);
  return newRecord({
    userId,
    subscriptionId: activationId(userId),
    billingDate: billingInstant(date),
    billingAmount: amount,
    term,
    billingWeek: isFriday ? weekOfMonth(date) : null,
    receiptTierName: tierName,
    process: 'NOT_IDENTIFIED',
    createdDate: now,
  });
}

/** The next Monday, or Friday, after the trial's last day: never on that day, so that the trial is nine whole days. */
export function firstBillingDay(now: Instant, isFriday: boolean): CalendarDate {
  const trialEnd = addDays(dateOf(now), TRIAL_DAYS);
  const ahead = ((isFriday ? FRIDAY : MONDAY) - weekday(trialEnd) + 7) % 7;
  return addDays(trialEnd, ahead === 0 ? 7 : ahead);
}

/** Which of its weekday in the month it is, 1 to 5. */
const weekOfMonth = (date: CalendarDate): number => Math.ceil(partsOf(date).day / 7);
