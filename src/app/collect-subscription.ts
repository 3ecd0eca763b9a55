import { decide } from '../domain/decide.ts';
import type { Decision } from '../domain/decision.ts';
import {
  closed,
  closingOpensNextPeriod,
  pauseSkipped,
  periodAfterPause,
  refused,
} from '../domain/outcomes.ts';
import { isDoubtful } from '../domain/doubt.ts';
import type { Path } from '../domain/paths.ts';
import { PATHS } from '../domain/paths.ts';
import { planOf } from '../domain/plan.ts';
import type { RunId } from '../domain/runs.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import type { Cause } from '../domain/transitions.ts';
import type { Verdict } from '../domain/verdict.ts';
import { isProvisional } from '../domain/verdict.ts';
import type { Lock, PastSighting } from '../ports/lock.ts';
import { subscriptionLockKey } from '../ports/lock.ts';
import type { Partition } from '../ports/subscriptions.ts';
import type { Case, CollectDependencies } from './collection-case.ts';
import { commit, judged, nextPeriodOf } from './collection-case.ts';
import type { CollectResult } from './consider.ts';
import { considerLocked, judgeUntouched, leave } from './consider.ts';
import { gatherFacts } from './gather-facts.ts';
import { malformedReason } from './malformed-reason.ts';
import { chargeRecord, resumeAttempt } from './charge-subscription.ts';
import { verdictOf } from './verdict-of.ts';

export interface CollectRequest {
  readonly path: Path;
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
  /** The run, request, signal or batch that asks. Asked twice by the same, a record is considered once. */
  readonly triggerId: string;
  /** Which pass of a run asks. Runs hold back what concerns members who are said to be gone. */
  readonly run?: { readonly runId: RunId; readonly pass: number } | undefined;
  /** What an earlier try saw of the lock. */
  readonly seen?: PastSighting | undefined;
}

/**
 * Considers one billing record and leaves a verdict: under the user's lock it reads what there is to know, decides, and
 * does what was decided. The one entrance to collecting for every path.
 */
export const collectSubscription = (
  dependencies: CollectDependencies,
  request: CollectRequest,
): Promise<CollectResult> =>
  considerLocked(dependencies, subscriptionLockKey(request.userId), request, (lock) =>
    consider(dependencies, request, lock),
  );

async function consider(
  dependencies: CollectDependencies,
  request: CollectRequest,
  lock: Lock,
): Promise<Verdict> {
  const { subscriptions, clock } = dependencies;
  // Before anything is read: what is written at a later time than this was not looked at.
  const now = clock.now();
  const partition = await subscriptions.listByUserID(request.userId);
  const record = partition.subscriptions.find(
    ({ subscriptionId }) => subscriptionId === request.subscriptionId,
  );
  if (record === undefined || partition.malformed.length > 0) {
    return leave(dependencies, unreadable(dependencies, request, partition));
  }

  const { facts, background, account } = await gatherFacts(dependencies, {
    ...request,
    record,
    partition: partition.subscriptions,
    now,
  });
  const { verdict: before, state } = background;
  if (before !== null && !isProvisional(before)) return before;

  const decision = decide(request.path, record, facts, dependencies.policy, now);
  const theCase: Case = {
    dependencies,
    triggerId: request.triggerId,
    rules: PATHS[request.path],
    lock,
    record,
    partition: partition.subscriptions,
    state,
    account,
    now,
    plan: planOf(decision),
  };
  const { run } = request;
  if (run !== undefined && isDoubtful(decision) && !wasHeld(before, run.pass)) {
    return before?.verdict === 'held' ? before : hold(theCase, planOf(decision).reason, run);
  }
  return carryOut(theCase, decision);
}

/** It was counted in an earlier pass, and the run went on: so there were not too many of them. */
const wasHeld = (before: Verdict | null, pass: number): boolean =>
  before?.verdict === 'held' && before.heldIn !== null && before.heldIn < pass;

async function hold(
  theCase: Case,
  reason: string,
  { runId, pass }: { runId: RunId; pass: number },
): Promise<Verdict> {
  const verdict: Verdict = { ...judged(theCase, 'held', reason), heldIn: pass };
  await theCase.dependencies.pipeline.hold(runId, verdict);
  return verdict;
}

/**
 * Gone; or one of the user's records cannot be read. It may be this one, or hold the newest stamp or the next period:
 * nothing is written about this user until an operator has mended it, and the run goes on.
 */
function unreadable(
  dependencies: CollectDependencies,
  request: CollectRequest,
  { malformed }: Partition,
): Verdict {
  const about = { ...request, at: dependencies.clock.now() };
  if (malformed[0] === undefined) return verdictOf(about, 'no-op', 'record-gone');
  return verdictOf(about, 'malformed', malformedReason(malformed[0]), { detail: malformed[0].message });
}

function carryOut(theCase: Case, decision: Decision): Promise<Verdict> {
  const { dependencies } = theCase;
  switch (decision.verdict) {
    case 'no-op':
      return leaveAlone(theCase, decision);
    case 'deferred':
    case 'skipped':
    case 'blocked':
      return leave(
        dependencies,
        judgeUntouched((...verdict) => judged(theCase, ...verdict), decision),
      );
    case 'cancel':
    case 'waive':
    case 'go-stale':
      return closeRecord(theCase, decision);
    case 'skip-pause':
      return skipPause(theCase, decision);
    case 'refuse':
      return refuseRecord(theCase, decision);
    case 'resume':
      return resumeAttempt(theCase);
    case 'charge':
      return chargeRecord(theCase, decision);
  }
}

async function leaveAlone(theCase: Case, { reason }: Of<'no-op'>): Promise<Verdict> {
  const { dependencies, rules, record, now } = theCase;
  // The pause run reads such wishes from a list, in which this one has nothing to look for any more.
  if (rules.collectsPendingResume) await dependencies.pipeline.forgetResume(record.subscriptionId, now);
  return leave(dependencies, judged(theCase, 'no-op', reason));
}

type Of<V extends Decision['verdict']> = Extract<Decision, { verdict: V }>;

const CLOSING = {
  cancel: { cause: 'cancelled-by-run', verdict: 'cancelled' },
  waive: { cause: 'employee-waived', verdict: 'waived' },
  'go-stale': { cause: 'gone-stale', verdict: 'stale' },
} as const satisfies Record<string, { cause: Cause; verdict: Verdict['verdict'] }>;

async function closeRecord(
  theCase: Case,
  { verdict, reason }: Of<'cancel' | 'waive' | 'go-stale'>,
): Promise<Verdict> {
  const { record, rules, now } = theCase;
  const change = closed(record, rules, verdict, now);
  const next = closingOpensNextPeriod(reason) ? nextPeriodOf(theCase, change) : [];
  const judgement = judged(theCase, CLOSING[verdict].verdict, reason);
  await commit(theCase, { cause: CLOSING[verdict].cause, change, next, judgement });
  return judgement;
}

async function skipPause(theCase: Case, { next }: Of<'skip-pause'>): Promise<Verdict> {
  const { record, rules, partition, now } = theCase;
  const change = pauseSkipped(record, rules, now);
  const following = nextPeriodOf(theCase, change).map(() => periodAfterPause(record, next, partition, now));
  const judgement = judged(
    theCase,
    'pause-skipped',
    next.status === 'PAUSED' ? 'pause-goes-on' : 'pause-is-over',
  );
  await commit(theCase, { cause: 'pause-skipped', change, next: following, judgement });
  return judgement;
}

async function refuseRecord(theCase: Case, decision: Of<'refuse'>): Promise<Verdict> {
  const { record, rules, state, dependencies, now } = theCase;
  const change = refused(record, rules, decision, now);
  const { writes } = dependencies.pipeline.refuse(state, {
    process: change.process ?? 'NOT_IDENTIFIED',
    at: now,
  });
  const judgement = judged(theCase, 'refused', decision.reason);
  await commit(theCase, {
    cause: 'balance-refused',
    change,
    next: nextPeriodOf(theCase, change),
    judgement,
    writes,
  });
  return judgement;
}
