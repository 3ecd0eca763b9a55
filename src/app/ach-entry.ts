import type { Lock } from '../ports/lock.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import type { AttemptRecord, RecordState } from '../ports/pipeline.ts';
import type { StoredSubscription } from '../ports/subscriptions.ts';
import type { CollectDependencies } from './collection-case.ts';

/** The network wants a re-presented entry to be called this. */
export const REPRESENTMENT = 'RETRY PYMT';

export type AchDependencies = Pick<
  CollectDependencies,
  'locks' | 'subscriptions' | 'pipeline' | 'processor' | 'policy' | 'clock'
>;

/** A payment, mostly an ACH entry, and its record, as read under the user's lock. */
export interface SentEntry {
  readonly lock: Lock;
  readonly confirmationId: string;
  readonly record: StoredSubscription;
  readonly partition: readonly StoredSubscription[];
  readonly state: RecordState;
  /** Null where the Go service sent it. */
  readonly attempt: AttemptRecord | null;
}

/** Whether the record stands as it does because of this payment. An earlier one has nothing to say about it any more. */
export const isRecordsPayment = ({ record, confirmationId }: SentEntry): boolean =>
  record.transactionId === confirmationId;

/** Null when there is no such record. With a row of the user that cannot be read nothing is known for sure. */
export async function readEntry(
  { subscriptions, pipeline }: AchDependencies,
  lock: Lock,
  ids: { readonly userId: UserId; readonly subscriptionId: SubscriptionId; readonly confirmationId: string },
): Promise<SentEntry | null> {
  const { userId, subscriptionId, confirmationId } = ids;
  const { subscriptions: partition, malformed } = await subscriptions.listByUserID(userId);
  if (malformed[0] !== undefined) throw malformed[0];
  const record = partition.find((row) => row.subscriptionId === subscriptionId);
  if (record === undefined) return null;
  const [{ state }, attempts] = await Promise.all([
    pipeline.readBackground({ userId, subscriptionId, triggerId: '', accountId: null }),
    pipeline.attemptsOn(subscriptionId),
  ]);
  // A refund carries the confirmation id of the payment that it gives back.
  const charges = attempts.filter(({ refundOf }) => refundOf === null);
  const attempt = charges.find(({ resolution }) => resolution?.confirmationId === confirmationId) ?? null;
  return { lock, confirmationId, record, partition, state, attempt };
}
