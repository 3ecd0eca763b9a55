import type { Lock } from '../ports/lock.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import type { AttemptRecord, PipelineStore, RecordState } from '../ports/pipeline.ts';
import { wasAbandoned } from '../ports/pipeline.ts';
import type { StoredSubscription } from '../ports/subscriptions.ts';
import type { CollectDependencies } from './collection-case.ts';
import { readState } from './read-state.ts';
import { whole } from './whole.ts';

/** The network wants a re-presented entry to be called this. */
export const REPRESENTMENT = 'RETRY PYMT';

export type AchDependencies = Pick<
  CollectDependencies,
  'locks' | 'subscriptions' | 'pipeline' | 'processor' | 'policy' | 'clock'
>;

/** What is kept about a payment under its record, read under the user's lock: the same for every product. */
export interface KnownPayment {
  readonly lock: Lock;
  readonly confirmationId: string;
  readonly state: RecordState;
  /** Null where none of ours led to it. */
  readonly attempt: AttemptRecord | null;
  /** Charges that were given up: the payment may be one of them after all. */
  readonly abandoned: readonly AttemptRecord[];
}

/** A payment, mostly an ACH entry, and its billing record. Without an attempt where the Go service sent it. */
export interface SentEntry extends KnownPayment {
  readonly record: StoredSubscription;
  readonly partition: readonly StoredSubscription[];
}

export interface PaymentIds {
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
  readonly confirmationId: string;
}

/** Whether the record stands as it does because of this payment. An earlier one has nothing to say about it any more. */
export const isRecordsPayment = ({ record, confirmationId }: SentEntry): boolean =>
  record.transactionId === confirmationId;

/** Null when there is no such record. */
export async function readEntry(
  { subscriptions, pipeline }: Pick<AchDependencies, 'subscriptions' | 'pipeline'>,
  lock: Lock,
  ids: PaymentIds,
): Promise<SentEntry | null> {
  const { subscriptions: partition } = whole(await subscriptions.listByUserID(ids.userId));
  const record = partition.find((row) => row.subscriptionId === ids.subscriptionId);
  return record === undefined ? null : { ...(await readPayment(pipeline, lock, ids)), record, partition };
}

export async function readPayment(
  pipeline: PipelineStore,
  lock: Lock,
  { userId, subscriptionId, confirmationId }: PaymentIds,
): Promise<KnownPayment> {
  const [state, attempts] = await Promise.all([
    readState(pipeline, { userId, subscriptionId }),
    pipeline.attemptsOn(subscriptionId),
  ]);
  // A refund carries the confirmation id of the payment that it gives back.
  const charges = attempts.filter(({ refundOf }) => refundOf === null);
  const attempt = charges.find(({ resolution }) => resolution?.confirmationId === confirmationId) ?? null;
  return { lock, confirmationId, state, attempt, abandoned: charges.filter(wasAbandoned) };
}
