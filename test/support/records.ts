import { randomUUID } from 'node:crypto';
import type { Instant } from '../../src/domain/instant.ts';
import { parseInstant } from '../../src/domain/instant.ts';
import { cents } from '../../src/domain/money.ts';
import type { Subscription, SubscriptionId, UserId } from '../../src/domain/subscription.ts';

/** An instant from its text; a test that misspells one fails at once. */
export function at(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === null) throw new Error(`not an instant: ${text}`);
  return instant;
}

/**
 * A monthly record that was due this morning and that nobody has tried to collect. Every field by hand: tests of the
 * rules must not be built with the rules.
 */
export function subscription(fields: Partial<Subscription> = {}): Subscription {
  return {
    userId: 'user-1' as UserId,
    billingDate: at('2026-11-16T06:00:00Z'),
    subscriptionId: randomUUID() as SubscriptionId,
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
