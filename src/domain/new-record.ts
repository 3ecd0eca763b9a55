import { billingPeriod } from './billing-dates.ts';
import type { Subscription } from './subscription.ts';

/** What the caller decides about a period; everything else of a new record follows or is not set yet. */
export type NewRecord = Pick<
  Subscription,
  | 'userId'
  | 'subscriptionId'
  | 'billingDate'
  | 'billingAmount'
  | 'term'
  | 'billingWeek'
  | 'receiptTierName'
  | 'process'
  | 'createdDate'
>;

/** A period that waits for its first attempt. */
export const newRecord = (decided: NewRecord): Subscription => ({
  ...decided,
  billingStatus: 'SCHEDULED',
  billingPeriod: billingPeriod(decided.billingDate),
  transactionId: '',
  usioError: '',
  initialRunDate: null,
  completionDate: null,
  lastRunDate: null,
  updatedEvent: '',
  receiptAccountMask: '',
  receiptPaymentType: '',
  pauseDurationMonths: 0,
  isPendingDowngrade: false,
});
