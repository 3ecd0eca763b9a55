import type { Instant } from '../calendar/new-york-time.ts';
import type { Cents } from '../money.ts';

export const KINDS = ['SUBSCRIPTION', 'FLOAT', 'RECURRING'] as const;
export const METHODS = ['PINLESS', 'ACH'] as const;
export const PROVIDERS = ['JPM', 'USIO'] as const;

export type Kind = (typeof KINDS)[number];
export type Method = (typeof METHODS)[number];
export type Provider = (typeof PROVIDERS)[number];
export type PaymentStatus = 'ACHSENT' | 'COMPLETED' | 'FAILED' | 'REFUNDED' | 'CHARGED_BACK';

/** What identifies a payment; every ledger entry about it carries all of this, so that each line reads alone. */
export interface PaymentFacts {
  readonly idempotency_key: string;
  readonly user_id: string;
  readonly kind: Kind;
  readonly reference_id: string;
  readonly method: Method;
  readonly provider: Provider;
  readonly amount: string;
  readonly confirmation_id: string;
}

/** The body of every 201: what a key was answered the first time is what it is answered for ever. */
export interface PaymentAnswer {
  readonly confirmation_id: string;
  readonly status: 'COMPLETED' | 'ACHSENT' | 'FAILED';
  readonly error_code?: string;
  readonly error_message?: string;
  readonly account_mask?: string;
  readonly card_mask?: string;
}

export interface Payment {
  readonly facts: PaymentFacts;
  readonly cents: Cents;
  readonly answer: PaymentAnswer;
  readonly acceptedAt: Instant;
  status: PaymentStatus;
  settlement?: Settlement;
  completedAt?: Instant;
  /** Set by a return, also by a late one. */
  returnCode?: string;
  /** Code of the return that comes after completion, decided when the payment completed. */
  lateReturnCode?: string;
  refundKey?: string;
}

export interface Settlement {
  readonly at: Instant;
  /** Whether the customer's account was debited; a bank that lacks the money posts nothing and returns. */
  readonly posted: boolean;
  /** What the bank will report, if it returns the entry. */
  readonly returnCode: string | undefined;
  readonly returnsAt: Instant | undefined;
}

/** Money that was never taken from the account is not given back to it either. */
export function wasPosted({ settlement }: Payment): boolean {
  return settlement?.posted ?? true;
}

export function factsOnly(facts: PaymentFacts): PaymentFacts {
  const { idempotency_key, user_id, kind, reference_id, method, provider, amount, confirmation_id } = facts;
  return { idempotency_key, user_id, kind, reference_id, method, provider, amount, confirmation_id };
}
