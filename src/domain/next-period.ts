import { v5 as uuidV5 } from 'uuid';
import { anchorDayOf, nextBillingDate } from './billing-dates.ts';
import type { Instant } from './instant.ts';
import { newRecord } from './new-record.ts';
import type { Subscription, SubscriptionId } from './subscription.ts';

/** Our own name space, so that a successor's id cannot meet an id made elsewhere. */
const NAMESPACE = '6d4f3f0c-2f5d-5b5e-9c8f-3f6a3d5b9b7e';

/** The id of the period after this one: always the same, so that writing it twice is writing it once. */
export const successorId = (id: SubscriptionId): SubscriptionId => uuidV5(id, NAMESPACE) as SubscriptionId;

/** Somebody has opened a later period already: a second one would bill the member twice. */
export const hasLaterPeriod = (record: Subscription, partition: readonly Subscription[]): boolean =>
  partition.some(
    (other) =>
      (other.billingStatus === 'SCHEDULED' || other.billingStatus === 'PAUSED') &&
      other.billingDate > record.billingDate,
  );

/**
 * The SCHEDULED record of the period after this one. Amount, term, week and tier go along, and the process that opened
 * it; nothing else does.
 */
export function nextPeriod(
  record: Subscription,
  partition: readonly Subscription[],
  now: Instant,
): Subscription {
  const anchor = anchorDayOf(
    record.billingDate,
    partition.map((other) => other.billingDate),
  );
  return newRecord({
    userId: record.userId,
    subscriptionId: successorId(record.subscriptionId),
    billingDate: nextFreeDate(record, anchor, partition),
    billingAmount: record.billingAmount,
    term: record.term,
    billingWeek: record.billingWeek,
    receiptTierName: record.receiptTierName,
    process: record.process,
    createdDate: now,
  });
}

/** A period whose instant is taken was dealt with before (cancelled, say): the next one to bill comes after it. */
function nextFreeDate(record: Subscription, anchor: number, partition: readonly Subscription[]): Instant {
  const taken = new Set(partition.map((other) => other.billingDate));
  let billingDate = nextBillingDate(record, anchor);
  while (taken.has(billingDate)) billingDate = nextBillingDate({ ...record, billingDate }, anchor);
  return billingDate;
}
