import type { GateReason } from './ach/gate.ts';
import { achGate } from './ach/gate.ts';
import type { AttemptId, OpenAttempt } from './attempt.ts';
import { bankDateOf, startOfBankDay } from './bank-calendar.ts';
import type { Instant } from './instant.ts';
import { plusDays } from './instant.ts';
import type { LimitFacts, LimitReason } from './limits.ts';
import { limitReached } from './limits.ts';
import type { Cents } from './money.ts';
import { addMoney, subtractMoney } from './money.ts';
import type { Path, PathRules } from './paths.ts';
import { PATHS } from './paths.ts';
import type { CollectionPolicy } from './policy.ts';
import type { Rail, Subscription } from './subscription.ts';
import { PAUSE_PENDING_RESUME, PENDING_CANCELLATION } from './subscription.ts';

/** Stops what it names: everything, one rail, or one user. Facts hold only freezes that concern this user. */
export interface Freeze {
  readonly scope: 'global' | 'user' | Rail;
  /** Null: until somebody lifts it. */
  readonly until: Instant | null;
}

/** The user service's word. A status that we do not know is kept as text. */
export interface UserFacts {
  readonly status: string;
  readonly isEmployee: boolean;
}

export interface AccountFacts {
  readonly accountId: string;
  readonly availableBalance: Cents;
  readonly hasDebitCard: boolean;
  readonly achBlock: string | null;
}

/** What is known about the record and its user at the moment of deciding, read under the user's lock. */
export interface Facts extends LimitFacts {
  readonly triggerId: string;
  readonly openAttempt: OpenAttempt | null;
  /** A membership event of this user that was not applied yet, or that failed and waits for somebody. */
  readonly membershipEvent: 'unapplied' | 'quarantined' | null;
  readonly freezes: readonly Freeze[];
  /** Null: the user service has no such user. */
  readonly user: UserFacts | null;
  /** Null: no primary account. */
  readonly account: AccountFacts | null;
}

export type NoOpReason = 'status-not-collected' | 'not-due' | 'not-stale';

export type DeferReason =
  | 'membership-event-unapplied'
  | 'membership-event-quarantined'
  | 'frozen-global'
  | 'frozen-user'
  | 'frozen-rail'
  | 'user-missing'
  | 'user-processing'
  | 'user-under-investigation'
  | 'user-status-unknown';

export type CloseReason = 'pending-cancellation' | 'user-cancelled' | 'user-banned' | 'employee' | 'too-old';

export type SkipReason = LimitReason | GateReason | CloseReason | 'no-debit-card';

export type RefusalReason = 'balance-too-low' | 'no-account';

/** What becomes of the pause when its period is over. */
export type PauseContinuation =
  { readonly status: 'PAUSED'; readonly monthsLeft: number } | { readonly status: 'SCHEDULED' };

/** What to do with the record. Everything but `charge`, `resume` and the four changes leaves it untouched. */
export type Decision =
  | { readonly verdict: 'no-op'; readonly reason: NoOpReason }
  | { readonly verdict: 'deferred'; readonly reason: DeferReason }
  | { readonly verdict: 'skipped'; readonly reason: SkipReason; readonly until: Instant | null }
  /** An attempt is open and may not be repeated now: only the processor's word can end it. */
  | { readonly verdict: 'blocked'; readonly attemptId: AttemptId; readonly reason: BlockReason }
  | { readonly verdict: 'cancel' | 'waive' | 'go-stale'; readonly reason: CloseReason }
  | { readonly verdict: 'skip-pause'; readonly next: PauseContinuation }
  | { readonly verdict: 'refuse'; readonly reason: RefusalReason; readonly shortBy: Cents }
  | { readonly verdict: 'resume'; readonly attemptId: AttemptId; readonly rail: Rail }
  | Charge;

export type BlockReason = 'open-attempt' | DeferReason | CloseReason;

/** The first rail to try, and the one to turn to when the card answers that there is no money on it. */
export interface Charge {
  readonly verdict: 'charge';
  readonly amount: Cents;
  readonly rail: Rail;
  readonly fallback: 'ACH' | null;
  /** An ACH entry that was returned before goes with the description that the network wants for it. */
  readonly representment: boolean;
}

type Obstacle = Extract<Decision, { verdict: 'deferred' | 'cancel' | 'waive' | 'go-stale' }>;

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
  const notCollected = whyNotCollected(rules, record, now);
  if (notCollected !== null) return { verdict: 'no-op', reason: notCollected };

  const obstacle = whyForbidden(rules, record, facts, policy, now);
  if (facts.openAttempt !== null)
    return decideOpenAttempt(rules, record, facts.openAttempt, facts.triggerId, obstacle);
  if (obstacle !== null) return rules.mayClose ? obstacle : leaveAsItIs(obstacle);

  if (record.billingStatus === 'PAUSED') return { verdict: 'skip-pause', next: afterPause(record) };
  if (rules.onlyCloses) return { verdict: 'no-op', reason: 'not-stale' };

  const limit = limitReached(rules.limit, record, facts, policy, now);
  if (limit !== null) return { verdict: 'skipped', ...limit };
  return decideCharge(rules, record, facts, policy, now);
}

function whyNotCollected(rules: PathRules, record: Subscription, now: Instant): NoOpReason | null {
  const resuming = rules.collectsPendingResume && isPendingResume(record);
  if (!rules.collects.includes(record.billingStatus) && !resuming) return 'status-not-collected';
  return rules.dueOnly && !resuming && record.billingDate > now ? 'not-due' : null;
}

/** The member asked to be charged at once on resuming; the record is SCHEDULED, for whatever date. */
const isPendingResume = (record: Subscription): boolean =>
  record.billingStatus === 'SCHEDULED' && record.updatedEvent === PAUSE_PENDING_RESUME;

/**
 * Repeating an open attempt may move money now, so what forbids a charge forbids that too. Limits and the balance do
 * not: they were asked when the attempt was opened, and the money may have moved already.
 */
function decideOpenAttempt(
  rules: PathRules,
  record: Subscription,
  open: OpenAttempt,
  triggerId: string,
  obstacle: Obstacle | null,
): Decision {
  const blocked = (reason: BlockReason): Decision => ({
    verdict: 'blocked',
    attemptId: open.attemptId,
    reason,
  });
  if (obstacle !== null) return blocked(obstacle.reason);
  // Nobody who asks to pay one thing shall find that something else was resumed; the stale run never charges; and a
  // member who paused while the attempt was open shall not be charged for the period that the pause run skips.
  const mayResume =
    !rules.onlyCloses &&
    record.billingStatus !== 'PAUSED' &&
    (!rules.resumesOwnOnly || open.triggerId === triggerId);
  if (!mayResume) return blocked('open-attempt');
  return { verdict: 'resume', attemptId: open.attemptId, rail: open.rail };
}

function whyForbidden(
  rules: PathRules,
  record: Subscription,
  facts: Facts,
  policy: CollectionPolicy,
  now: Instant,
): Obstacle | null {
  const deferral = pendingEvent(facts) ?? frozen(rules, record, facts, now);
  if (deferral !== null) return { verdict: 'deferred', reason: deferral };
  if (record.updatedEvent === PENDING_CANCELLATION) return close('cancel', 'pending-cancellation');
  const user = userObstacle(facts.user);
  if (user !== null) return user;
  // Nothing is due for a paused period, so there is nothing to waive or to write off.
  if (record.billingStatus === 'PAUSED') return null;
  if (facts.user?.isEmployee === true) return close('waive', 'employee');
  const cut = plusDays(now, -policy.oldSubscriptionDays);
  // A member who asks to pay an old debt may.
  return rules.mayClose && record.billingDate <= cut ? close('go-stale', 'too-old') : null;
}

function leaveAsItIs(obstacle: Obstacle): Decision {
  return obstacle.verdict === 'deferred'
    ? obstacle
    : { verdict: 'skipped', reason: obstacle.reason, until: null };
}

const close = (verdict: 'cancel' | 'waive' | 'go-stale', reason: CloseReason): Obstacle => ({
  verdict,
  reason,
});

function pendingEvent(facts: Facts): DeferReason | null {
  if (facts.membershipEvent === null) return null;
  return facts.membershipEvent === 'unapplied'
    ? 'membership-event-unapplied'
    : 'membership-event-quarantined';
}

/** A frozen rail defers whoever would be charged over it first; nobody is moved to the other rail by a freeze. */
function frozen(rules: PathRules, record: Subscription, facts: Facts, now: Instant): DeferReason | null {
  if (isFrozen(facts.freezes, 'global', now)) return 'frozen-global';
  if (isFrozen(facts.freezes, 'user', now)) return 'frozen-user';
  if (rules.onlyCloses || record.billingStatus === 'PAUSED') return null;
  const rail = facts.openAttempt?.rail ?? firstRail(rules, facts.account);
  return rail !== null && isFrozen(facts.freezes, rail, now) ? 'frozen-rail' : null;
}

const isFrozen = (freezes: readonly Freeze[], scope: Freeze['scope'], now: Instant): boolean =>
  freezes.some((freeze) => freeze.scope === scope && (freeze.until === null || freeze.until > now));

function firstRail(rules: PathRules, account: AccountFacts | null): Rail | null {
  if (account === null) return null;
  if (account.hasDebitCard) return 'PINLESS';
  return rules.cardOnly ? null : 'ACH';
}

/** PAUSED is the user service's word for a cancelled membership. Only ACTIVE is billed. */
function userObstacle(user: UserFacts | null): Obstacle | null {
  if (user === null) return { verdict: 'deferred', reason: 'user-missing' };
  switch (user.status) {
    case 'ACTIVE':
      return null;
    case 'PAUSED':
      return close('cancel', 'user-cancelled');
    case 'BANNED':
      return close('cancel', 'user-banned');
    case 'PROCESSING':
      return { verdict: 'deferred', reason: 'user-processing' };
    case 'INVESTIGATE':
      return { verdict: 'deferred', reason: 'user-under-investigation' };
    default:
      return { verdict: 'deferred', reason: 'user-status-unknown' };
  }
}

/** A month of the pause is used up by each period that is skipped; −1 lasts until the member resumes. */
function afterPause(record: Subscription): PauseContinuation {
  const months = record.pauseDurationMonths;
  if (months < 0) return { status: 'PAUSED', monthsLeft: -1 };
  return months > 1 ? { status: 'PAUSED', monthsLeft: months - 1 } : { status: 'SCHEDULED' };
}

function decideCharge(
  rules: PathRules,
  record: Subscription,
  facts: Facts,
  policy: CollectionPolicy,
  now: Instant,
): Decision {
  const { account } = facts;
  const needed = rules.checksBalance
    ? addMoney(record.billingAmount, policy.balanceBuffer)
    : record.billingAmount;
  if (account === null) {
    if (rules.cardOnly) return { verdict: 'skipped', reason: 'no-debit-card', until: null };
    return { verdict: 'refuse', reason: 'no-account', shortBy: needed };
  }
  const rail = firstRail(rules, account);
  if (rail === null) return { verdict: 'skipped', reason: 'no-debit-card', until: null };
  const gate = achGate(account, facts.attempts, bankDateOf(now), policy);
  if (rail === 'ACH' && !gate.open) {
    return {
      verdict: 'skipped',
      reason: gate.reason,
      until: gate.until === null ? null : startOfBankDay(gate.until),
    };
  }
  if (rules.checksBalance && account.availableBalance < needed) {
    return {
      verdict: 'refuse',
      reason: 'balance-too-low',
      shortBy: subtractMoney(needed, account.availableBalance),
    };
  }
  const achOpen = gate.open && !rules.cardOnly && !isFrozen(facts.freezes, 'ACH', now);
  return {
    verdict: 'charge',
    amount: record.billingAmount,
    rail,
    fallback: rail === 'PINLESS' && achOpen ? 'ACH' : null,
    representment: achOpen && gate.representment,
  };
}
