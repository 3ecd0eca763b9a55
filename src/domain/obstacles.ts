import type { OpenAttempt } from './attempt.ts';
import { mayStillBeSent } from './attempt.ts';
import type {
  AccountFacts,
  CloseReason,
  Decision,
  DeferReason,
  Facts,
  Freeze,
  FreezeReason,
  Question,
  UserFacts,
} from './decision.ts';
import type { Instant } from './instant.ts';
import { plusDays } from './instant.ts';
import { whyLeft } from './leaving.ts';
import type { PathRules } from './paths.ts';
import type { Rail, Subscription } from './subscription.ts';
import { PAUSE_PENDING_RESUME } from './subscription.ts';

/** What forbids a charge: wait, or close the record. */
export type Obstacle = Extract<Decision, { verdict: 'deferred' | 'cancel' | 'waive' | 'go-stale' }>;

/** The first that applies, in the order of the rules. */
export function obstacleTo(question: Question): Obstacle | null {
  const { record, facts } = question;
  const deferral = eventAgainst(facts.membershipEvent, question.rules) ?? frozen(question);
  if (deferral !== null) return { verdict: 'deferred', reason: deferral };
  const left = whyLeft(record);
  if (left !== null) return close('cancel', left);
  const user = userObstacle(facts.user);
  if (user !== null) return user;
  // Nothing is due for a paused period, so there is nothing to waive or to write off.
  if (record.billingStatus === 'PAUSED') return null;
  if (facts.user?.isEmployee === true) return close('waive', 'employee');
  return isTooOld(question) ? close('go-stale', 'too-old') : null;
}

/** The member asked to be charged at once on resuming; the record is SCHEDULED, for whatever date. */
export const isPendingResume = (record: Subscription): boolean =>
  record.billingStatus === 'SCHEDULED' && record.updatedEvent === PAUSE_PENDING_RESUME;

export const isFrozen = (freezes: readonly Freeze[], scope: Freeze['scope'], now: Instant): boolean =>
  freezes.some((freeze) => freeze.scope === scope && (freeze.until === null || freeze.until > now));

/**
 * A frozen rail defers records that would be charged over it first; a freeze moves none to the other rail. The rail is
 * null where there would be no charge.
 */
export function freezeAgainst(
  freezes: readonly Freeze[],
  rail: Rail | null,
  now: Instant,
): FreezeReason | null {
  if (isFrozen(freezes, 'global', now)) return 'frozen-global';
  if (isFrozen(freezes, 'user', now)) return 'frozen-user';
  return rail !== null && isFrozen(freezes, rail, now) ? 'frozen-rail' : null;
}

/** Over which rail a charge would begin. Null when there is none that this path may use. */
export function firstRail(rules: Pick<PathRules, 'cardOnly'>, account: Facts['account']): Rail | null {
  if (account === null) return null;
  if (account.hasDebitCard) return 'PINLESS';
  return rules.cardOnly ? null : 'ACH';
}

/** Who wants to resume an open attempt. */
export interface Finder {
  readonly automatic: boolean;
  readonly triggerId: string;
  readonly now: Instant;
}

/** Automatic paths may resume any charge; a request by hand only the one it opened itself. */
export const mayBeResumed = (open: OpenAttempt, { automatic, triggerId, now }: Finder): boolean =>
  // Money on its way back is nothing to collect; the janitor sends it again.
  (open.refundOf ?? null) === null &&
  (automatic || open.triggerId === triggerId) &&
  mayStillBeSent(open, now);

/** An entry that may not have left yet does not go to an account whose bank has closed it to us meanwhile. */
export const isAgainstBlock = (open: OpenAttempt, account: AccountFacts | null): boolean =>
  open.rail === 'ACH' && account !== null && account.achBlock !== null;

const close = (verdict: 'cancel' | 'waive' | 'go-stale', reason: CloseReason): Obstacle => ({
  verdict,
  reason,
});

/** An event that failed waits for an operator. A member who asks to pay by hand need not wait for one. */
export function eventAgainst(
  event: Facts['membershipEvent'],
  { automatic }: Pick<PathRules, 'automatic'>,
): DeferReason | null {
  if (event === 'unapplied') return 'membership-event-unapplied';
  return event === 'quarantined' && automatic ? 'membership-event-quarantined' : null;
}

function frozen({ rules, record, facts, now }: Question): DeferReason | null {
  const chargesNobody = rules.onlyCloses || record.billingStatus === 'PAUSED';
  const rail = chargesNobody ? null : (facts.openAttempt?.rail ?? firstRail(rules, facts.account));
  return freezeAgainst(facts.freezes, rail, now);
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

/** Old debts are written off, unless the member asks to pay: by hand, or by resuming with a charge. */
function isTooOld({ rules, record, policy, now }: Question): boolean {
  if (!rules.automatic || isPendingResume(record)) return false;
  return record.billingDate <= plusDays(now, -policy.oldSubscriptionDays);
}
