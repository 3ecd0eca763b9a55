import type { AttemptId } from '../domain/attempt.ts';
import { attemptId, refundId } from '../domain/attempt-id.ts';
import type { Charge } from '../domain/decision.ts';
import { eventAgainst } from '../domain/obstacles.ts';
import { collected, declineText, declined, opened, sent } from '../domain/outcomes.ts';
import { rulesOf } from '../domain/paths.ts';
import { billedOf } from '../domain/plans/coming-back.ts';
import { isToCome } from '../domain/plans/upcoming.ts';
import type { Rail, Subscription } from '../domain/subscription.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Attempt } from '../ports/pipeline.ts';
import type { Payment } from '../ports/services.ts';
import { ALREADY_REFUNDED } from '../ports/services.ts';
import type { StoredSubscription } from '../ports/subscriptions.ts';
import type { Write } from '../ports/transaction.ts';
import { REPRESENTMENT } from './ach-entry.ts';
import type { Case } from './collection-case.ts';
import { commit, judged, nextPeriodOf } from './collection-case.ts';
import type { Book } from './move-money.ts';
import { moveMoney, recordPayment, sendAgain } from './move-money.ts';
import { NOTHING_MORE, whatPaymentBrings } from './what-payment-brings.ts';
import { whole } from './whole.ts';

export function chargeRecord(theCase: Case, plan: Charge): Promise<Verdict> {
  const change = opened(theCase.record, theCase.rules, theCase.now);
  const next = theCase.rules.automatic ? nextPeriodOf(theCase, change) : [];
  return moveMoney(BOOK, theCase, {
    attempt: () => newAttempt(theCase, theCase.record, plan, null),
    save: (attempt, writes) =>
      commit(theCase, { cause: 'attempt-opened', change, next, writes, attemptId: attempt.attemptId }),
    plan,
  });
}

/**
 * The same for a record that comes into the world with the charge. The intent is its birth, as CANCELLED; being paid makes
 * it COMPLETED. What it is paid for are the member's other periods: an account that was closed since they were read, which
 * takes no lock, refuses the intent.
 */
export function chargeNewRecord(
  theCase: Omit<Case, 'record'>,
  born: Subscription,
  upgrades: Attempt['upgrades'] = null,
): Promise<Verdict> {
  const byCard = { rail: 'PINLESS', amount: born.billingAmount, representment: false } as const;
  const { subscriptions } = theCase.dependencies;
  const billedBefore = billedOf(theCase.partition);
  const asRead = theCase.partition.filter(isToCome).map((period) => subscriptions.unchanged(period));
  return moveMoney(BOOK, theCase, {
    attempt: () => ({ ...newAttempt(theCase, born, byCard, null), upgrades, billedBefore }),
    save: ({ attemptId: id }, opening) => {
      const writes = [...opening, ...asRead];
      return commit(theCase, { cause: 'attempt-opened', change: born, writes, attemptId: id });
    },
    plan: null,
  });
}

/** Money goes back the way it came, by the same steps. The status changes when the payments service says that it did. */
export function refundRecord(theCase: Case, rail: Rail): Promise<Verdict> {
  const change = untouched(theCase.record);
  return moveMoney(BOOK, theCase, {
    attempt: () => newRefund(theCase, rail, theCase.record.transactionId),
    save: (attempt, writes) =>
      commit(theCase, { cause: 'refund-opened', change, writes, attemptId: attempt.attemptId }),
    plan: null,
  });
}

/** The payment is still with us: it was not refunded meanwhile, nor has a bank taken it back. */
export const isToGiveBack = (
  { billingStatus, transactionId }: Subscription,
  { refundOf }: Pick<Attempt, 'refundOf'>,
): boolean => billingStatus === 'COMPLETED' && transactionId === refundOf;

export function resumeAttempt(theCase: Case): Promise<Verdict> {
  const { open } = theCase.state;
  // What the answer does to the record depends on the path that opened the charge, not on the one that resumes it.
  return sendAgain(BOOK, open === null ? theCase : { ...theCase, rules: rulesOf(open.process) });
}

export const recordAnswer = (theCase: Case, attempt: Attempt, payment: Payment): Promise<Verdict> =>
  recordPayment(BOOK, theCase, attempt, payment);

const BOOK: Book<Case> = {
  kind: 'SUBSCRIPTION',
  referenceOf: ({ subscriptionId }) => subscriptionId,
  isHeldBy: ({ rules }, event) => eventAgainst(event, rules) !== null,
  // Closing an account takes no lock, and the Go service may write the row.
  unmoved: ({ record, dependencies }) => [dependencies.subscriptions.unchanged(record)],
  judged,
  readAgain,
  turn(theCase, plan, decline) {
    const { record, state } = theCase;
    const attempt = newAttempt(theCase, record, { ...plan, rail: 'ACH' }, state.open?.attemptId ?? null);
    const change = { ...record, transactionId: decline.confirmationId, usioError: textOf(decline) };
    const { attemptId: id } = attempt;
    return {
      attempt,
      save: (writes) => commit(theCase, { cause: 'attempt-opened', change, writes, attemptId: id }),
    };
  },
  async outcome(theCase, attempt, payment) {
    const { change: paid, cause, verdict } = outcomeOf(theCase, attempt, payment);
    const isPaid = verdict === 'collected';
    const { next, along, isInVain } = isPaid ? await whatPaymentBrings(theCase, attempt, paid) : NOTHING_MORE;
    const change = isInVain ? inVain(paid, theCase.record) : paid;
    const giveBack = isInVain ? newRefund(theCase, attempt.rail, payment.confirmationId) : null;
    const ids = { attemptId: attempt.attemptId, opens: giveBack?.attemptId };
    const noted = noteIfRefused(theCase, attempt, payment);
    return {
      verdict,
      giveBack,
      save: ({ writes, judgement }) =>
        commit(theCase, { cause, change, next, along, ...ids, judgement, writes: [...writes, ...noted] }),
    };
  },
};

/** Nothing was billed by it, and no membership begins with it, whatever it was paid for. */
const inVain = (paid: StoredSubscription, { initialRunDate }: Subscription): StoredSubscription => ({
  ...paid,
  process: 'NOT_IDENTIFIED',
  initialRunDate,
});

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

/**
 * A refused refund is not sent again by itself, whether the janitor or a caller learnt of it: an operator has to see
 * that the money is still here.
 */
function noteIfRefused(
  { record, dependencies: { pipeline, clock } }: Case,
  attempt: Attempt,
  { status, errorCode: code }: Payment,
): Write[] {
  if (status !== 'FAILED' || code === ALREADY_REFUNDED || !isToGiveBack(record, attempt)) return [];
  const { userId, subscriptionId, amount } = attempt;
  const { transactionId: confirmationId } = record;
  const at = clock.now();
  return [pipeline.refusedRefunds.note({ userId, subscriptionId, confirmationId, code, amount, at })];
}

/** It leaves a history row and nothing else. */
export const untouched = (record: StoredSubscription): StoredSubscription => ({
  ...record,
  process: record.process ?? 'NOT_IDENTIFIED',
});

async function readAgain(theCase: Case): Promise<Case> {
  const { userId, subscriptionId } = theCase.record;
  const { subscriptions: partition } = whole(await theCase.dependencies.subscriptions.listByUserID(userId));
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

const textOf = ({ errorCode, errorMessage }: Payment): string => declineText(errorCode, errorMessage);
