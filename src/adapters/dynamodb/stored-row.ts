import { MalformedRowError } from '../../errors.ts';
import type { RowAsRead, StoredSubscription, SubscriptionToWrite } from '../../ports/subscriptions.ts';
import type { RawItem } from './raw-item.ts';
import { readSubscription } from './subscription-codec.ts';

export const store = (item: RawItem): StoredSubscription => ({
  ...readSubscription(item),
  row: item as unknown as RowAsRead,
});

/** The row that a record was read from; null for a new record. */
export const rowOf = (subscription: SubscriptionToWrite): RawItem | null =>
  'row' in subscription ? (subscription.row as unknown as RawItem) : null;

/** Reads what can be read. One bad row must not hide the others. */
export function storeAll(items: readonly RawItem[]): {
  subscriptions: StoredSubscription[];
  malformed: MalformedRowError[];
} {
  const subscriptions: StoredSubscription[] = [];
  const malformed: MalformedRowError[] = [];
  for (const item of items) {
    try {
      subscriptions.push(store(item));
    } catch (error) {
      if (!(error instanceof MalformedRowError)) throw error;
      malformed.push(error);
    }
  }
  return { subscriptions, malformed };
}
