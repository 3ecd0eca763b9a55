import { v5 as uuidV5 } from 'uuid';
import { anchorDayOf, billingPeriod, isAtBillingHour, nextBillingDate } from './billing-dates.ts';
import type { Instant } from './instant.ts';
import { compareInstants } from './instant.ts';
import { newRecord } from './new-record.ts';
import { isToCome } from './plans/upcoming.ts';
import type { Subscription, SubscriptionId } from './subscription.ts';

/** Our own name space, so that a successor's id cannot meet an id made elsewhere. */
const NAMESPACE = '6d4f3f0c-2f5d-5b5e-9c8f-3f6a3d5b9b7e';

/** The id of the period after this one: always the same, so that writing it twice is writing it once. */
export const successorId = (id: SubscriptionId): SubscriptionId => uuidV5(id, NAMESPACE) as SubscriptionId;

/** A later period has been opened already: a second one would bill the member twice. */
export const hasLaterPeriod = (record: Subscription, partition: readonly Subscription[]): boolean =>
  partition.some((other) => isToCome(other) && other.billingDate > record.billingDate);

/**
 * The SCHEDULED record of the period after this one. Amount, term, week and tier go along, and the process that opened
 * it; nothing else does.
 */
export function nextPeriod(
  record: Subscription,
  partition: readonly Subscription[],
  now: Instant,
): Subscription {
  const anchor = anchorDayOf(record.billingDate, datesOfChain(partition), cameBackAt(record, partition));
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

/**
 * A cancelled period counts as a date of the chain only if its month has no period that stands (it was passed over).
 * Beside one it is left from a membership that ended.
 */
function datesOfChain(partition: readonly Subscription[]): Instant[] {
  const isCancelled = ({ billingStatus }: Subscription): boolean => billingStatus === 'CANCELLED';
  const standing = partition.filter((row) => !isCancelled(row) && isAtBillingHour(row.billingDate));
  const months = new Set(standing.map(({ billingDate }) => billingPeriod(billingDate)));
  return partition
    .filter((row) => !isCancelled(row) || !months.has(billingPeriod(row.billingDate)))
    .map(({ billingDate }) => billingDate);
}

/** The last time that a reactivation was paid before this period, if not by it. One that was declined began nothing. */
function cameBackAt(record: Subscription, partition: readonly Subscription[]): Instant | null {
  const times = [record, ...partition]
    .filter(({ process, initialRunDate }) => process === 'REACTIVATION' && initialRunDate !== null)
    .map(({ billingDate }) => billingDate)
    .filter((date) => date <= record.billingDate);
  return times.sort(compareInstants).at(-1) ?? null;
}

/** A period whose instant is taken was dealt with before (cancelled, say): the next one to bill comes after it. */
function nextFreeDate(record: Subscription, anchor: number, partition: readonly Subscription[]): Instant {
  const taken = new Set(partition.map((other) => other.billingDate));
  let billingDate = nextBillingDate(record, anchor);
  while (taken.has(billingDate)) billingDate = nextBillingDate({ ...record, billingDate }, anchor);
  return billingDate;
}
