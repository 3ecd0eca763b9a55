import { randomUUID } from 'node:crypto';
import { cents } from '../../src/domain/money.ts';
import type { AccountId, RecurringId, RecurringSubscription } from '../../src/domain/recurring/recurring.ts';
import { day } from './floats.ts';
import { at } from './records.ts';

/** Who is still to be told of this period was last told of the one before, which is paid. */
const lastTold = ({ nextReminderDate = null }: Partial<RecurringSubscription>) =>
  at(nextReminderDate === null ? '2026-11-09T15:00:00Z' : '2026-10-09T15:00:00Z');

/** Ten dollars on every 16th, due today, told of a week ago. Every field by hand. */
export function recurring(fields: Partial<RecurringSubscription> = {}): RecurringSubscription {
  return {
    accountId: 'account-1' as AccountId,
    recurringId: randomUUID() as RecurringId,
    sku: 'sku-1',
    status: 'ACTIVE',
    email: 'someone@example.com',
    paymentAmount: cents(1_000),
    paymentDay: 16,
    paymentToken: 'tok_visa_abc',
    paymentDetails: { brand: 'Visa' },
    periodDate: day('2026-11-16'),
    nextPaymentDate: day('2026-11-16'),
    nextReminderDate: null,
    lastPaymentDate: at('2026-10-16T16:00:00Z'),
    lastReminderDate: lastTold(fields),
    failedTries: 0,
    error: '',
    createdDate: at('2026-10-01T12:00:00Z'),
    changedDate: at('2026-11-09T15:00:00.000000001Z'),
    ...fields,
  };
}
