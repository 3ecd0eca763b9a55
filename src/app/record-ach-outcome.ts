import type { AchEntry, AchOutcome } from '../domain/ach/settlement.ts';
import { blocksAccount } from '../domain/ach/return-codes.ts';
import type { Instant } from '../domain/instant.ts';
import { achCompleted, achReturned } from '../domain/outcomes.ts';
import type { ChangeContext, StoredSubscription } from '../ports/subscriptions.ts';
import type { Write } from '../ports/transaction.ts';
import type { AchDependencies, SentEntry } from './ach-entry.ts';

/**
 * Writes down what the bank says became of an entry, whoever brought the word. One transaction: the record, its attempts,
 * the account's block after a hard return code, and the end of the watch.
 */
export async function recordAchOutcome(
  { subscriptions, pipeline, policy, clock }: Omit<AchDependencies, 'locks' | 'processor'>,
  entry: SentEntry,
  outcome: AchOutcome,
  more: Pick<ChangeContext, 'data' | 'also'> = {},
): Promise<StoredSubscription> {
  const { lock, record, partition, state, confirmationId } = entry;
  const now = clock.now();
  const change =
    outcome.result === 'COMPLETED' ? achCompleted(record, now) : achReturned(record, outcome, policy, now);
  const settled = pipeline.settleEntry(state, entryOf(entry, now), outcome);
  return subscriptions.add(lock.fence, change, {
    now,
    cause: outcome.result === 'COMPLETED' ? 'ach-completed' : 'ach-returned',
    partition: { subscriptions: partition, malformed: [] },
    data: { confirmation_id: confirmationId, ...more.data },
    also: [
      ...settled.writes,
      ...blockAfter(entry, outcome, pipeline),
      pipeline.watches.end(record.subscriptionId),
      ...(more.also ?? []),
    ],
  });
}

function entryOf({ record, attempt }: SentEntry, now: Instant): AchEntry {
  if (attempt !== null)
    return { process: attempt.process, at: attempt.openedAt, accountId: attempt.accountId };
  // The Go service's last write on a record that waits for the bank was the sending.
  return { process: record.process ?? 'NOT_IDENTIFIED', at: record.lastRunDate ?? now, accountId: null };
}

/** Of an entry that the Go service sent the account is not known; its return still closes the gate for the record. */
function blockAfter(
  { attempt }: SentEntry,
  outcome: AchOutcome,
  pipeline: AchDependencies['pipeline'],
): Write[] {
  if (outcome.result !== 'RETURNED' || outcome.returnCode === null) return [];
  if (!blocksAccount(outcome.returnCode) || attempt === null || attempt.accountId === null) return [];
  return [pipeline.blockAccount(attempt.accountId, outcome.returnCode)];
}
