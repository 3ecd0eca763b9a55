import { RecordChangedError, UnknownRecordError } from '../errors.ts';
import type { EventOutcome, Inbox, InboxEvent } from '../ports/inbox.ts';
import type { Lock, PastSighting, Sighting } from '../ports/lock.ts';
import type { Attempt } from '../ports/pipeline.ts';
import type { Payment, UserService } from '../ports/services.ts';
import type { KnownPayment } from './ach-entry.ts';
import type { CollectAnyDependencies } from './any-product.ts';
import { floatWord } from './floats/float-word.ts';
import { sensible } from './move-money.ts';
import { isFloatEvent, lockKeyOfEvent } from './payment-event.ts';
import type { PaymentWord } from './payment-word.ts';
import { subscriptionWord } from './subscription-word.ts';
import { whileLocked } from './while-locked.ts';

export type PaymentEventDependencies = CollectAnyDependencies & {
  readonly users: UserService;
  readonly inbox: Inbox;
};

/** `busy`: another job works on this user. The event stays where it is. */
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
  return isFloatEvent(event)
    ? applyWord(dependencies, event, floatWord(dependencies, event), seen)
    : applyWord(dependencies, event, subscriptionWord(dependencies, event), seen);
}

function applyWord<E extends KnownPayment>(
  dependencies: PaymentEventDependencies,
  event: InboxEvent,
  word: PaymentWord<E>,
  seen: PastSighting | undefined,
): Promise<PaymentEventResult> {
  return whileLocked(dependencies.locks, { key: lockKeyOfEvent(event), seen }, async (lock) => ({
    outcome: await applyToLatest(dependencies, lock, event, word),
  }));
}

async function applyToLatest<E extends KnownPayment>(
  dependencies: PaymentEventDependencies,
  lock: Lock,
  event: InboxEvent,
  word: PaymentWord<E>,
): Promise<EventOutcome> {
  for (let reads = 1; ; reads += 1) {
    try {
      return await apply(dependencies, lock, event, word);
    } catch (error) {
      if (!(error instanceof RecordChangedError) || reads === READS) throw error;
    }
  }
}

async function apply<E extends KnownPayment>(
  dependencies: PaymentEventDependencies,
  lock: Lock,
  event: InboxEvent,
  word: PaymentWord<E>,
): Promise<EventOutcome> {
  const before = await dependencies.inbox.wasApplied(event);
  if (before !== null) return takeOff(dependencies, event, before);
  const entry = await findEntry(dependencies, lock, word);
  if (entry === null) return changeNothing(dependencies, event, 'no-such-payment');
  // Before the record: were it the other way round, a crash in between would leave the member unbanned.
  const isKnownUser = word.ban === null || (await dependencies.users.ban(event.userId, word.ban));
  const obstacle = word.obstacle(entry);
  if (obstacle === null) return change(dependencies, event, word, { entry, isKnownUser });
  // Whatever the record says, the bank wants no more debits to this account.
  const block = word.toBlock(entry);
  if (block !== null) await dependencies.pipeline.saveBlock(block.accountId, block.returnCode);
  return changeNothing(dependencies, event, obstacle);
}

/**
 * The payment that the event is about. A callback can be faster than the answer to the charge, or the answer was lost:
 * then our own outcome is written first. Null where the record has nothing to do with the payment.
 */
async function findEntry<E extends KnownPayment>(
  dependencies: PaymentEventDependencies,
  lock: Lock,
  word: PaymentWord<E>,
): Promise<E | null> {
  const entry = await word.read(lock);
  if (entry === null) throw new UnknownRecordError(`user has no record ${word.recordId}`);
  if (word.concerns(entry)) return entry;
  return (await answerUnanswered(dependencies, entry, word)) ? word.read(lock) : null;
}

/** Whether the payment turned out to be the answer to the record's open attempt, or to one that was given up. */
async function answerUnanswered<E extends KnownPayment>(
  dependencies: PaymentEventDependencies,
  entry: E,
  word: PaymentWord<E>,
): Promise<boolean> {
  const { open } = entry.state;
  const { confirmationId } = word;
  // A refund that is open says nothing about other payments.
  if (open?.refundOf === null) {
    const payment = await dependencies.processor.findByKey(open.attemptId);
    // That a key is not known yet proves nothing, and an event that is put aside now would be lost.
    if (payment === null) throw stillUnclear(confirmationId, open);
    if (payment.confirmationId === confirmationId) return answer(entry, word, open, payment);
  }
  for (const attempt of entry.abandoned) {
    const payment = await dependencies.processor.findByKey(attempt.attemptId);
    if (payment?.confirmationId !== confirmationId) continue;
    // Two cannot be under way at once: this one waits for the word about the other.
    if (open !== null) throw stillUnclear(confirmationId, open);
    const state = dependencies.pipeline.takenUpAgain(entry.state, attempt);
    return answer({ ...entry, state }, word, attempt, payment);
  }
  return false;
}

/** There is word of it, so it was sent: what the event says comes on top of that. */
async function answer<E extends KnownPayment>(
  entry: E,
  word: PaymentWord<E>,
  attempt: Attempt,
  payment: Payment,
): Promise<true> {
  if (sensible(attempt, payment) === null) throw stillUnclear(word.confirmationId, attempt);
  const sent = { ...payment, status: 'ACHSENT', errorCode: null, errorMessage: null } as const;
  await word.answer(entry, attempt, attempt.rail === 'ACH' ? sent : payment);
  return true;
}

const stillUnclear = (confirmationId: string, { attemptId }: Attempt): Error =>
  new UnknownRecordError(`nobody knows yet whether ${confirmationId} answers attempt ${attemptId}`);

async function change<E extends KnownPayment>(
  { inbox, clock }: PaymentEventDependencies,
  event: InboxEvent,
  word: PaymentWord<E>,
  { entry, isKnownUser }: { readonly entry: E; readonly isKnownUser: boolean },
): Promise<EventOutcome> {
  const applied: EventOutcome = {
    result: 'changed',
    reason: isKnownUser ? word.what : `${word.what}-by-unknown-user`,
    changed: [word.recordId],
  };
  await word.change(entry, {
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
