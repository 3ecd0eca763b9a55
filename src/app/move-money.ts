import type { AttemptId } from '../domain/attempt.ts';
import { attemptId } from '../domain/attempt-id.ts';
import type { Charge } from '../domain/decision.ts';
import { collected, declineText, declined, opened, sent } from '../domain/outcomes.ts';
import { isFrozen } from '../domain/obstacles.ts';
import type { Plan } from '../domain/plan.ts';
import { rulesOf } from '../domain/paths.ts';
import type { Rail } from '../domain/subscription.ts';
import type { Verdict } from '../domain/verdict.ts';
import { LeaseTooShortError, ProcessorBusyError, RecordChangedError } from '../errors.ts';
import type { AchWatch } from '../ports/ach-watches.ts';
import type { Attempt, Resolution } from '../ports/pipeline.ts';
import type { ChargeAnswer, ChargeRequest, Payment } from '../ports/services.ts';
import type { StoredSubscription } from '../ports/subscriptions.ts';
import type { Write } from '../ports/transaction.ts';
import type { Case } from './collection-case.ts';
import { commit, judged, nextPeriodOf } from './collection-case.ts';

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
  const attempt = newAttempt(theCase, plan.rail, plan, null);
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
    const answer = await processor.charge(attempt.attemptId, requestOf(attempt));
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
  const attempt = newAttempt(theCase, 'ACH', plan, theCase.state.open?.attemptId ?? null);
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
  const resolved = pipeline.resolve(theCase.state, resolutionOf(theCase, payment));
  // Some processors never say what became of an entry: from its first moment on somebody has to ask.
  const watch =
    payment.status === 'ACHSENT' ? [pipeline.watches.begin(watchOf(theCase, attempt, payment))] : [];
  const writes = [...resolved.writes, ...watch];
  const { change, cause, verdict } = outcomeOf(theCase, attempt, payment);
  const judgement = judged(theCase, verdict, reasonOf(attempt, payment), { attemptId: attempt.attemptId });
  // A payment by hand is a first attempt once it has succeeded.
  const isFirst = !moved && !theCase.rules.automatic && verdict === 'collected';
  const next = isFirst ? nextPeriodOf(theCase, change) : [];
  await commit(theCase, {
    cause,
    change,
    next,
    judgement,
    writes: [...writes, ...toldToOpener(theCase, attempt, judgement)],
    attemptId: attempt.attemptId,
  });
  await step(theCase, 'outcome-written');
  return judgement;
}

/** Whoever opened the attempt asked for it, and gets its answer too when another finished it. */
function toldToOpener({ dependencies, triggerId }: Case, attempt: Attempt, judgement: Verdict): Write[] {
  if (attempt.triggerId === triggerId) return [];
  const plan: Plan = { plan: 'charge', reason: attempt.insteadOf === null ? attempt.rail : 'PINLESS' };
  return [dependencies.pipeline.judge({ ...judgement, triggerId: attempt.triggerId, plan })];
}

function outcomeOf(theCase: Case, { rail }: Attempt, payment: Payment) {
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
  { record: row, rules, triggerId, account, dependencies }: Case,
  rail: Rail,
  plan: Charge,
  insteadOf: AttemptId | null,
): Attempt {
  return {
    attemptId: attemptId(row.subscriptionId, triggerId, rail),
    subscriptionId: row.subscriptionId,
    userId: row.userId,
    triggerId,
    process: rules.process ?? 'NOT_IDENTIFIED',
    rail,
    amount: plan.amount,
    accountId: account?.accountId ?? null,
    description: rail === 'ACH' && plan.representment ? REPRESENTMENT : null,
    insteadOf,
    openedAt: dependencies.clock.now(),
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
const sensible = ({ rail }: Attempt, payment: Payment): Payment | null =>
  rail === 'PINLESS' && payment.status === 'ACHSENT' ? null : payment;

const isNsf = ({ status, errorCode }: Payment): boolean =>
  status === 'FAILED' && errorCode !== null && NSF_CODES.has(errorCode);

const textOf = ({ errorCode, errorMessage }: Payment): string => declineText(errorCode, errorMessage);

const reasonOf = ({ rail }: Attempt, { status, errorCode }: Payment): string =>
  status === 'FAILED' ? `${rail}-${errorCode ?? 'declined'}` : rail;

const step = (
  { dependencies, record: { userId, subscriptionId } }: Case,
  name: 'intent-written' | 'charged' | 'outcome-written',
) => dependencies.onStep(name, { userId, subscriptionId });
