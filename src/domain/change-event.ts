import type { Instant } from './instant.ts';
import { parseInstant } from './instant.ts';

/** A billing record as it is stored, by the names of its attributes. Others read it: what we do not know stays in it. */
export type StoredRecord = Readonly<Record<string, unknown>>;

/** A change of a billing record. Null: it was not there before, or is not there any more. */
export interface RecordChange {
  readonly before: StoredRecord | null;
  readonly after: StoredRecord | null;
}

/** What others are told of a change. */
export interface ChangeEvent {
  readonly id: string;
  readonly type: string;
  readonly source: 'SubscriptionService' | 'GatewaySubscriptions';
  readonly data: StoredRecord;
}

/** The type of a change that set no `updated_event` of its own. */
const PLAIN_UPDATE = 'subscription-updated';

/**
 * Null when the record has no ids. `updated_event` stays in the row until something else replaces it: only where it
 * differs from the one before was it this change that set it.
 */
export function changeEvent(before: StoredRecord | null, after: StoredRecord): ChangeEvent | null {
  const subscriptionId = textOf(after, 'subscription_id');
  if (subscriptionId === '' || textOf(after, 'user_id') === '') return null;
  const updatedEvent = textOf(after, 'updated_event');
  const isSetHere =
    updatedEvent !== '' && (before === null || updatedEvent !== textOf(before, 'updated_event'));
  return {
    id: subscriptionId + textOf(after, 'last_run_date'),
    type: isSetHere ? updatedEvent : PLAIN_UPDATE,
    source: 'SubscriptionService',
    data: after,
  };
}

/**
 * The row that an inserted one replaces, among those that were removed. The billing date is part of the key: a record that
 * is moved to another date is removed and inserted, in either order, and keeps its id. Of several moves the last before
 * the insert counts.
 */
export function replacedBy(inserted: StoredRecord, removed: readonly StoredRecord[]): StoredRecord | null {
  const insertedAt = lastRun(inserted);
  let latest: { readonly record: StoredRecord; readonly at: Instant } | null = null;
  for (const record of removed) {
    const at = lastRun(record);
    const isEarlier = at !== null && insertedAt !== null && at < insertedAt;
    if (!isEarlier || !isSameSubscription(record, inserted)) continue;
    if (latest === null || at > latest.at) latest = { record, at };
  }
  return latest?.record ?? null;
}

const isSameSubscription = (a: StoredRecord, b: StoredRecord): boolean =>
  textOf(a, 'user_id') === textOf(b, 'user_id') &&
  textOf(a, 'subscription_id') === textOf(b, 'subscription_id');

const lastRun = (record: StoredRecord): Instant | null => parseInstant(textOf(record, 'last_run_date'));

/** Empty for what is absent, NULL or no text: the Go service writes all three for nothing. */
export function textOf(record: StoredRecord, attribute: string): string {
  const value = record[attribute];
  return typeof value === 'string' ? value : '';
}
