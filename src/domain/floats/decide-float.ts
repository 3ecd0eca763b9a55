import { achGate } from '../ach/gate.ts';
import type { OpenAttempt } from '../attempt.ts';
import { bankDateOf, startOfBankDay } from '../bank-calendar.ts';
import { dateOf, daysBetween } from '../calendar-date.ts';
import type { AccountFacts, Charge, FreezeReason } from '../decision.ts';
import type { Instant } from '../instant.ts';
import { tomorrow } from '../limits.ts';
import type { Cents } from '../money.ts';
import { addMoney, cents } from '../money.ts';
import { firstRail, freezeAgainst, isAgainstBlock, isFrozen, mayBeResumed } from '../obstacles.ts';
import type { Rail } from '../subscription.ts';
import { whyNotCollected } from './due.ts';
import type {
  AgainstAch,
  DefaultReason,
  FloatDecision,
  FloatDeferReason,
  FloatFacts,
  FloatSkipReason,
} from './float-decision.ts';
import type { Float, Stage } from './float.ts';
import { attemptsOn, failedAch, failuresInARow, isPaidAlready, isReauthorised } from './limits.ts';
import type { FloatPolicy } from './policy.ts';

interface Question {
  readonly stage: Stage;
  readonly float: Float;
  readonly facts: FloatFacts;
  readonly policy: FloatPolicy;
  readonly now: Instant;
}

/**
 * The one place that decides whether a float is collected. Runs, signals, paybacks, the forecast and `explain` differ in
 * stage and facts only. The order of the questions is the order of the rules, and each answer says why.
 */
export function decideFloat(
  stage: Stage,
  float: Float,
  facts: FloatFacts,
  policy: FloatPolicy,
  now: Instant,
): FloatDecision {
  const question: Question = { stage, float, facts, policy, now };
  const notCollected = whyNotCollected(stage, float, dateOf(now));
  if (notCollected !== null) return { verdict: 'no-op', reason: notCollected };

  const freeze = whyFrozen(question);
  const deferral = freeze ?? userDeferral(facts.user);
  if (facts.openAttempt !== null) return decideOpenAttempt(question, facts.openAttempt, deferral);
  if (freeze !== null) return { verdict: 'deferred', reason: freeze };

  // By an attempt that was given up, beside the one that the float stands by. A float that was paid is not given up either.
  if (isPaidAlready(facts.log)) return skipped('paid-already');
  // Before the member is asked about: no money moves by it, and a float of a banned member would never end.
  const end = isAutomatic(stage) ? whyDefaulted(question) : null;
  if (end !== null) return { verdict: 'default', reason: end };
  if (deferral !== null) return { verdict: 'deferred', reason: deferral };
  return limitReached(question) ?? decideCharge(question);
}

/** A run or a signal, not a person. */
const isAutomatic = (stage: Stage): boolean => stage !== 'SUPPORT';

function whyFrozen({ stage, facts, now }: Question): FreezeReason | null {
  const rail = facts.openAttempt?.rail ?? railAt(stage, facts.account);
  return freezeAgainst(facts.freezes, rail, now);
}

/** Over which rail a charge would begin. Null when there would be none. */
function railAt(stage: Stage, account: AccountFacts | null): Rail | null {
  const rail = firstRail({ cardOnly: stage === 'SUPPORT' }, account);
  return stage === 'TOMORROW' && rail === 'PINLESS' ? null : rail;
}

/**
 * An advance is owed whatever became of the membership, so PAUSED, the user service's word for a cancelled one, is
 * collected. A member whom we look into, or have banned, is not debited on: that is a dispute.
 */
function userDeferral(user: FloatFacts['user']): FloatDeferReason | null {
  switch (user?.status) {
    case undefined:
      return 'user-missing';
    case 'ACTIVE':
    case 'PAUSED':
      return null;
    case 'PROCESSING':
      return 'user-processing';
    case 'INVESTIGATE':
      return 'user-under-investigation';
    case 'BANNED':
      return 'user-banned';
    default:
      return 'user-status-unknown';
  }
}

/**
 * Repeating an open attempt may move money now, so what forbids a charge forbids that too. Limits and the balance do
 * not: they were asked when the attempt was opened, and the money may have moved already.
 */
function decideOpenAttempt(
  { stage, facts, now }: Question,
  open: OpenAttempt,
  deferral: FloatDeferReason | null,
): FloatDecision {
  const { attemptId, rail } = open;
  if (deferral !== null) return { verdict: 'blocked', attemptId, reason: deferral };
  if (isAgainstBlock(open, facts.account))
    return { verdict: 'blocked', attemptId, reason: 'ach-account-blocked' };
  return mayBeResumed(open, { automatic: isAutomatic(stage), triggerId: facts.triggerId, now })
    ? { verdict: 'resume', attemptId, rail }
    : { verdict: 'blocked', attemptId, reason: 'open-attempt' };
}

/** A float that has not been tried on its due date is tried then, whatever failed before; but not for ever. */
function whyDefaulted({ float, facts, policy, now }: Question): DefaultReason | null {
  if (float.status !== 'SCHEDULING' && isAchUsedUp(facts, policy)) return 'ach-attempts-used-up';
  return daysBetween(float.dueDate, dateOf(now)) > policy.maxDaysPastDue ? 'too-long-past-due' : null;
}

const isAchUsedUp = ({ log }: FloatFacts, { maxFailedAch }: FloatPolicy): boolean =>
  failedAch(log) >= maxFailedAch;

const FAILURES_TO_STOP_AT = 2;

/** A payback is the member's own authorisation, and no signal. */
function limitReached({ stage, facts, policy, now }: Question): FloatDecision | null {
  if (!isAutomatic(stage)) return null;
  const { log } = facts;
  if (policy.twoFailuresGate && failuresInARow(log) >= FAILURES_TO_STOP_AT && !isReauthorised(log))
    return skipped('two-failures');
  const today = attemptsOn(dateOf(now), stage, log);
  // Retries are daily: a second run on the same day does not try a float twice.
  if (stage === 'RETRY' && today > 0) return skipped('retried-today', tomorrow(now));
  return stage === 'WEBHOOK' && today >= policy.webhookPerDay
    ? skipped('webhooks-of-the-day-used', tomorrow(now))
    : null;
}

function decideCharge(question: Question): FloatDecision {
  const { stage, float, facts, policy } = question;
  if (float.amount <= 0) return skipped('amount-not-positive');
  const { account } = facts;
  const rail = railAt(stage, account);
  if (stage === 'SUPPORT' && rail === null) return skipped('no-debit-card');
  if (account === null) return decideWithoutAccount(question);
  const needed = neededBalance(stage, float, policy);
  if (needed !== null && account.availableBalance < needed) return skipped('balance-too-low');
  return decideRail(question, account, rail);
}

/** Of the day before, nothing is lost: the due date is still to come. */
function decideWithoutAccount({ stage, float }: Question): FloatDecision {
  if (stage === 'TODAY6AM') return { verdict: 'give-up-today', reason: 'no-account' };
  if (float.status === 'RETRY') return { verdict: 'uncollectable', reason: 'no-account' };
  return skipped('no-account');
}

/** Null: on the due date, the day before and by their own wish members are charged whatever the balance. */
function neededBalance(stage: Stage, { amount }: Float, policy: FloatPolicy): Cents | null {
  const buffered = addMoney(amount, policy.retryBuffer);
  switch (stage) {
    case 'RETRY':
      return buffered;
    case 'WEBHOOK':
      return cents(Math.max(buffered, policy.webhookMinBalance));
    case 'TOMORROW':
    case 'TODAY6AM':
    case 'SUPPORT':
      return null;
  }
}

function decideRail(question: Question, account: AccountFacts, rail: Rail | null): FloatDecision {
  const { stage } = question;
  if (rail === null) return { verdict: 'no-op', reason: 'has-debit-card' };
  const ach = askAch(question, account);
  if (rail === 'PINLESS') return chargeCard(question, ach);
  if (ach.open) return charge(question, { rail, fallback: null, representment: ach.representment });
  return stage === 'TODAY6AM'
    ? { verdict: 'give-up-today', reason: ach.reason }
    : skipped(ach.reason, ach.until);
}

type AchAnswer =
  | { readonly open: true; readonly representment: boolean }
  | { readonly open: false; readonly reason: AgainstAch; readonly until: Instant | null };

function askAch({ facts, policy, now }: Question, account: AccountFacts): AchAnswer {
  if (isAchUsedUp(facts, policy)) return { open: false, reason: 'ach-attempts-used-up', until: null };
  const gate = achGate(account, facts.attempts, bankDateOf(now), policy);
  if (!gate.open) return { ...gate, until: gate.until === null ? null : startOfBankDay(gate.until) };
  return facts.route.useAch ? gate : { open: false, reason: 'route-against-ach', until: null };
}

function chargeCard(question: Question, ach: AchAnswer): FloatDecision {
  const { stage, facts, now } = question;
  const mayTurnToAch =
    ach.open && isAutomatic(stage) && !isFrozen(facts.freezes, 'ACH', now) && hasRoomForTwo(question);
  return charge(question, {
    rail: 'PINLESS',
    fallback: mayTurnToAch ? 'ACH' : null,
    representment: mayTurnToAch && ach.representment,
  });
}

/** The ACH entry after a declined card is an attempt of its own, and the decline one that failed. */
function hasRoomForTwo({ stage, facts, policy, now }: Question): boolean {
  if (policy.twoFailuresGate && failuresInARow(facts.log) + 1 >= FAILURES_TO_STOP_AT) return false;
  return stage !== 'WEBHOOK' || attemptsOn(dateOf(now), 'WEBHOOK', facts.log) + 1 < policy.webhookPerDay;
}

const charge = (
  { float }: Question,
  how: Pick<Charge, 'rail' | 'fallback' | 'representment'>,
): FloatDecision => ({ verdict: 'charge', amount: float.amount, ...how });

const skipped = (reason: FloatSkipReason, until: Instant | null = null): FloatDecision => ({
  verdict: 'skipped',
  reason,
  until,
});
