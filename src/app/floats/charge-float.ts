import type { AttemptId } from '../../domain/attempt.ts';
import { attemptId } from '../../domain/attempt-id.ts';
import type { Charge } from '../../domain/decision.ts';
import type { Float, LogRemark, Stage } from '../../domain/floats/float.ts';
import { STAGES } from '../../domain/floats/float.ts';
import type { FloatChange, LoggedAttempt } from '../../domain/floats/outcomes.ts';
import {
  floatCollected,
  floatDeclined,
  floatOpened,
  floatPaidInVain,
  floatSent,
  floatTurned,
} from '../../domain/floats/outcomes.ts';
import { floatIdOf, recordIdOf } from '../../domain/floats/record-id.ts';
import { declineText } from '../../domain/outcomes.ts';
import type { Rail } from '../../domain/subscription.ts';
import type { Verdict, VerdictName } from '../../domain/verdict.ts';
import type { Attempt } from '../../ports/pipeline.ts';
import { ABANDONED } from '../../ports/pipeline.ts';
import type { Payment } from '../../ports/services.ts';
import { REPRESENTMENT } from '../ach-entry.ts';
import type { Book } from '../move-money.ts';
import { moveMoney, recordPayment, sendAgain } from '../move-money.ts';
import { alarmOverpaid } from './alarm-overpaid.ts';
import type { FloatCase } from './float-case.ts';
import { judgedFloat, saveFloat } from './float-case.ts';

export const chargeFloat = (theCase: FloatCase, plan: Charge): Promise<Verdict> =>
  moveMoney(BOOK, theCase, {
    attempt: () => newAttempt(theCase, plan.rail, plan, null),
    save: (_attempt, writes) => saveFloat(theCase, floatOpened(theCase.float, nowOf(theCase)), writes),
    plan,
  });

export const resumeFloat = (theCase: FloatCase): Promise<Verdict> => sendAgain(BOOK, theCase);

export const recordFloatAnswer = (theCase: FloatCase, attempt: Attempt, payment: Payment): Promise<Verdict> =>
  recordPayment(BOOK, theCase, attempt, payment);

const BOOK: Book<FloatCase> = {
  kind: 'FLOAT',
  referenceOf: ({ subscriptionId }) => floatIdOf(subscriptionId) ?? subscriptionId,
  // An advance is owed whatever becomes of the membership.
  isHeldBy: () => false,
  unmoved: () => [],
  judged: judgedFloat,
  readAgain,
  turn(theCase, plan, decline) {
    const { open } = theCase.state;
    if (open === null) throw new Error('the attempt that was declined is open');
    const attempt = newAttempt(theCase, 'ACH', plan, open.attemptId);
    const change = floatTurned(theCase.float, logged(open, decline), textOf(decline), nowOf(theCase));
    return { attempt, save: (writes) => saveFloat(theCase, change, writes) };
  },
  outcome(theCase, attempt, payment) {
    const { change, verdict } = outcomeOf(theCase, attempt, payment);
    if (payment.status === 'COMPLETED' && isAdvanceBack(theCase.float))
      alarmOverpaid(theCase.dependencies, theCase.float, payment.confirmationId);
    return Promise.resolve({
      verdict,
      giveBack: null,
      save: ({ writes, judgement }) =>
        saveFloat(theCase, change, [...writes, theCase.dependencies.pipeline.judge(judgement)]),
    });
  },
};

function outcomeOf(
  theCase: FloatCase,
  attempt: Attempt,
  payment: Payment,
): { readonly change: FloatChange; readonly verdict: VerdictName } {
  const { float } = theCase;
  const entry = logged(attempt, payment);
  const now = nowOf(theCase);
  const { status } = payment;
  if (status !== 'FAILED' && isAdvanceBack(float)) {
    const change = floatPaidInVain(float, entry, status, now);
    return { change, verdict: status === 'COMPLETED' ? 'collected' : 'sent' };
  }
  switch (status) {
    case 'COMPLETED':
      return { change: floatCollected(float, entry, now), verdict: 'collected' };
    case 'ACHSENT':
      return { change: floatSent(float, entry, now), verdict: 'sent' };
    case 'FAILED':
      return {
        change: floatDeclined(float, { ...entry, remark: remarkOn(payment) }, textOf(payment), now),
        verdict: 'declined',
      };
  }
}

/** The advance may have come back meanwhile: that takes the lock too, but a holder may have slept past its lease. */
async function readAgain(theCase: FloatCase): Promise<FloatCase> {
  const { floatId } = theCase.float;
  const float = await theCase.dependencies.floats.get(floatId);
  if (float === null) throw new Error(`float ${floatId} is gone while its charge was under way`);
  return { ...theCase, float };
}

const isAdvanceBack = ({ creditReturnedAt }: Float): boolean => creditReturnedAt !== null;

function newAttempt(
  { float, triggerId, stage, account, achModel, dependencies }: FloatCase,
  rail: Rail,
  { amount, representment }: Pick<Charge, 'amount' | 'representment'>,
  insteadOf: AttemptId | null,
): Attempt {
  const subscriptionId = recordIdOf(float.floatId);
  return {
    attemptId: attemptId(subscriptionId, triggerId, rail),
    subscriptionId,
    userId: float.userId,
    triggerId,
    process: stage,
    rail,
    amount,
    accountId: account?.accountId ?? null,
    description: rail === 'ACH' && representment ? REPRESENTMENT : null,
    insteadOf,
    refundOf: null,
    upgrades: null,
    achModel: rail === 'ACH' ? achModel : null,
    openedAt: dependencies.clock.now(),
  };
}

/** The log names the stage that opened the attempt, not the one that ends it. */
export const logged = (
  attempt: Attempt,
  { confirmationId }: Pick<Payment, 'confirmationId'>,
): LoggedAttempt => ({
  attemptId: attempt.attemptId,
  process: stageOf(attempt),
  rail: attempt.rail,
  confirmationId,
  achModel: attempt.achModel ?? null,
});

export function stageOf({ attemptId: id, process }: Attempt): Stage {
  const stage = STAGES.find((one) => one === process);
  if (stage === undefined) throw new Error(`attempt ${id} is of ${process}, which is no stage of floats`);
  return stage;
}

const remarkOn = ({ errorCode }: Payment): LogRemark | undefined =>
  errorCode === ABANDONED ? 'not-presented' : undefined;

const textOf = ({ errorCode, errorMessage }: Payment): string => declineText(errorCode, errorMessage);

const nowOf = ({ dependencies }: FloatCase) => dependencies.clock.now();
