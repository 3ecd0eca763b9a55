import { achGate } from './ach/gate.ts';
import type { OpenAttempt } from './attempt.ts';
import { bankDateOf, startOfBankDay } from './bank-calendar.ts';
import type {
  BlockReason,
  Decision,
  Facts,
  NoOpReason,
  PauseContinuation,
  Question,
  SkipReason,
} from './decision.ts';
import type { Instant } from './instant.ts';
import { limitReached } from './limits.ts';
import { addMoney, subtractMoney } from './money.ts';
import type { Obstacle } from './obstacles.ts';
import {
  firstRail,
  isAgainstBlock,
  isFrozen,
  isPendingResume,
  mayBeResumed,
  obstacleTo,
} from './obstacles.ts';
import type { Path, PathRules } from './paths.ts';
import { PATHS } from './paths.ts';
import type { CollectionPolicy } from './policy.ts';
import type { Rail, Subscription } from './subscription.ts';

/**
 * The one place that decides whether a record is charged. Runs, webhooks, batches, manual repayments, the forecast and
 * `explain` differ in path and facts only. The order of the questions is the order of the rules, and each answer says
 * why, so that nothing is ever skipped in silence.
 */
export function decide(
  path: Path,
  record: Subscription,
  facts: Facts,
  policy: CollectionPolicy,
  now: Instant,
): Decision {
  const rules = PATHS[path];
  const question: Question = { rules, record, facts, policy, now };
  const notDue = whyNotCollected(rules, record, now);
  if (notDue !== null) return { verdict: 'no-op', reason: notDue };

  const obstacle = obstacleTo(question);
  if (facts.openAttempt !== null) return decideOpenAttempt(question, facts.openAttempt, obstacle);
  if (obstacle !== null) return rules.automatic ? obstacle : leaveAsItIs(obstacle);

  if (record.billingStatus === 'PAUSED') return { verdict: 'skip-pause', next: afterPause(record) };
  if (rules.onlyCloses) return { verdict: 'no-op', reason: 'not-stale' };

  const limit = limitReached(rules.limit, record, facts, policy, now);
  if (limit !== null) return { verdict: 'skipped', ...limit };
  return decideCharge(question);
}

/** Cheap: needs nothing but the record. With an answer here the caller need not ask for the facts. */
export function notCollected(path: Path, record: Subscription, now: Instant): NoOpReason | null {
  return whyNotCollected(PATHS[path], record, now);
}

function whyNotCollected(rules: PathRules, record: Subscription, now: Instant): NoOpReason | null {
  const resuming = rules.collectsPendingResume && isPendingResume(record);
  if (!rules.collects.includes(record.billingStatus) && !resuming) return 'status-not-collected';
  return rules.dueOnly && !resuming && record.billingDate > now ? 'not-due' : null;
}

/**
 * Repeating an open attempt may move money now, so what forbids a charge forbids that too. Limits and the balance do
 * not: they were asked when the attempt was opened, and the money may have moved already.
 */
function decideOpenAttempt(
  { rules, record, facts, now }: Question,
  open: OpenAttempt,
  obstacle: Obstacle | null,
): Decision {
  const blocked = (reason: BlockReason): Decision => ({
    verdict: 'blocked',
    attemptId: open.attemptId,
    reason,
  });
  if (obstacle !== null) return blocked(obstacle.reason);
  if (isAgainstBlock(open, facts.account)) return blocked('ach-account-blocked');
  // The stale run never charges; and a member who paused while the attempt was open shall not be charged for the period
  // that the pause run skips.
  const mayResume =
    !rules.onlyCloses &&
    record.billingStatus !== 'PAUSED' &&
    mayBeResumed(open, { automatic: rules.automatic, triggerId: facts.triggerId, now });
  return mayResume
    ? { verdict: 'resume', attemptId: open.attemptId, rail: open.rail }
    : blocked('open-attempt');
}

/** A member who asks to pay gets an answer, and the record stays as it is. */
const leaveAsItIs = (obstacle: Obstacle): Decision =>
  obstacle.verdict === 'deferred' ? obstacle : skipped(obstacle.reason);

/** A month of the pause is used up by each period that is skipped; without a number it lasts until the member resumes. */
export function afterPause({ pauseDurationMonths: months }: Subscription): PauseContinuation {
  if (months <= 0) return { status: 'PAUSED', monthsLeft: -1 };
  return months > 1 ? { status: 'PAUSED', monthsLeft: months - 1 } : { status: 'SCHEDULED' };
}

function decideCharge(question: Question): Decision {
  const { rules, record, facts, policy } = question;
  if (record.billingAmount <= 0) return skipped('amount-not-positive');
  const rail = firstRail(rules, facts.account);
  if (rules.cardOnly && rail === null) return skipped('no-debit-card');
  const needed = addMoney(record.billingAmount, policy.balanceBuffer);
  if (facts.account === null || rail === null)
    return { verdict: 'refuse', reason: 'no-account', shortBy: needed };
  const gate = achGate(facts.account, facts.attempts, bankDateOf(question.now), policy);
  if (rail === 'ACH' && !gate.open) {
    return skipped(gate.reason, gate.until === null ? null : startOfBankDay(gate.until));
  }
  const { availableBalance } = facts.account;
  if (rules.automatic && availableBalance < needed) {
    return { verdict: 'refuse', reason: 'balance-too-low', shortBy: subtractMoney(needed, availableBalance) };
  }
  return charge(question, rail, gate.open ? gate : null);
}

function charge(
  { rules, record, facts, now }: Question,
  rail: Rail,
  gate: { readonly representment: boolean } | null,
): Decision {
  const achOpen = gate !== null && !rules.cardOnly && !isFrozen(facts.freezes, 'ACH', now);
  return {
    verdict: 'charge',
    amount: record.billingAmount,
    rail,
    fallback: rail === 'PINLESS' && achOpen ? 'ACH' : null,
    representment: achOpen && gate.representment,
  };
}

const skipped = (reason: SkipReason, until: Instant | null = null): Decision => ({
  verdict: 'skipped',
  reason,
  until,
});
