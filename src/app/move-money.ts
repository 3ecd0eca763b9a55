import { mayStillBeSent } from '../domain/attempt.ts';
import type { Charge } from '../domain/decision.ts';
import { freezeAgainst } from '../domain/obstacles.ts';
import type { Plan } from '../domain/plan.ts';
import type { Rail } from '../domain/subscription.ts';
import type { Verdict, VerdictName } from '../domain/verdict.ts';
import { FactsTooOldError, LeaseTooShortError, ProcessorBusyError, RecordChangedError } from '../errors.ts';
import type { AchWatch } from '../ports/ach-watches.ts';
import type { Clock } from '../ports/clock.ts';
import type { Lock } from '../ports/lock.ts';
import type { Attempt, Background, PipelineStore, RecordState, Resolution } from '../ports/pipeline.ts';
import type { ProcessorGate } from '../ports/processor-gate.ts';
import type { ChargeAnswer, ChargeRequest, Payment, Processor } from '../ports/services.ts';
import type { CollectionStep, OnStep } from '../ports/steps.ts';
import type { Timer } from '../ports/timer.ts';
import type { Write } from '../ports/transaction.ts';

/*
 * The one place where money moves.
 *
 *   intent ─────────► POST ─────────► outcome
 *   attempt, record,   key = attempt   attempt, record, history and verdict in one transaction
 *   history: one        │
 *   transaction         └ no answer: twice more with the same key, then `unknown`. The attempt stays open, blocks every
 *                         other attempt on the record, and the next run or request under the lock sends the same again.
 *
 * What is collected differs in its records only, and each product keeps its own book of them.
 */

export interface MoneyDependencies {
  readonly pipeline: PipelineStore;
  readonly processor: Processor;
  readonly gate: ProcessorGate;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly processorTimeoutMs: number;
  readonly onStep: OnStep;
}

/** What is charged, under its user's lock: as far as moving money has to know it. */
export interface Chargeable {
  readonly dependencies: MoneyDependencies;
  readonly triggerId: string;
  readonly lock: Lock;
  readonly state: RecordState;
  /** What was decided, for the verdict. */
  readonly plan: Plan | null;
}

/** How a product shows on its records what becomes of the money. Whatever is saved is one fenced transaction. */
export interface Book<C extends Chargeable> {
  readonly kind: ChargeRequest['kind'];
  /** By what name the processor knows the record. */
  readonly referenceOf: (attempt: Attempt) => string;
  /** Whether an event of the membership that waits, or is in quarantine, stands against a charge. */
  isHeldBy(theCase: C, event: Background['membershipEvent']): boolean;
  /** That the record is what was decided on, where it may change without the lock. */
  unmoved(theCase: C): readonly Write[];
  /** The card has no money: the account is asked. */
  turn(
    theCase: C,
    plan: Charge,
    decline: Payment,
  ): { readonly attempt: Attempt; readonly save: (writes: readonly Write[]) => Promise<C> };
  outcome(theCase: C, attempt: Attempt, payment: Payment): Promise<Outcome<C>>;
  judged(
    theCase: C,
    verdict: VerdictName,
    reason: string,
    more: { readonly attemptId: Attempt['attemptId'] },
  ): Verdict;
  readAgain(theCase: C): Promise<C>;
}

export interface Outcome<C> {
  readonly verdict: VerdictName;
  /** The refund that begins with it: what was paid for cannot be had any more. */
  readonly giveBack: Attempt | null;
  readonly save: (along: { readonly writes: readonly Write[]; readonly judgement: Verdict }) => Promise<C>;
}

/** Without an answer the same request goes out so many times in all, while the lock is held. */
const POSTS = 3;
const PAUSE_MS = 200;
/** A processor that asks for more patience gets it, but not while we hold a user's lock. */
const LONGEST_WAIT_MS = 2_000;
/** What the outcome's transaction needs after the answer. */
const OUTCOME_MS = 1_000;
const MERGES = 5;
const FRESH_MS = 2_000;
const NOT_SENT: ChargeAnswer = { kind: 'unknown', error: new Error('something came to stand against it') };

/** The card says that there is no money on it: the account may still have some. */
const NSF_CODES: ReadonlySet<string> = new Set(['62', '05']);

export interface Intent<C> {
  /** Asked for when the processor has room for it: it is dated then. */
  readonly attempt: () => Attempt;
  /** One fenced transaction: these writes, the record and its history. */
  readonly save: (attempt: Attempt, writes: readonly Write[]) => Promise<C>;
  /** Null: a decline ends it. */
  readonly plan: Charge | null;
}

/** Opens an attempt and sends it. */
export async function moveMoney<C extends Chargeable>(
  book: Book<C>,
  { dependencies, lock, state: before }: Chargeable,
  { attempt: newAttempt, save, plan }: Intent<C>,
): Promise<Verdict> {
  await dependencies.gate.enter(lock.signal);
  assertFresh(before, dependencies.timer);
  const attempt = newAttempt();
  const { writes, state } = dependencies.pipeline.open(before, attempt);
  const intended = await save(attempt, writes);
  await step(intended, attempt, 'intent-written');
  return send(book, { ...intended, state }, attempt, plan);
}

/** Same key, rail and body. A decline ends it: whether another rail may be tried was decided then, not now. */
export async function sendAgain<C extends Chargeable>(book: Book<C>, theCase: C): Promise<Verdict> {
  const { gate, clock, timer } = theCase.dependencies;
  const { open } = theCase.state;
  if (open === null) throw new Error('there is no open attempt to resume');
  // Runs never resume such an attempt (`mayBeResumed`). A request by hand gets `unknown` until the janitor settles it.
  if (!mayStillBeSent(open, clock.now())) return leaveUnknown(book, theCase, open);
  await gate.enter(theCase.lock.signal);
  // The processor may not know the attempt yet: this can be the moment at which money moves.
  assertFresh(theCase.state, timer);
  return send(book, await markSending(book, asOpened(theCase, open)), open, null);
}

/**
 * A trigger that resumes its own attempt after a crash keeps the plan it was opened under; otherwise the run would
 * differ from its forecast.
 */
const asOpened = <C extends Chargeable>(theCase: C, open: Attempt): C =>
  open.triggerId === theCase.triggerId ? { ...theCase, plan: planOfOpener(open) } : theCase;

/** From now on it may be under way once more, if the record is still what was decided on. */
async function markSending<C extends Chargeable>(book: Book<C>, theCase: C): Promise<C> {
  const { pipeline, clock } = theCase.dependencies;
  const state = await pipeline.sendingAgain(theCase.state, clock.now(), book.unmoved(theCase));
  return { ...theCase, state };
}

async function send<C extends Chargeable>(
  book: Book<C>,
  begun: C,
  attempt: Attempt,
  plan: Charge | null,
): Promise<Verdict> {
  const { answer, theCase } = await post(book, begun, attempt);
  await step(theCase, attempt, 'charged');
  if (answer.kind === 'not-taken') throw new ProcessorBusyError(answer.retryAfterMs);
  const payment = answer.kind === 'answered' ? sensible(attempt, answer.payment) : null;
  if (payment === null) return leaveUnknown(book, theCase, attempt);
  const turnToAccount = plan?.fallback === 'ACH' && attempt.rail === 'PINLESS' && isNsf(payment);
  if (turnToAccount) {
    // Waiting first: a freeze that is ordered meanwhile, or an event that arrives, must be seen.
    await theCase.dependencies.gate.goOn(theCase.lock.signal);
    const current = await unlessHeldBack(book, theCase, attempt, 'ACH');
    if (current !== null) return chargeAccount(book, current, plan, payment);
  }
  return recordPayment(book, theCase, attempt, payment);
}

/** Gives the case as it is then: each time that it is sent is written down, and the first too where it was late. */
async function post<C extends Chargeable>(
  book: Book<C>,
  begun: C,
  attempt: Attempt,
): Promise<{ readonly answer: ChargeAnswer; readonly theCase: C }> {
  const { processor, timer, gate } = begun.dependencies;
  let theCase = begun;
  let answer: ChargeAnswer = NOT_SENT;
  for (let posts = 1; ; posts += 1) {
    const isAsDecided = posts === 1 && isFresh(theCase.state, timer);
    const current = isAsDecided ? theCase : await onceMore(book, theCase, attempt);
    if (current === null) return { answer, theCase };
    theCase = current;
    assertLeaseLasts(theCase);
    answer =
      attempt.refundOf === null
        ? await processor.charge(attempt.attemptId, requestOf(book, attempt))
        : await processor.refund(attempt.attemptId, attempt.refundOf);
    if (answer.kind === 'answered' || posts === POSTS) return { answer, theCase };
    if (answer.kind === 'not-taken' && answer.retryAfterMs > LONGEST_WAIT_MS) return { answer, theCase };
    await timer.sleep(
      answer.kind === 'not-taken' ? answer.retryAfterMs : PAUSE_MS * posts,
      theCase.lock.signal,
    );
    await gate.goOn(theCase.lock.signal);
  }
}

/** Waiting took its time. Null: something stands against sending it. Money that goes back may always go. */
async function onceMore<C extends Chargeable>(
  book: Book<C>,
  theCase: C,
  attempt: Attempt,
): Promise<C | null> {
  if (attempt.refundOf !== null) return theCase;
  // The lease first: a process that slept past it must not read, write or send anything more for this attempt.
  assertLeaseLasts(theCase);
  const current = await unlessHeldBack(book, theCase, attempt, attempt.rail);
  if (current === null) return null;
  try {
    return await markSending(book, current);
  } catch (error) {
    // Closing an account takes no lock.
    if (error instanceof RecordChangedError) return null;
    throw error;
  }
}

/**
 * A freeze holds two seconds after it was acknowledged. A process that stood still between reading what stands against
 * a charge and opening one, stopped or before a slow gate, has to read it again.
 */
function assertFresh(state: RecordState, timer: Timer): void {
  if (!isFresh(state, timer))
    throw new FactsTooOldError('what the charge was decided on may not hold any more');
}

const isFresh = ({ askedAtMs }: RecordState, timer: Timer): boolean =>
  timer.elapsedMs() - askedAtMs <= FRESH_MS;

/** How much of a lease must be left when a charge is sent: the answer has to be written down under it. */
export const leaseForCharge = (processorTimeoutMs: number): number => processorTimeoutMs + OUTCOME_MS;

/** Just before the money moves: the sender must still hold the lock when the answer is written down. */
function assertLeaseLasts({ lock, dependencies }: Chargeable): void {
  lock.signal.throwIfAborted();
  if (lock.remainingMs() < leaseForCharge(dependencies.processorTimeoutMs))
    throw new LeaseTooShortError('the lease would not outlast the charge');
}

/** No answer. The attempt stays open, and the janitor asks the processor later. */
async function leaveUnknown<C extends Chargeable>(
  book: Book<C>,
  theCase: C,
  { attemptId }: Attempt,
): Promise<Verdict> {
  const verdict = book.judged(theCase, 'unknown', 'no-answer', { attemptId });
  await theCase.dependencies.pipeline.saveVerdict(verdict);
  return verdict;
}

/**
 * Reads again what may forbid the charge, because writing or sending may have taken long: a freeze, an account block, a
 * waiting membership event. Null when something does, or when this reading itself took longer than `FRESH_MS`; the open
 * attempt or the decline is not lost. Otherwise the case, dated by this reading.
 */
async function unlessHeldBack<C extends Chargeable>(
  book: Book<C>,
  theCase: C,
  { userId, subscriptionId, accountId }: Attempt,
  rail: Rail,
): Promise<C | null> {
  const { triggerId, dependencies } = theCase;
  const query = { userId, subscriptionId, triggerId, accountId };
  const { state, freezes, membershipEvent, achBlock } = await dependencies.pipeline.readBackground(query);
  const isHeld =
    !isFresh(state, dependencies.timer) ||
    book.isHeldBy(theCase, membershipEvent) ||
    (rail === 'ACH' && achBlock !== null) ||
    freezeAgainst(freezes, rail, dependencies.clock.now()) !== null;
  return isHeld ? null : { ...theCase, state: { ...theCase.state, askedAtMs: state.askedAtMs } };
}

/** The decline and the intent on the other rail are one transaction: there is no moment at which neither is known. */
async function chargeAccount<C extends Chargeable>(
  book: Book<C>,
  theCase: C,
  plan: Charge,
  decline: Payment,
): Promise<Verdict> {
  const { attempt, save } = book.turn(theCase, plan, decline);
  const { writes, state } = theCase.dependencies.pipeline.replace(
    theCase.state,
    resolutionOf(theCase, decline),
    attempt,
  );
  const intended = await save(writes);
  await step(theCase, attempt, 'intent-written');
  return send(book, { ...intended, state }, attempt, null);
}

/**
 * The answer goes down whatever became of the record meanwhile: an account that was closed takes no lock. Then the record
 * is read again and the money recorded on it as it is now.
 */
export async function recordPayment<C extends Chargeable>(
  book: Book<C>,
  theCase: C,
  attempt: Attempt,
  payment: Payment,
): Promise<Verdict> {
  let current = theCase;
  for (let merges = 0; ; merges += 1) {
    try {
      return await recordOn(book, current, attempt, payment);
    } catch (error) {
      if (!(error instanceof RecordChangedError) || merges === MERGES) throw error;
      current = await book.readAgain(current);
    }
  }
}

async function recordOn<C extends Chargeable>(
  book: Book<C>,
  theCase: C,
  attempt: Attempt,
  payment: Payment,
): Promise<Verdict> {
  const { pipeline } = theCase.dependencies;
  const { verdict, giveBack, save } = await book.outcome(theCase, attempt, payment);
  const resolution = resolutionOf(theCase, payment);
  const resolved =
    giveBack === null
      ? pipeline.resolve(theCase.state, resolution)
      : pipeline.replace(theCase.state, resolution, giveBack);
  // Some processors never say what became of an entry: from its first moment on the janitor has to ask.
  const watch = verdict === 'sent' ? [pipeline.watches.begin(watchOf(theCase, attempt, payment))] : [];
  const { attemptId } = attempt;
  const judgement = book.judged(theCase, verdict, reasonOf(attempt, payment), { attemptId });
  const writes = [...resolved.writes, ...watch, ...toldToOpener(theCase, attempt, judgement)];
  const recorded = await save({ writes, judgement });
  await step(theCase, attempt, 'outcome-written');
  return giveBack === null ? judgement : send(book, { ...recorded, state: resolved.state }, giveBack, null);
}

/** The trigger that opened the attempt gets its answer too when another one finished it. */
function toldToOpener(
  { dependencies, triggerId }: Chargeable,
  attempt: Attempt,
  judgement: Verdict,
): Write[] {
  if (attempt.triggerId === triggerId) return [];
  const plan = planOfOpener(attempt);
  return [dependencies.pipeline.judge({ ...judgement, triggerId: attempt.triggerId, plan })];
}

/** What had been decided when the attempt was opened; for a refund nothing was. */
export function planOfOpener({ refundOf, insteadOf, rail }: Attempt): Plan | null {
  return refundOf === null ? { plan: 'charge', reason: insteadOf === null ? rail : 'PINLESS' } : null;
}

const requestOf = <C extends Chargeable>(
  { kind, referenceOf }: Book<C>,
  attempt: Attempt,
): ChargeRequest => ({
  userId: attempt.userId,
  kind,
  referenceId: referenceOf(attempt),
  rail: attempt.rail,
  amount: attempt.amount,
  description: attempt.description,
});

const resolutionOf = ({ dependencies }: Chargeable, payment: Payment): Resolution => ({
  status: payment.status,
  at: dependencies.clock.now(),
  confirmationId: payment.confirmationId,
  errorCode: payment.errorCode,
  errorMessage: payment.errorMessage,
});

const watchOf = (
  { dependencies }: Chargeable,
  { subscriptionId, userId, attemptId }: Attempt,
  { confirmationId }: Payment,
): AchWatch => ({
  subscriptionId,
  userId,
  confirmationId,
  attemptId,
  sentAt: dependencies.clock.now(),
  checks: 0,
});

/**
 * A card payment that was "sent by ACH" is no answer that can be acted on, whenever and however it is heard: nothing is
 * recorded, and since the processor does know of it, nothing is given up either. It stays open until an operator looks.
 */
export const sensible = ({ rail, refundOf }: Attempt, payment: Payment): Payment | null =>
  refundOf === null && rail === 'PINLESS' && payment.status === 'ACHSENT' ? null : payment;

const isNsf = ({ status, errorCode }: Payment): boolean =>
  status === 'FAILED' && errorCode !== null && NSF_CODES.has(errorCode);

const reasonOf = ({ rail }: Attempt, { status, errorCode }: Payment): string =>
  status === 'FAILED' ? `${rail}-${errorCode ?? 'declined'}` : rail;

const step = (
  { dependencies }: Chargeable,
  { userId, subscriptionId }: Attempt,
  name: Exclude<CollectionStep, 'locked'>,
) => dependencies.onStep(name, { userId, subscriptionId });
