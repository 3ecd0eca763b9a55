import type { CalendarDate } from '../calendar-date.ts';
import type { SubscriptionId, UserId } from '../subscription.ts';
import type { AccountId, RecurringId, RecurringSubscription } from './recurring.ts';

/*
 * Attempts, verdicts and freezes are kept by the id of a record and that of a user, whatever is collected. A recurring
 * subscription's id is its account's own, so that the record's names both.
 */

const PREFIX = 'recurring.';

export const recurringRecordId = ({
  accountId,
  recurringId,
}: Pick<RecurringSubscription, 'accountId' | 'recurringId'>): SubscriptionId =>
  `${PREFIX}${accountId}.${recurringId}` as SubscriptionId;

/** By what name the processor knows a payment: each period has one of its own, so that its ledger tells them apart. */
export const paymentReference = (recordId: SubscriptionId, period: CalendarDate): string =>
  `${recordId.slice(PREFIX.length)}.${period}`;

/** Whose card is charged and whom the services know. */
export const payerOf = (accountId: AccountId): UserId => accountId as string as UserId;

/** Null: it is another product's. An account's id may have points in it, a subscription's has none. */
export function recurringOf(
  recordId: string,
): { readonly accountId: AccountId; readonly recurringId: RecurringId } | null {
  if (!recordId.startsWith(PREFIX)) return null;
  const [, accountId, recurringId] = /^(.+)\.([^.]+)$/.exec(recordId.slice(PREFIX.length)) ?? [];
  if (accountId === undefined || recurringId === undefined) return null;
  return { accountId: accountId as AccountId, recurringId: recurringId as RecurringId };
}
