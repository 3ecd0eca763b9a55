import { changesRecord } from '../domain/payment-outcome.ts';
import { RecordChangedError, UnknownRecordError } from '../errors.ts';
import type { EventOutcome, Inbox, InboxEvent } from '../ports/inbox.ts';
import type { Lock, PastSighting, Sighting } from '../ports/lock.ts';
import { subscriptionLockKey } from '../ports/lock.ts';
import type { UserService } from '../ports/services.ts';
import type { SentEntry } from './ach-entry.ts';
import { isRecordsPayment, readEntry } from './ach-entry.ts';
import type { CollectDependencies } from './collection-case.ts';
import { recordAnswer } from './charge-subscription.ts';
import type { PaymentEvent } from './payment-event.ts';
import { isFloatEvent, readPaymentEvent } from './payment-event.ts';
import { accountToBlock, recordAchOutcome } from './record-ach-outcome.ts';
import { caseOfOpen } from './settle-attempt.ts';

export interface PaymentEventDependencies extends CollectDependencies {
  readonly users: UserService;
  readonly inbox: Inbox;
}

/** `busy`: somebody else works on this user. The event stays where it is. */
export type PaymentEventResult = { readonly outcome: EventOutcome } | { readonly busy: Sighting };

/** So often a record may change under our hands (an account that was closed takes no lock) before we give up. */
const READS = 5;

/**
 * Applies what the payments service tells about a payment: to the record that stands as it does because of it, once, and
 * whatever else has been told before or comes later. Throws an UnknownRecordError where the record may still appear.
 */
export async function applyPaymentEvent(
  dependencies: PaymentEventDependencies,
  event: InboxEvent,
  seen?: PastSighting,
): Promise<PaymentEventResult> {
  if (isFloatEvent(event)) return { outcome: await changeNothing(dependencies, event, 'floats-come-later') };
  const news = readPaymentEvent(event);
  const acquired = await dependencies.locks.acquire(subscriptionLockKey(event.userId), seen);
  if ('busy' in acquired) return acquired;
  try {
    return { outcome: await applyToLatest(dependencies, acquired.lock, event, news) };
  } finally {
    await acquired.lock.release();
  }
}

async function applyToLatest(
  dependencies: PaymentEventDependencies,
  lock: Lock,
  event: InboxEvent,
  news: PaymentEvent,
): Promise<EventOutcome> {
  for (let reads = 1; ; reads += 1) {
    try {
      return await apply(dependencies, lock, event, news);
    } catch (error) {
      if (!(error instanceof RecordChangedError) || reads === READS) throw error;
    }
  }
}

async function apply(
  dependencies: PaymentEventDependencies,
  lock: Lock,
  event: InboxEvent,
  news: PaymentEvent,
): Promise<EventOutcome> {
  const before = await dependencies.inbox.wasApplied(event);
  if (before !== null) return takeOff(dependencies, event, before);
  const entry = await findEntry(dependencies, lock, news);
  if (entry === null) return changeNothing(dependencies, event, 'no-such-payment');
  const isKnownUser = await banAfterChargeBack(dependencies, news);
  const obstacle = whatStandsAgainst(entry, news);
  if (obstacle === null) return change(dependencies, event, news, { entry, isKnownUser });
  // Whatever the record says, the bank wants no more debits to this account.
  const block = accountToBlock(entry, news.outcome);
  if (block !== null) await dependencies.pipeline.saveBlock(block.accountId, block.returnCode);
  return changeNothing(dependencies, event, obstacle);
}

/**
 * The payment that the event is about. A callback can be faster than the answer to the charge, or the answer was lost:
 * then our own outcome is written first. Null where the record has nothing to do with the payment.
 */
async function findEntry(
  dependencies: PaymentEventDependencies,
  lock: Lock,
  news: PaymentEvent,
): Promise<SentEntry | null> {
  const entry = await readEntry(dependencies, lock, news);
  if (entry === null) throw new UnknownRecordError(`user has no record ${news.subscriptionId}`);
  if (entry.attempt !== null || isRecordsPayment(entry)) return entry;
  return (await answerOpenAttempt(dependencies, entry)) ? readEntry(dependencies, lock, news) : null;
}

/** Whether the payment turned out to be the answer to the record's open attempt. */
async function answerOpenAttempt(
  dependencies: PaymentEventDependencies,
  { lock, record, partition, state, confirmationId }: SentEntry,
): Promise<boolean> {
  const { open } = state;
  // A refund that is open says nothing about other payments.
  if (open === null || open.refundOf !== null) return false;
  const payment = await dependencies.processor.findByKey(open.attemptId);
  // That a key is not known yet proves nothing, and an event that is put aside now would be lost.
  if (payment === null)
    throw new UnknownRecordError(
      `nobody knows yet whether ${confirmationId} answers attempt ${open.attemptId}`,
    );
  if (payment.confirmationId !== confirmationId) return false;
  // There is word of it, so it was sent: what the event says comes on top of that.
  const sent = { ...payment, status: 'ACHSENT', errorCode: null, errorMessage: null } as const;
  const theCase = caseOfOpen(dependencies, open, { lock, record, partition, state });
  await recordAnswer(theCase, open, open.rail === 'ACH' ? sent : payment);
  return true;
}

/** Before the record: were it the other way round, a crash in between would leave the member unbanned. */
async function banAfterChargeBack(
  { users }: PaymentEventDependencies,
  { userId, outcome }: PaymentEvent,
): Promise<boolean> {
  return outcome.result !== 'CHARGED_BACK' || users.ban(userId, 'charge-back');
}

function whatStandsAgainst(entry: SentEntry, { outcome }: PaymentEvent): string | null {
  if (!isRecordsPayment(entry)) return 'another-payment-since';
  const { billingStatus } = entry.record;
  return changesRecord(billingStatus, outcome) ? null : `record-is-${billingStatus.toLowerCase()}`;
}

async function change(
  dependencies: PaymentEventDependencies,
  event: InboxEvent,
  { outcome, subscriptionId }: PaymentEvent,
  { entry, isKnownUser }: { readonly entry: SentEntry; readonly isKnownUser: boolean },
): Promise<EventOutcome> {
  const { inbox, clock } = dependencies;
  const what = outcome.result.toLowerCase().replace('_', '-');
  const applied: EventOutcome = {
    result: 'changed',
    reason: isKnownUser ? what : `${what}-by-unknown-user`,
    changed: [subscriptionId],
  };
  await recordAchOutcome(dependencies, entry, outcome, {
    data: { event_id: event.identity, event_type: event.type },
    also: inbox.applied(event, applied, clock.now()),
  });
  return applied;
}

const changeNothing = (
  dependencies: PaymentEventDependencies,
  event: InboxEvent,
  reason: string,
): Promise<EventOutcome> => takeOff(dependencies, event, { result: 'no-op', reason, changed: [] });

/** Off the list of what is to be applied: it changes nothing, or it did before and came once more. */
async function takeOff(
  { inbox, clock }: PaymentEventDependencies,
  event: InboxEvent,
  outcome: EventOutcome,
): Promise<EventOutcome> {
  await inbox.saveApplied(event, outcome, clock.now());
  return outcome;
}
