import type { Instant } from './instant.ts';
import type { Cents } from './money.ts';

export type UserId = string & { readonly __brand: 'UserId' };
export type SubscriptionId = string & { readonly __brand: 'SubscriptionId' };

export const BILLING_STATUSES = [
  'SCHEDULED',
  'ACHSENT',
  'COMPLETED',
  'ERROR',
  'WAIVED',
  'CANCELLED',
  'PAUSED',
  'PAUSED_SKIPPED',
  'REFUNDED',
  'STALE',
  'INACTIVE',
] as const;
export type BillingStatus = (typeof BILLING_STATUSES)[number];

export const PROCESSES = [
  'INITIAL',
  'RETRY',
  'PAUSE',
  'WEBHOOK',
  'WEBHOOK_BALANCE',
  'BATCH',
  'REACTIVATION',
  'MANUAL_REPAYMENT',
  'NOT_IDENTIFIED',
] as const;
export type Process = (typeof PROCESSES)[number];

export const TERMS = ['MONTHLY', 'YEARLY'] as const;
export type Term = (typeof TERMS)[number];

export const RAILS = ['PINLESS', 'ACH'] as const;
/** How money is pulled: over the debit card without a PIN, or from the bank account. */
export type Rail = (typeof RAILS)[number];

/** Values of `updated_event` that rules decide on. Others are carried along as they are. */
export const PENDING_CANCELLATION = 'PENDING_CANCELLATION';
export const PAUSE_PENDING_RESUME = 'pause-pending-resume';
export const ACCOUNT_CLOSED = 'account-closed';

/**
 * One billing period of one user, named as the row's attributes are. Times that are not set are null (Go's zero time).
 * `process` is null where the row has an empty one.
 */
export interface Subscription {
  readonly userId: UserId;
  readonly billingDate: Instant;
  readonly subscriptionId: SubscriptionId;
  readonly billingAmount: Cents;
  readonly billingStatus: BillingStatus;
  /** `MM/YYYY` of the billing date; for people, nothing decides on it. */
  readonly billingPeriod: string;
  readonly transactionId: string;
  readonly usioError: string;
  readonly initialRunDate: Instant | null;
  readonly completionDate: Instant | null;
  readonly lastRunDate: Instant | null;
  readonly createdDate: Instant | null;
  readonly process: Process | null;
  readonly updatedEvent: string;
  readonly term: Term;
  readonly receiptAccountMask: string;
  readonly receiptTierName: string;
  readonly receiptPaymentType: string;
  /** Which Friday of the month (1 to 5) for users on Friday billing. */
  readonly billingWeek: number | null;
  /** Months that a pause still lasts; −1 has no end. */
  readonly pauseDurationMonths: number;
  readonly isPendingDowngrade: boolean;
}
