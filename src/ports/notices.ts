import type { CalendarDate } from '../domain/calendar-date.ts';
import type { Instant } from '../domain/instant.ts';
import type { SubscriptionId } from '../domain/subscription.ts';

/** That the member was told of the record's billing day. */
export interface Notice {
  readonly subscriptionId: SubscriptionId;
  readonly day: CalendarDate;
  /** Which run told. */
  readonly triggerId: string;
  readonly at: Instant;
}

export interface Notices {
  /** Consistent. Null: nobody has told, or nobody could write down that they did. */
  find(subscriptionId: SubscriptionId, day: CalendarDate): Promise<Notice | null>;
  /** The first one stands. */
  put(notice: Notice): Promise<void>;
}
