import type { AchOutcome } from '../domain/ach/settlement.ts';
import { isNews } from '../domain/floats/outcomes.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Attempt } from '../ports/pipeline.ts';
import type { Payment } from '../ports/services.ts';
import type { StoredSubscription } from '../ports/subscriptions.ts';
import type { Write } from '../ports/transaction.ts';
import type { SentEntry } from './ach-entry.ts';
import { isRecordsPayment } from './ach-entry.ts';
import { untouched } from './charge-subscription.ts';
import type { CollectDependencies } from './collection-case.ts';
import { toldDebit } from './floats/float-entry.ts';
import type { Along } from './payment-word.ts';
import { blockAfter, entryOfAttempt } from './record-ach-outcome.ts';
import { countOutcome } from './return-meters.ts';

/*
 * Word of a payment by which its record does not stand or fall: it was given up, or came from other hands, and another
 * payment was made since. The record keeps that one, and the watch on it; its history and its attempts learn what happened.
 */

export interface AsideDependencies extends CollectDependencies {
  readonly log: Pick<Log, 'error'>;
  readonly metrics: Pick<Metrics, 'subscriptionOverpaid'>;
}

/** While an attempt is open no other is made: so this one was given up, and another has led to a payment. */
export const isPaidOtherwise = ({ record: { billingStatus } }: SentEntry): boolean =>
  billingStatus === 'ACHSENT' || billingStatus === 'COMPLETED' || billingStatus === 'REFUNDED';

/** Whether a word about another payment than the record's says more of it than was known. */
export const isNewsAside = (entry: SentEntry, outcome: PaymentOutcome): outcome is AchOutcome =>
  (outcome.result === 'COMPLETED' || outcome.result === 'RETURNED') &&
  !isRecordsPayment(entry) &&
  isNews(outcome, toldDebit(entry));

/** Writes down that it was made. What the bank then says of an entry comes on top of that. */
export async function recordAnswerAside(
  dependencies: AsideDependencies,
  entry: SentEntry,
  { attempt, payment, told }: { attempt: Attempt; payment: Payment; told: PaymentOutcome },
): Promise<void> {
  const { status, confirmationId, errorCode, errorMessage } = payment;
  const at = dependencies.clock.now();
  const resolution = { status, at, confirmationId, errorCode, errorMessage };
  // Of a card nothing more is said; what has gone back by now nobody has to give back.
  if (status === 'COMPLETED' && told.result === 'COMPLETED') alarmOverpaid(dependencies, entry);
  const { writes } = dependencies.pipeline.resolve(entry.state, resolution);
  await saveAside(dependencies, entry, attempt, { data: {}, also: writes });
}

/** Writes down the bank's word about it: in its attempts, on the account, and in the history. */
export async function recordOutcomeAside(
  dependencies: AsideDependencies,
  entry: SentEntry,
  outcome: AchOutcome,
  { data, also }: Along,
): Promise<void> {
  const { attempt, state, record, confirmationId } = entry;
  if (attempt === null) throw new Error(`no attempt on ${record.subscriptionId} led to ${confirmationId}`);
  const { pipeline } = dependencies;
  if (outcome.result === 'COMPLETED') alarmOverpaid(dependencies, entry);
  const { writes } = pipeline.settleEntry(state, entryOfAttempt(attempt), outcome);
  await saveAside(dependencies, entry, attempt, {
    data,
    also: [...writes, ...blockAfter(pipeline, entry, outcome), ...also],
  });
  const wasSent = toldDebit(entry)?.fate === 'ACHSENT';
  await countOutcome(dependencies, record.subscriptionId, outcome, wasSent);
}

const saveAside = (
  { subscriptions, clock }: AsideDependencies,
  { lock, record, partition, confirmationId }: SentEntry,
  { attemptId }: Attempt,
  { data, also }: { readonly data: Along['data']; readonly also: readonly Write[] },
): Promise<StoredSubscription> =>
  subscriptions.add(lock.fence, untouched(record), {
    now: clock.now(),
    cause: 'told-aside',
    partition: { subscriptions: partition, malformed: [] },
    data: { confirmation_id: confirmationId, attempt_id: attemptId, ...data },
    also,
  });

/** Before it is written: said twice is better than never. */
function alarmOverpaid(
  { log, metrics }: AsideDependencies,
  { record: { userId, subscriptionId }, confirmationId }: SentEntry,
): void {
  metrics.subscriptionOverpaid();
  log.error(
    { alarm: 'subscription-overpaid', userId, subscriptionId, confirmationId },
    'a member has paid twice for a period',
  );
}
