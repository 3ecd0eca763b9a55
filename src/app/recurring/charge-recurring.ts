import { attemptId } from '../../domain/attempt-id.ts';
import type { Charge } from '../../domain/decision.ts';
import { declineText } from '../../domain/outcomes.ts';
import { RECURRING_RAIL } from '../../domain/recurring/decide-recurring.ts';
import type { PaidAttempt, RecurringChange } from '../../domain/recurring/outcomes.ts';
import {
  recurringAbandoned,
  recurringDeclined,
  recurringOpened,
  recurringPaid,
} from '../../domain/recurring/outcomes.ts';
import { payerOf, paymentReference, recurringRecordId } from '../../domain/recurring/record-id.ts';
import type { Verdict } from '../../domain/verdict.ts';
import type { Attempt } from '../../ports/pipeline.ts';
import { ABANDONED } from '../../ports/pipeline.ts';
import type { Payment } from '../../ports/services.ts';
import type { Book, Outcome } from '../move-money.ts';
import { moveMoney, recordPayment, sendAgain } from '../move-money.ts';
import type { RecurringCase } from './recurring-case.ts';
import { judgedRecurring, saveRecurring } from './recurring-case.ts';

export const chargeRecurring = (theCase: RecurringCase, plan: Charge): Promise<Verdict> =>
  moveMoney(BOOK, theCase, {
    attempt: () => newAttempt(theCase, plan),
    save: (attempt, writes) =>
      saveRecurring(
        theCase,
        recurringOpened(theCase.subscription, attempt.attemptId, nowOf(theCase)),
        writes,
      ),
    plan,
  });

export const resumeRecurring = (theCase: RecurringCase): Promise<Verdict> => sendAgain(BOOK, theCase);

export const recordRecurringAnswer = (
  theCase: RecurringCase,
  attempt: Attempt,
  payment: Payment,
): Promise<Verdict> => recordPayment(BOOK, theCase, attempt, payment);

const BOOK: Book<RecurringCase> = {
  kind: 'RECURRING',
  // What an account pays for is no membership.
  isHeldBy: () => false,
  unmoved: () => [],
  referenceOf: (attempt) => paymentReference(attempt.subscriptionId, periodOf(attempt)),
  judged: judgedRecurring,
  readAgain,
  turn() {
    throw new Error('a token stands for a card: there is no account to turn to');
  },
  outcome: (theCase, attempt, payment) => Promise.resolve(outcomeOf(theCase, attempt, payment)),
};

function outcomeOf(theCase: RecurringCase, attempt: Attempt, payment: Payment): Outcome<RecurringCase> {
  const change = changeBy(theCase, attempt, payment);
  const hasEnded = change.subscription.status === 'FAILED';
  return {
    verdict: payment.status === 'FAILED' ? (hasEnded ? 'defaulted' : 'declined') : 'collected',
    giveBack: null,
    save: ({ writes, judgement }) =>
      saveRecurring(theCase, change, [...writes, theCase.dependencies.pipeline.judge(judgement)]),
  };
}

function changeBy(theCase: RecurringCase, attempt: Attempt, payment: Payment): RecurringChange {
  const { subscription, dependencies } = theCase;
  const { recurringPolicy: policy } = dependencies;
  const now = nowOf(theCase);
  if (payment.status !== 'FAILED')
    return recurringPaid(subscription, paidAttempt(attempt, payment), policy, now);
  const error = declineText(payment.errorCode, payment.errorMessage);
  return payment.errorCode === ABANDONED
    ? recurringAbandoned(subscription, attempt, error, now)
    : recurringDeclined(subscription, attempt, error, policy, now);
}

/** Cancelling takes the lock too, but the process that charges may have slept past its lease. */
async function readAgain(theCase: RecurringCase): Promise<RecurringCase> {
  const subscription = await theCase.dependencies.recurring.getSubscription(theCase.subscription);
  if (subscription === null) {
    const { recurringId } = theCase.subscription;
    throw new Error(`subscription ${recurringId} is gone while its charge was under way`);
  }
  return { ...theCase, subscription };
}

function newAttempt({ subscription, triggerId, dependencies }: RecurringCase, { amount }: Charge): Attempt {
  const subscriptionId = recurringRecordId(subscription);
  return {
    attemptId: attemptId(subscriptionId, triggerId, RECURRING_RAIL),
    subscriptionId,
    userId: payerOf(subscription.accountId),
    triggerId,
    process: 'RECURRING',
    rail: RECURRING_RAIL,
    amount,
    accountId: null,
    description: null,
    insteadOf: null,
    refundOf: null,
    upgrades: null,
    period: subscription.periodDate,
    openedAt: dependencies.clock.now(),
  };
}

const paidAttempt = (attempt: Attempt, { confirmationId }: Payment): PaidAttempt => ({
  attemptId: attempt.attemptId,
  amount: attempt.amount,
  period: periodOf(attempt),
  confirmationId,
});

function periodOf({ attemptId: id, period }: Attempt) {
  if (period === null || period === undefined)
    throw new Error(`attempt ${id} does not say which period it is for`);
  return period;
}

const nowOf = ({ dependencies }: RecurringCase) => dependencies.clock.now();
