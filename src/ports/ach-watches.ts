import type { AttemptId } from '../domain/attempt.ts';
import type { Instant } from '../domain/instant.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import type { PageKey } from './subscriptions.ts';
import type { Write } from './transaction.ts';

/** An ACH entry of which the bank has not said yet whether it is paid. */
export interface AchWatch {
  readonly subscriptionId: SubscriptionId;
  readonly userId: UserId;
  readonly confirmationId: string;
  /** Null where the Go service sent it. */
  readonly attemptId: AttemptId | null;
  readonly sentAt: Instant;
  /** How often the processor was asked in vain. */
  readonly checks: number;
}

export interface AchWatchPage {
  readonly watches: readonly AchWatch[];
  /** Items that cannot be read. They are reported and the round goes on. */
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

/** One watch per record, on its newest entry. */
export interface AchWatches {
  /** Goes along with the change that says that the entry was sent. */
  begin(watch: AchWatch): Write;
  /** Goes along with the change that says what became of it. Harmless where nothing is watched. */
  end(subscriptionId: SubscriptionId): Write;
  /** For an entry that is on its way already. False when the record is watched. */
  add(watch: AchWatch): Promise<boolean>;
  /** Consistent. */
  get(subscriptionId: SubscriptionId): Promise<AchWatch | null>;
  /** Entries that it is time to ask about. Eventually consistent: look again under the lock. */
  due(asOf: Instant, key: PageKey | null): Promise<AchWatchPage>;
  /** The processor does not know more yet. A watch that was changed meanwhile is left alone. */
  askAgainLater(watch: AchWatch, now: Instant): Promise<void>;
  /** The record has been settled by somebody else. A watch that was changed meanwhile is left alone. */
  forget(watch: AchWatch): Promise<void>;
}
