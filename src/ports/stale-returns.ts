import type { Instant } from '../domain/instant.ts';
import type { Cents } from '../domain/money.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import type { PageKey } from './subscriptions.ts';
import type { Write } from './transaction.ts';

/** Money that went back so late that nobody asks for it again by itself. */
export interface StaleReturn {
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
  readonly confirmationId: string;
  readonly returnCode: string | null;
  readonly amount: Cents;
  readonly at: Instant;
}

export interface StaleReturnPage {
  readonly returns: readonly StaleReturn[];
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

/** What operators should look at: a person has to decide about such money. */
export interface StaleReturns {
  /** Goes along with the change that writes the record off. */
  note(stale: StaleReturn): Write;
  /** Those of up to then. Eventually consistent. */
  list(asOf: Instant, key: PageKey | null): Promise<StaleReturnPage>;
}
