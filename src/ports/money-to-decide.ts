import type { Instant } from '../domain/instant.ts';
import type { Cents } from '../domain/money.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import type { PageKey } from './subscriptions.ts';
import type { Write } from './transaction.ts';

/** Nobody moves it any more by itself: a person has to decide about it. */
export interface MoneyToDecide {
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
  readonly confirmationId: string;
  /** Why: the bank's return code, or what the processor has against a refund. */
  readonly code: string | null;
  readonly amount: Cents;
  readonly at: Instant;
}

export interface MoneyToDecidePage {
  readonly items: readonly MoneyToDecide[];
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

/** What operators should look at. A record stands once on each list. */
export interface MoneyList {
  /** Goes along with the change after which nobody moves it. */
  note(money: MoneyToDecide): Write;
  /** There is nothing to decide any more. Does nothing where nothing was noted. */
  forget(subscriptionId: SubscriptionId): Write;
  /** Those of up to then. Eventually consistent. */
  list(asOf: Instant, key: PageKey | null): Promise<MoneyToDecidePage>;
  /** How many stand on it. Eventually consistent. */
  size(): Promise<number>;
}
