import { recurringOf } from '../../src/domain/recurring/record-id.ts';
import { recurringUrl } from './recurring.ts';

/** Where a record is explained, whatever it is: a billing record, a float, a recurring payment. */
export function recordUrl(userId: string, recordId: string): string {
  const payment = recurringOf(recordId);
  return payment === null
    ? `/users/${encodeURIComponent(userId)}?record=${encodeURIComponent(recordId)}`
    : recurringUrl(payment.accountId, payment.recurringId);
}
