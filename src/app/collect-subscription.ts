import { decide, notCollected } from '../domain/decide.ts';
import type { Decision, Facts } from '../domain/decision.ts';
import {
  closed,
  closingOpensNextPeriod,
  pauseSkipped,
  periodAfterPause,
  refused,
} from '../domain/outcomes.ts';
import { ZERO } from '../domain/money.ts';
import type { Path } from '../domain/paths.ts';
import { PATHS } from '../domain/paths.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import type { Cause } from '../domain/transitions.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { Lock, PastSighting, Sighting } from '../ports/lock.ts';
import { subscriptionLockKey } from '../ports/lock.ts';
import type { Background } from '../ports/pipeline.ts';
import type { Partition } from '../ports/subscriptions.ts';
import type { Case, CollectDependencies } from './collection-case.ts';
import { commit, judged, nextPeriodOf } from './collection-case.ts';
import { chargeRecord, resumeAttempt } from './move-money.ts';

export interface CollectRequest {
  readonly path: Path;
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
  /** The run, request, signal or batch that asks. Asked twice by the same, a record is considered once. */
  readonly triggerId: string;
  /** What an earlier try saw of the lock. */
  readonly seen?: PastSighting | undefined;
}

/** `busy`: somebody else works on this user. Nothing was read or written. */
export type CollectResult = { readonly verdict: Verdict } | { readonly busy: Sighting };

/**
 * Considers one billing record and leaves a verdict: under the user's lock it reads what there is to know, decides, and
 * does what was decided. The one entrance to collecting for every path.
 */
export async function collectSubscription(
  dependencies: CollectDependencies,
  request: CollectRequest,
): Promise<CollectResult> {
  const acquired = await dependencies.locks.acquire(subscriptionLockKey(request.userId), request.seen);
  if ('busy' in acquired) return acquired;
  try {
    await dependencies.onStep('locked', request);
    return { verdict: await consider(dependencies, request, acquired.lock) };
  } finally {
    await acquired.lock.release();
  }
}

async function consider(
  dependencies: CollectDependencies,
  request: CollectRequest,
  lock: Lock,
): Promise<Verdict> {
  const { subscriptions, pipeline, clock } = dependencies;
  const partition = await subscriptions.listByUserID(request.userId);
  const record = partition.subscriptions.find(
    ({ subscriptionId }) => subscriptionId === request.subscriptionId,
  );
  if (record === undefined || partition.malformed.length > 0) {
    return leave(dependencies, unreadable(dependencies, request, partition));
  }

  const now = clock.now();
  const early = notCollected(request.path, record, now);
  const asked = early === null ? await askServices(dependencies, request.userId) : NOTHING_ASKED;
  const background = await pipeline.readBackground({
    ...request,
    accountId: asked.account?.accountId ?? null,
  });
  if (background.verdict !== null) return background.verdict;

  const facts = factsOf(request, partition, background, asked);
  const decision = decide(request.path, record, facts, dependencies.policy, now);
  const theCase: Case = {
    dependencies,
    triggerId: request.triggerId,
    rules: PATHS[request.path],
    lock,
    record,
    partition: partition.subscriptions,
    state: background.state,
    account: asked.account,
    now,
  };
  return carryOut(theCase, decision);
}

type Asked = Pick<Facts, 'user'> & {
  readonly account: Awaited<ReturnType<CollectDependencies['accounts']['primary']>>;
};

const NOTHING_ASKED: Asked = { user: null, account: null };

async function askServices({ users, accounts }: CollectDependencies, userId: UserId): Promise<Asked> {
  const [user, account] = await Promise.all([users.get(userId), accounts.primary(userId)]);
  return { user, account };
}

function factsOf(
  request: CollectRequest,
  partition: Partition,
  background: Background,
  { user, account }: Asked,
): Facts {
  const { state, freezes, membershipEvent, achBlock } = background;
  return {
    triggerId: request.triggerId,
    openAttempt: state.open,
    attempts: state.past,
    partition: partition.subscriptions,
    membershipEvent,
    freezes,
    user,
    account: account === null ? null : { ...account, achBlock },
  };
}

/**
 * Gone; or one of the user's records cannot be read. It may be this one, or hold the newest stamp or the next period:
 * nothing is written about this user until somebody has mended it, and the run goes on.
 */
function unreadable(
  dependencies: CollectDependencies,
  request: CollectRequest,
  { malformed }: Partition,
): Verdict {
  const { subscriptionId, userId, triggerId } = request;
  const verdict = malformed.length > 0 ? 'malformed' : 'no-op';
  const reason = malformed[0]?.message ?? 'record-gone';
  const at = dependencies.clock.now();
  return {
    subscriptionId,
    userId,
    triggerId,
    verdict,
    reason,
    amount: ZERO,
    at,
    attemptId: null,
    until: null,
  };
}

async function leave({ pipeline }: CollectDependencies, verdict: Verdict): Promise<Verdict> {
  await pipeline.saveVerdict(verdict);
  return verdict;
}

function carryOut(theCase: Case, decision: Decision): Promise<Verdict> {
  const { dependencies } = theCase;
  switch (decision.verdict) {
    case 'no-op':
    case 'deferred':
      return leave(dependencies, judged(theCase, decision.verdict, decision.reason));
    case 'skipped':
      return leave(dependencies, judged(theCase, 'skipped', decision.reason, { until: decision.until }));
    case 'blocked':
      return leave(
        dependencies,
        judged(theCase, 'blocked', decision.reason, { attemptId: decision.attemptId }),
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
