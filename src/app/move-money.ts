import type { AttemptId } from '../domain/attempt.ts';
import { attemptId, refundId } from '../domain/attempt-id.ts';
import type { Charge } from '../domain/decision.ts';
import { collected, declineText, declined, opened, sent } from '../domain/outcomes.ts';
import { isFrozen } from '../domain/obstacles.ts';
import type { Plan } from '../domain/plan.ts';
import { rulesOf } from '../domain/paths.ts';
import type { Rail, Subscription } from '../domain/subscription.ts';
import type { Verdict } from '../domain/verdict.ts';
import { LeaseTooShortError, ProcessorBusyError, RecordChangedError } from '../errors.ts';
import type { AchWatch } from '../ports/ach-watches.ts';
import type { Attempt, Resolution } from '../ports/pipeline.ts';
import type { ChargeAnswer, ChargeRequest, Payment } from '../ports/services.ts';
import type { StoredSubscription } from '../ports/subscriptions.ts';
import type { Write } from '../ports/transaction.ts';
import type { Case } from './collection-case.ts';
import { commit, judged, nextPeriodOf } from './collection-case.ts';
import { NOTHING_MORE, whatPaymentBrings } from './what-payment-brings.ts';

/*
 * The one place where money moves.
 *
 *   intent ─────────► POST ─────────► outcome
 *   attempt, record,   key = attempt   attempt, record, history and verdict in one transaction
 *   history: one        │
 *   transaction         └ no answer: twice more with the same key, then `unknown`. The attempt stays open, blocks every
 *                         other attempt on the record, and whoever holds the lock next sends the same again.
 */

/** Without an answer the same request goes out so many times in all, while the lock is held. */
const POSTS = 3;
const PAUSE_MS = 200;
/** A processor that asks for more patience gets it, but not while we hold a user's lock. */
const LONGEST_WAIT_MS = 2_000;
/** What the outcome's transaction needs after the answer. */
const OUTCOME_MS = 1_000;
const MERGES = 5;

/** The card says that there is no money on it: the account may still have some. */
const NSF_CODES: ReadonlySet<string> = new Set(['62', '05']);

/** The network wants a re-presented entry to be called this. */
const REPRESENTMENT = 'RETRY PYMT';

export async function chargeRecord(theCase: Case, plan: Charge): Promise<Verdict> {
  await theCase.dependencies.gate.enter(theCase.lock.signal);
  const attempt = newAttempt(theCase, theCase.record, plan, null);
  const { writes, state } = theCase.dependencies.pipeline.open(theCase.state, attempt);
  const change = opened(theCase.record, theCase.rules, theCase.now);
  const next = theCase.rules.automatic ? nextPeriodOf(theCase, change) : [];
  const intended = await commit(theCase, {
    cause: 'attempt-opened',
    change,
    next,
    writes,
    attemptId: attempt.attemptId,
  });
  await step(theCase, 'intent-written');
  return send({ ...intended, state }, attempt, plan);
}

/**
 * The same for a record that comes into the world with the charge. The intent is its birth, as CANCELLED; being paid makes
 * it COMPLETED.
 */
export async function chargeNewRecord(
  theCase: Omit<Case, 'record'>,
  born: Subscription,
  upgrades: Attempt['upgrades'] = null,
): Promise<Verdict> {
  await theCase.dependencies.gate.enter(theCase.lock.signal);
  const byCard = { rail: 'PINLESS', amount: born.billingAmount, representment: false } as const;
  const attempt: Attempt = { ...newAttempt(theCase, born, byCard, null), upgrades };
  const { writes, state } = theCase.dependencies.pipeline.open(theCase.state, attempt);
  const intended = await commit(theCase, {
    cause: 'attempt-opened',
    change: born,
    writes,
    attemptId: attempt.attemptId,
  });
  await step(intended, 'intent-written');
  return send({ ...intended, state }, attempt, null);
}

/** Money goes back the way it came, by the same steps. The status changes when the payments service says that it did. */
export async function refundRecord(theCase: Case, rail: Rail): Promise<Verdict> {
  await theCase.dependencies.gate.enter(theCase.lock.signal);
  const attempt = newRefund(theCase, rail, theCase.record.transactionId);
  const { writes, state } = theCase.dependencies.pipeline.open(theCase.state, attempt);
  const change = untouched(theCase.record);
  const intended = await commit(theCase, {
    cause: 'refund-opened',
    change,
    writes,
    attemptId: attempt.attemptId,
  });
  await step(theCase, 'intent-written');
  return send({ ...intended, state }, attempt, null);
}

/** Same key, rail and body. A decline ends it: whether another rail may be tried was decided then, not now. */
export async function resumeAttempt(theCase: Case): Promise<Verdict> {
  const { open } = theCase.state;
  if (open === null) throw new Error('there is no open attempt to resume');
  await theCase.dependencies.gate.enter(theCase.lock.signal);
  // What the answer does to the record depends on who asked for the charge, not on who heard of it.
  return send({ ...theCase, rules: rulesOf(open.process) }, open, null);
}

async function send(theCase: Case, attempt: Attempt, plan: Charge | null): Promise<Verdict> {
  const answer = await post(theCase, attempt);
  await step(theCase, 'charged');
  if (answer.kind === 'not-taken') throw new ProcessorBusyError(answer.retryAfterMs);
  const payment = answer.kind === 'answered' ? sensible(attempt, answer.payment) : null;
  if (payment === null) return leaveUnknown(theCase, attempt);
  const turnToAccount = plan?.fallback === 'ACH' && attempt.rail === 'PINLESS' && isNsf(payment);
  if (turnToAccount) {
    // Waiting first: a freeze that is ordered meanwhile must be seen.
    await theCase.dependencies.gate.goOn(theCase.lock.signal);
    if (!(await isFrozenByNow(theCase))) return chargeAccount(theCase, plan, payment);
  }
  return recordAnswer(theCase, attempt, payment);
}

async function post(theCase: Case, attempt: Attempt): Promise<ChargeAnswer> {
  const { processor, timer, gate } = theCase.dependencies;
  for (let posts = 1; ; posts += 1) {
    assertLeaseLasts(theCase);
    const answer =
      attempt.refundOf === null
        ? await processor.charge(attempt.attemptId, requestOf(attempt))
        : await processor.refund(attempt.attemptId, attempt.refundOf);
    if (answer.kind === 'answered' || posts === POSTS) return answer;
    if (answer.kind === 'not-taken' && answer.retryAfterMs > LONGEST_WAIT_MS) return answer;
    await timer.sleep(
      answer.kind === 'not-taken' ? answer.retryAfterMs : PAUSE_MS * posts,
      theCase.lock.signal,
    );
    await gate.goOn(theCase.lock.signal);
  }
}

/** How much of a lease must be left when a charge is sent: the answer has to be written down under it. */
export const leaseForCharge = (processorTimeoutMs: number): number => processorTimeoutMs + OUTCOME_MS;

/** Just before the money moves: whoever sends must still hold the lock when the answer is written down. */
function assertLeaseLasts({ lock, dependencies }: Case): void {
  lock.signal.throwIfAborted();
  if (lock.remainingMs() < leaseForCharge(dependencies.processorTimeoutMs))
    throw new LeaseTooShortError('the lease would not outlast the charge');
}

/** Nobody knows. The attempt stays open, and the janitor asks the processor later. */
async function leaveUnknown(theCase: Case, { attemptId: id }: Attempt): Promise<Verdict> {
  const verdict = judged(theCase, 'unknown', 'no-answer', { attemptId: id });
  await theCase.dependencies.pipeline.saveVerdict(verdict);
  return verdict;
}

/** The card may have taken its time, and a freeze ordered meanwhile must hold for the account. */
async function isFrozenByNow({
  record: { userId, subscriptionId },
  triggerId,
  dependencies,
}: Case): Promise<boolean> {
  const { freezes } = await dependencies.pipeline.readBackground({
    userId,
    subscriptionId,
    triggerId,
    accountId: null,
  });
  const now = dependencies.clock.now();
  return (['global', 'user', 'ACH'] as const).some((scope) => isFrozen(freezes, scope, now));
}

/** The decline and the intent on the other rail are one transaction: there is no moment at which neither is known. */
async function chargeAccount(theCase: Case, plan: Charge, decline: Payment): Promise<Verdict> {
  const { pipeline } = theCase.dependencies;
  const byAccount = { ...plan, rail: 'ACH' } as const;
  const attempt = newAttempt(theCase, theCase.record, byAccount, theCase.state.open?.attemptId ?? null);
  const { writes, state } = pipeline.replace(theCase.state, resolutionOf(theCase, decline), attempt);
  const change = { ...theCase.record, transactionId: decline.confirmationId, usioError: textOf(decline) };
  const intended = await commit(theCase, {
    cause: 'attempt-opened',
    change,
    writes,
    attemptId: attempt.attemptId,
  });
  await step(theCase, 'intent-written');
  return send({ ...intended, state }, attempt, null);
}

/**
 * The answer goes down whatever became of the row meanwhile: an account that was closed takes no lock. Then the row is
 * read again and the money recorded on it as it is now, without another period.
 */
export async function recordAnswer(theCase: Case, attempt: Attempt, payment: Payment): Promise<Verdict> {
  let current = theCase;
  for (let merges = 0; ; merges += 1) {
    try {
      return await recordOn(current, attempt, payment, merges > 0);
    } catch (error) {
      if (!(error instanceof RecordChangedError) || merges === MERGES) throw error;
      current = await readAgain(current);
    }
  }
}

async function recordOn(theCase: Case, attempt: Attempt, payment: Payment, moved: boolean): Promise<Verdict> {
  const { pipeline } = theCase.dependencies;
  const { change, cause, verdict } = outcomeOf(theCase, attempt, payment);
  const isPaid = verdict === 'collected';
  const { next, along, isInVain } = isPaid
    ? await whatPaymentBrings(theCase, attempt, change, moved)
    : NOTHING_MORE;
  const giveBack = isInVain ? newRefund(theCase, attempt.rail, payment.confirmationId) : null;
  const resolution = resolutionOf(theCase, payment);
  const resolved =
    giveBack === null
      ? pipeline.resolve(theCase.state, resolution)
      : pipeline.replace(theCase.state, resolution, giveBack);
  // Some processors never say what became of an entry: from its first moment on somebody has to ask.
  const watch = verdict === 'sent' ? [pipeline.watches.begin(watchOf(theCase, attempt, payment))] : [];
  const writes = [...resolved.writes, ...watch];
  const judgement = judged(theCase, verdict, reasonOf(attempt, payment), { attemptId: attempt.attemptId });
  const recorded = await commit(theCase, {
    cause,
    change,
    next,
    along,
    judgement,
    writes: [...writes, ...toldToOpener(theCase, attempt, judgement)],
    attemptId: attempt.attemptId,
    opens: giveBack?.attemptId,
  });
  await step(theCase, 'outcome-written');
  return giveBack === null ? judgement : send({ ...recorded, state: resolved.state }, giveBack, null);
}

/** Whoever opened the attempt asked for it, and gets its answer too when another finished it. */
function toldToOpener({ dependencies, triggerId }: Case, attempt: Attempt, judgement: Verdict): Write[] {
  if (attempt.triggerId === triggerId) return [];
  const plan = planOfOpener(attempt);
  return [dependencies.pipeline.judge({ ...judgement, triggerId: attempt.triggerId, plan })];
}

/** What had been decided when the attempt was opened; for a refund nothing was. */
export function planOfOpener({ refundOf, insteadOf, rail }: Attempt): Plan | null {
  return refundOf === null ? { plan: 'charge', reason: insteadOf === null ? rail : 'PINLESS' } : null;
}

function outcomeOf(theCase: Case, { rail, refundOf }: Attempt, payment: Payment) {
  if (refundOf !== null) return refundOutcomeOf(theCase, payment);
  const { record: row, rules } = theCase;
  const now = theCase.dependencies.clock.now();
  const receipt = { ...payment, rail };
  switch (payment.status) {
    case 'COMPLETED':
      return {
        change: collected(row, rules, receipt, now),
        cause: 'attempt-succeeded',
        verdict: 'collected',
      } as const;
    case 'ACHSENT':
      return { change: sent(row, rules, receipt, now), cause: 'ach-accepted', verdict: 'sent' } as const;
    case 'FAILED': {
      const change: StoredSubscription = declined(row, rules, payment.confirmationId, textOf(payment));
      return { change, cause: 'attempt-declined', verdict: 'declined' } as const;
    }
  }
}

function refundOutcomeOf({ record }: Case, { status }: Payment) {
  const change = untouched(record);
  return status === 'FAILED'
    ? ({ change, cause: 'refund-declined', verdict: 'refund-declined' } as const)
    : ({ change, cause: 'refund-accepted', verdict: 'refund-sent' } as const);
}

/** It leaves a history row and nothing else. */
const untouched = (record: StoredSubscription): StoredSubscription => ({
  ...record,
  process: record.process ?? 'NOT_IDENTIFIED',
});

async function readAgain(theCase: Case): Promise<Case> {
  const { userId, subscriptionId } = theCase.record;
  const { subscriptions: partition, malformed } =
    await theCase.dependencies.subscriptions.listByUserID(userId);
  if (malformed[0] !== undefined) throw malformed[0];
  const row = partition.find((one) => one.subscriptionId === subscriptionId);
  if (row === undefined) throw new Error(`record ${subscriptionId} is gone while its charge was under way`);
  return { ...theCase, record: row, partition };
}

function newAttempt(
  { rules, triggerId, account, dependencies }: Omit<Case, 'record'>,
  row: Subscription,
  { rail, amount, representment }: Pick<Charge, 'rail' | 'amount' | 'representment'>,
  insteadOf: AttemptId | null,
): Attempt {
  return {
    attemptId: attemptId(row.subscriptionId, triggerId, rail),
    subscriptionId: row.subscriptionId,
    userId: row.userId,
    triggerId,
    process: rules.process ?? 'NOT_IDENTIFIED',
    rail,
    amount,
    accountId: account?.accountId ?? null,
    description: rail === 'ACH' && representment ? REPRESENTMENT : null,
    insteadOf,
    refundOf: null,
    upgrades: null,
    openedAt: dependencies.clock.now(),
  };
}

function newRefund(theCase: Case, rail: Rail, confirmationId: string): Attempt {
  const { record, triggerId } = theCase;
  const back = { rail, amount: record.billingAmount, representment: false };
  return {
    ...newAttempt(theCase, record, back, null),
    attemptId: refundId(record.subscriptionId, triggerId, rail),
    process: record.process ?? 'NOT_IDENTIFIED',
    refundOf: confirmationId,
  };
}

const requestOf = ({ userId, subscriptionId, rail, amount, description }: Attempt): ChargeRequest => ({
  userId,
  kind: 'SUBSCRIPTION',
  referenceId: subscriptionId,
  rail,
  amount,
  description,
});

const resolutionOf = ({ dependencies }: Case, payment: Payment): Resolution => ({
  status: payment.status,
  at: dependencies.clock.now(),
  confirmationId: payment.confirmationId,
  errorCode: payment.errorCode,
  errorMessage: payment.errorMessage,
});

const watchOf = (
  { dependencies }: Case,
  { subscriptionId, userId, attemptId: id }: Attempt,
  { confirmationId }: Payment,
): AchWatch => ({
  subscriptionId,
  userId,
  confirmationId,
  attemptId: id,
  sentAt: dependencies.clock.now(),
  checks: 0,
});

/** A card payment that was "sent by ACH" is no answer that anybody can act on. */
const sensible = ({ rail, refundOf }: Attempt, payment: Payment): Payment | null =>
  refundOf === null && rail === 'PINLESS' && payment.status === 'ACHSENT' ? null : payment;

const isNsf = ({ status, errorCode }: Payment): boolean =>
  status === 'FAILED' && errorCode !== null && NSF_CODES.has(errorCode);

const textOf = ({ errorCode, errorMessage }: Payment): string => declineText(errorCode, errorMessage);

const reasonOf = ({ rail }: Attempt, { status, errorCode }: Payment): string =>
  status === 'FAILED' ? `${rail}-${errorCode ?? 'declined'}` : rail;

const step = (
  { dependencies, record: { userId, subscriptionId } }: Case,
  name: 'intent-written' | 'charged' | 'outcome-written',
) => dependencies.onStep(name, { userId, subscriptionId });
