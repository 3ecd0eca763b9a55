import type { MalformedRowError } from '../../errors.ts';
import type { RowAsRead, StoredSubscription, SubscriptionToWrite } from '../../ports/subscriptions.ts';
import type { RawItem } from './raw-item.ts';
import { readRows } from './read-rows.ts';
import { readSubscription } from './subscription-codec.ts';

export const store = (item: RawItem): StoredSubscription => ({
  ...readSubscription(item),
  row: item as unknown as RowAsRead,
});

/** The row that a record was read from; null for a new record. */
export const rowOf = (subscription: SubscriptionToWrite): RawItem | null =>
  'row' in subscription ? (subscription.row as unknown as RawItem) : null;

export function storeAll(items: readonly RawItem[]): {
  subscriptions: StoredSubscription[];
  malformed: MalformedRowError[];
} {
  const { found: subscriptions, malformed } = readRows(items, store);
  return { subscriptions, malformed };
}
