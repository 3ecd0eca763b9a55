import type { AchCounts } from '../domain/ach/return-rates.ts';
import type { CalendarDate } from '../domain/calendar-date.ts';
import type { SubscriptionId } from '../domain/subscription.ts';

/** What became of debits, counted by day. Good enough to warn by, not to account by: a crash may leave one out. */
export interface AchMeters {
  /** The record says only where the count is kept, so that not everybody writes to the same place. */
  add(subscriptionId: SubscriptionId, day: CalendarDate, counts: AchCounts): Promise<void>;
  /** From one day to another, both included. */
  total(from: CalendarDate, to: CalendarDate): Promise<AchCounts>;
}
