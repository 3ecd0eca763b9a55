import { cents } from '../../../src/domain/money.ts';
import type { Subscription, SubscriptionId, UserId } from '../../../src/domain/subscription.ts';
import { at } from '../../support/arbitraries.ts';

/** A monthly record that was due this morning and that nobody has tried to collect. */
export function subscription(fields: Partial<Subscription> = {}): Subscription {
  return {
    userId: 'user-1' as UserId,
    billingDate: at('2026-11-16T06:00:00Z'),
    subscriptionId: '5b0c6a2e-6a0b-4c43-9d0f-1f0f6f3f1a01' as SubscriptionId,
    billingAmount: cents(499),
    billingStatus: 'SCHEDULED',
    billingPeriod: '11/2026',
    transactionId: '',
    usioError: '',
    initialRunDate: null,
    completionDate: null,
    lastRunDate: null,
    createdDate: at('2026-10-16T08:00:03.12Z'),
    process: null,
    updatedEvent: '',
    term: 'MONTHLY',
    receiptAccountMask: '',
    receiptTierName: '',
    receiptPaymentType: '',
    billingWeek: null,
    pauseDurationMonths: 0,
    isPendingDowngrade: false,
    ...fields,
  };
}
