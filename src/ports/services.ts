import type { UserFacts } from '../domain/decision.ts';
import type { Cents } from '../domain/money.ts';
import type { Rail, UserId } from '../domain/subscription.ts';

/*
 * The services that we call. Each throws a ServiceDownError when it cannot be asked; a plain "there is none" is an
 * answer, not an error.
 */

export interface UserService {
  /** Null: no such user. */
  get(userId: UserId): Promise<UserFacts | null>;
  /** Repeatable. False: no such user. */
  ban(userId: UserId, reason: string): Promise<boolean>;
}

export interface PrimaryAccount {
  readonly accountId: string;
  readonly availableBalance: Cents;
  readonly hasDebitCard: boolean;
}

export interface AccountService {
  /** Null: the user has no primary account. */
  primary(userId: UserId): Promise<PrimaryAccount | null>;
}

/** A message to a member, in the words of a template. */
export interface Notification {
  readonly userId: UserId;
  readonly template: string;
  readonly data: Readonly<Record<string, string>>;
  /** Whatever is sent again with the same key reaches the member once. */
  readonly dedupeKey: string;
}

export interface NotificationService {
  /** Returns when the service has taken it over. */
  send(notification: Notification): Promise<void>;
}

/** What is asked of the processor. With the same key it must be the same to the letter. */
export interface ChargeRequest {
  readonly userId: UserId;
  readonly kind: 'SUBSCRIPTION' | 'FLOAT' | 'RECURRING';
  readonly referenceId: string;
  readonly rail: Rail;
  readonly amount: Cents;
  readonly description: string | null;
}

export interface Payment {
  readonly confirmationId: string;
  readonly status: 'COMPLETED' | 'ACHSENT' | 'FAILED';
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly accountMask: string | null;
  readonly cardMask: string | null;
}

/**
 * `unknown` is the answer that never came: the charge may have been made. Only a definite answer retires a key, and a
 * refusal to take it (`not-taken`) says that nothing happened.
 */
export type ChargeAnswer =
  | { readonly kind: 'answered'; readonly payment: Payment }
  | { readonly kind: 'not-taken'; readonly retryAfterMs: number }
  /** `isRefusal`: there was word, about this request alone. It retires no key, and is no sign of an outage. */
  | { readonly kind: 'unknown'; readonly error: Error; readonly isRefusal?: boolean };

/** The error code of a refund that is refused because the payment was given back under another key: nobody keeps it. */
export const ALREADY_REFUNDED = 'already_refunded';

export interface Processor {
  charge(key: string, request: ChargeRequest): Promise<ChargeAnswer>;
  /** Gives a whole payment back. The answer carries that payment's confirmation id. */
  refund(key: string, confirmationId: string): Promise<ChargeAnswer>;
  /** Null: the processor does not know the key, which proves nothing about a request still on its way. */
  findByKey(key: string): Promise<Payment | null>;
  /** As it is now: an ACH entry that was returned is `FAILED`, with the return code. Null: there is no such payment. */
  findByConfirmation(confirmationId: string): Promise<Payment | null>;
}
