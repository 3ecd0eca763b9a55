import type { CalendarDate } from './calendar-date.ts';
import { dateOf } from './calendar-date.ts';
import type { UserFacts } from './decision.ts';
import type { Instant } from './instant.ts';
import type { LeavingReason } from './leaving.ts';
import { whyLeft } from './leaving.ts';
import type { Subscription, SubscriptionId } from './subscription.ts';

/** The notifications service knows it by this name, which counts the days in between. */
export const THREE_DAY_NOTICE = 'three_day_notification';

export type NoNotice =
  | 'not-scheduled'
  | 'another-date'
  | LeavingReason
  | 'already-due'
  | 'amount-not-positive'
  | 'user-missing'
  | 'user-inactive'
  | 'employee';

/** Why the member is not told that the record is due on that day. Null: nothing about the record speaks against it. */
export function noNotice(
  { billingStatus, billingDate, billingAmount, updatedEvent }: Subscription,
  day: CalendarDate,
  now: Instant,
): NoNotice | null {
  if (billingStatus !== 'SCHEDULED') return 'not-scheduled';
  if (dateOf(billingDate) !== day) return 'another-date';
  // It ends on that day instead of being charged: nobody is told of a charge that will not come.
  const left = whyLeft({ updatedEvent });
  if (left !== null) return left;
  if (billingAmount <= 0) return 'amount-not-positive';
  // The services were down for days: a notice after the charge would only confuse.
  return billingDate <= now ? 'already-due' : null;
}

/** The same of the member. An employee's charge is waived: that one will not come either. */
export function noNoticeTo(user: UserFacts | null): NoNotice | null {
  if (user === null) return 'user-missing';
  if (user.status !== 'ACTIVE') return 'user-inactive';
  return user.isEmployee ? 'employee' : null;
}

/**
 * What makes a notice the same notice. The day is part of it: a member who was told of one day and is charged on
 * another must be told again.
 */
export const noticeKey = (subscriptionId: SubscriptionId, day: CalendarDate): string =>
  `${subscriptionId}.${day}.${THREE_DAY_NOTICE}`;
