import type { AchEntry, AchOutcome } from '../domain/ach/settlement.ts';
import { blocksAccount } from '../domain/ach/return-codes.ts';
import type { Instant } from '../domain/instant.ts';
import { achCompleted, achReturned, chargedBack, refunded } from '../domain/outcomes.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import { CAUSE_OF_OUTCOME } from '../domain/payment-outcome.ts';
import type { Attempt, PipelineStore } from '../ports/pipeline.ts';
import type { ChangeContext, StoredSubscription } from '../ports/subscriptions.ts';
import type { Write } from '../ports/transaction.ts';
import type { AchDependencies, KnownPayment, SentEntry } from './ach-entry.ts';
import { countOutcome } from './return-meters.ts';

type RecordDependencies = Omit<AchDependencies, 'locks' | 'processor'>;

/**
 * Writes down what became of a payment, from an event or from the janitor. One transaction: the record, its attempts,
 * the account's block after a hard return code, the end of the watch, and what operators have to decide about by now.
 */
export async function recordAchOutcome(
  dependencies: RecordDependencies,
  entry: SentEntry,
  outcome: PaymentOutcome,
  more: Pick<ChangeContext, 'data' | 'also'> = {},
): Promise<StoredSubscription> {
  const { subscriptions, pipeline, clock } = dependencies;
  const { lock, record, partition, confirmationId } = entry;
  const now = clock.now();
  const change = changeOf(dependencies, record, outcome, now);
  const written = await subscriptions.add(lock.fence, change, {
    now,
    cause: CAUSE_OF_OUTCOME[outcome.result],
    partition: { subscriptions: partition, malformed: [] },
    data: { confirmation_id: confirmationId, ...more.data },
    also: [
      ...settledEntry(dependencies, entry, outcome, now),
      ...blockAfter(pipeline, entry, outcome),
      ...noteIfStale(dependencies, entry, change, outcome, now),
      ...forgetRefund(pipeline, record, change),
      pipeline.watches.end(record.subscriptionId),
      ...(more.also ?? []),
    ],
  });
  await countOutcome(dependencies, record.subscriptionId, outcome, record.billingStatus === 'ACHSENT');
  return written;
}

function changeOf(
  { policy }: RecordDependencies,
  record: StoredSubscription,
  outcome: PaymentOutcome,
  now: Instant,
): StoredSubscription {
  switch (outcome.result) {
    case 'COMPLETED':
      return achCompleted(record, now);
    case 'RETURNED':
      return achReturned(record, outcome, policy, now);
    case 'REFUNDED':
      return refunded(record, now);
    case 'CHARGED_BACK':
      return chargedBack(record, outcome);
  }
}

/** What was given back or charged back was presented and paid all the same; a card payment was no presentment. */
function settledEntry(
  { pipeline }: RecordDependencies,
  entry: SentEntry,
  outcome: PaymentOutcome,
  now: Instant,
): readonly Write[] {
  if (entry.attempt?.rail === 'PINLESS' || !isBanksWord(outcome)) return [];
  return pipeline.settleEntry(entry.state, entryOf(entry, now), outcome).writes;
}

const isBanksWord = (outcome: PaymentOutcome): outcome is AchOutcome =>
  outcome.result === 'COMPLETED' || outcome.result === 'RETURNED';

function entryOf({ record, attempt }: SentEntry, now: Instant): AchEntry {
  if (attempt !== null) return entryOfAttempt(attempt);
  // The Go service's last write on a record that waits for the bank was the sending.
  return { process: record.process ?? 'NOT_IDENTIFIED', at: record.lastRunDate ?? now, accountId: null };
}

/** How past attempts know the entry that an attempt sent. */
export const entryOfAttempt = ({ process, openedAt: at, accountId }: Attempt): AchEntry => ({
  process,
  at,
  accountId,
});

/** The account that no ACH debit may go to any more, and why. */
export interface AccountToBlock {
  readonly accountId: string;
  readonly returnCode: string;
}

/** Of an entry that the Go service sent the account is not known. */
export function accountToBlock(
  { attempt }: Pick<KnownPayment, 'attempt'>,
  outcome: PaymentOutcome,
): AccountToBlock | null {
  if (outcome.result !== 'RETURNED' || outcome.returnCode === null) return null;
  if (!blocksAccount(outcome.returnCode) || attempt === null || attempt.accountId === null) return null;
  return { accountId: attempt.accountId, returnCode: outcome.returnCode };
}

export function blockAfter(
  pipeline: PipelineStore,
  entry: Pick<KnownPayment, 'attempt'>,
  outcome: PaymentOutcome,
): Write[] {
  const block = accountToBlock(entry, outcome);
  return block === null ? [] : [pipeline.blockAccount(block.accountId, block.returnCode)];
}

function noteIfStale(
  { pipeline }: RecordDependencies,
  { confirmationId }: SentEntry,
  { billingStatus, userId, subscriptionId, billingAmount: amount }: StoredSubscription,
  outcome: PaymentOutcome,
  at: Instant,
): Write[] {
  if (billingStatus !== 'STALE' || outcome.result !== 'RETURNED') return [];
  const { returnCode: code } = outcome;
  return [pipeline.staleReturns.note({ userId, subscriptionId, confirmationId, code, amount, at })];
}

/** Money that has gone back needs no refund any more. */
const forgetRefund = (
  pipeline: PipelineStore,
  before: StoredSubscription,
  after: StoredSubscription,
): Write[] =>
  before.billingStatus === 'COMPLETED' && after.billingStatus !== 'COMPLETED'
    ? [pipeline.refusedRefunds.forget(before.subscriptionId)]
    : [];
