import { isReturnCode } from '../domain/ach/return-codes.ts';
import { mayStillBeSent } from '../domain/attempt.ts';
import { floatIdOf } from '../domain/floats/record-id.ts';
import type { Instant } from '../domain/instant.ts';
import { plusMs } from '../domain/instant.ts';
import { rulesOf } from '../domain/paths.ts';
import { recurringOf } from '../domain/recurring/record-id.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Lock } from '../ports/lock.ts';
import type { Attempt } from '../ports/pipeline.ts';
import { ABANDONED, lastSentAt } from '../ports/pipeline.ts';
import type { Payment } from '../ports/services.ts';
import type { CollectAnyDependencies, OpenCase } from './any-product.ts';
import { lockKeyOfRecord } from './any-product.ts';
import type { Case, CollectDependencies } from './collection-case.ts';
import { isToGiveBack, recordAnswer, resumeAttempt } from './charge-subscription.ts';
import { openFloatCase } from './floats/settle-float.ts';
import { planOfOpener, sensible } from './move-money.ts';
import { readState } from './read-state.ts';
import { openRecurringCase } from './recurring/settle-recurring.ts';
import { whileLocked } from './while-locked.ts';
import { whole } from './whole.ts';

export interface JanitorPolicy {
  /** How long after it was last sent an attempt is given up. Longer than any processor keeps a request under way. */
  readonly abandonAfterMs: number;
}

export type Settlement =
  { readonly settled: Verdict } | { readonly left: 'busy' | 'resolved-meanwhile' | 'no-word-yet' };

/**
 * Asks the processor what became of an attempt whose answer was lost. Only its word ends the attempt; that it does not
 * know the key proves nothing, until so much time has passed that nothing can still be on its way. A refund that it does
 * not know is sent again.
 */
export async function settleAttempt(
  dependencies: CollectAnyDependencies,
  janitor: JanitorPolicy,
  { userId, subscriptionId, attemptId }: Pick<Attempt, 'userId' | 'subscriptionId' | 'attemptId'>,
): Promise<Settlement> {
  const key = lockKeyOfRecord(userId, subscriptionId);
  const settlement = await whileLocked(dependencies.locks, { key }, async (lock): Promise<Settlement> => {
    // Asked before anything is read: however long it takes, what is sent again is decided on what holds now.
    const found = await dependencies.processor.findByKey(attemptId);
    const open = await openCase(dependencies, { userId, subscriptionId }, lock);
    if (open?.attempt.attemptId !== attemptId) return { left: 'resolved-meanwhile' };
    return settleOpen(dependencies, janitor, open, sentFirst(open.attempt, found));
  });
  return 'busy' in settlement ? { left: 'busy' } : settlement;
}

async function settleOpen(
  { pipeline, clock }: CollectAnyDependencies,
  janitor: JanitorPolicy,
  open: OpenCase,
  payment: Payment | null,
): Promise<Settlement> {
  const { attempt, giveBack } = open;
  const now = clock.now();
  // Only the janitor resends refunds: runs do not, and a freeze does not hold back money that is returned.
  if (payment === null && giveBack !== null && mayStillBeSent(attempt, now)) return toldBy(await giveBack());
  const word = payment === null ? givenUp(attempt, janitor, now) : sensible(attempt, payment);
  if (word !== null) return { settled: await open.answer(word) };
  await pipeline.askAgainLater(open.state);
  return { left: 'no-word-yet' };
}

/** Without an answer it is asked about again like anything that was just sent. */
const toldBy = (verdict: Verdict): Settlement =>
  verdict.verdict === 'unknown' ? { left: 'no-word-yet' } : { settled: verdict };

/** Null: no attempt on the record is open. */
function openCase(
  dependencies: CollectAnyDependencies,
  ids: Pick<Attempt, 'userId' | 'subscriptionId'>,
  lock: Lock,
): Promise<OpenCase | null> {
  const recurring = recurringOf(ids.subscriptionId);
  if (recurring !== null) return openRecurringCase(dependencies, recurring, lock);
  const floatId = floatIdOf(ids.subscriptionId);
  return floatId === null
    ? openSubscriptionCase(dependencies, ids, lock)
    : openFloatCase(dependencies, { ...ids, floatId }, lock);
}

async function openSubscriptionCase(
  dependencies: CollectDependencies,
  ids: Pick<Attempt, 'userId' | 'subscriptionId'>,
  lock: Lock,
): Promise<OpenCase | null> {
  const { subscriptions: partition } = whole(await dependencies.subscriptions.listByUserID(ids.userId));
  const state = await readState(dependencies.pipeline, ids);
  const record = partition.find(({ subscriptionId }) => subscriptionId === ids.subscriptionId);
  const { open: attempt } = state;
  if (attempt === null) return null;
  if (record === undefined) throw new Error(`record ${ids.subscriptionId} is gone while its attempt is open`);
  const theCase = caseOfOpen(dependencies, attempt, { lock, record, partition, state });
  return {
    attempt,
    state,
    answer: (payment) => recordAnswer(theCase, attempt, payment),
    giveBack: isToGiveBack(record, attempt) ? () => resumeAttempt(theCase) : null,
  };
}

/** The case of an open attempt as its trigger had it, for the janitor, event or caller that goes on with it. */
export function caseOfOpen(
  dependencies: CollectDependencies,
  attempt: Attempt,
  { lock, record, partition, state }: Pick<Case, 'lock' | 'record' | 'partition' | 'state'>,
): Case {
  return {
    lock,
    record,
    partition,
    state,
    dependencies,
    triggerId: attempt.triggerId,
    rules: rulesOf(attempt.process),
    account: null,
    now: dependencies.clock.now(),
    plan: planOfOpener(attempt),
  };
}

/**
 * An entry that came back by now was sent before it came back, and counts as presented: that is recorded first. What
 * the bank said about it is learnt like of any other entry that was sent.
 */
function sentFirst({ rail, refundOf }: Attempt, payment: Payment | null): Payment | null {
  const isEntry = rail === 'ACH' && refundOf === null;
  const cameBack = isEntry && payment?.status === 'FAILED' && isReturnCode(payment.errorCode);
  return cameBack ? { ...payment, status: 'ACHSENT', errorCode: null, errorMessage: null } : payment;
}

function givenUp(attempt: Attempt, { abandonAfterMs }: JanitorPolicy, now: Instant): Payment | null {
  if (now < plusMs(lastSentAt(attempt), abandonAfterMs)) return null;
  return {
    confirmationId: '',
    status: 'FAILED',
    errorCode: ABANDONED,
    errorMessage: 'the processor never knew of it',
    accountMask: null,
    cardMask: null,
  };
}
