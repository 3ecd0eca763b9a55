import { dateOf } from '../../domain/calendar-date.ts';
import { achModelOf, routeFeatures } from '../../domain/floats/ach-route.ts';
import { decideFloat } from '../../domain/floats/decide-float.ts';
import { whyNotCollected } from '../../domain/floats/due.ts';
import type { FloatDecision, FloatFacts, FloatStep } from '../../domain/floats/float-decision.ts';
import type { Float, FloatId, LogEntry, Stage } from '../../domain/floats/float.ts';
import { floatStepped } from '../../domain/floats/outcomes.ts';
import { recordIdOf } from '../../domain/floats/record-id.ts';
import type { Instant } from '../../domain/instant.ts';
import { planOf } from '../../domain/plan.ts';
import type { UserId } from '../../domain/subscription.ts';
import type { Verdict, VerdictName } from '../../domain/verdict.ts';
import { isProvisional } from '../../domain/verdict.ts';
import { MalformedRowError } from '../../errors.ts';
import type { Lock, PastSighting } from '../../ports/lock.ts';
import { floatLockKey } from '../../ports/lock.ts';
import type { Background } from '../../ports/pipeline.ts';
import type { PrimaryAccount } from '../../ports/services.ts';
import type { CollectResult } from '../consider.ts';
import { considerLocked, judgeUntouched, leave } from '../consider.ts';
import { malformedReason } from '../malformed-reason.ts';
import { verdictOf } from '../verdict-of.ts';
import { chargeFloat, resumeFloat } from './charge-float.ts';
import type { FloatCase, FloatDependencies } from './float-case.ts';
import { judgedFloat, saveFloat } from './float-case.ts';

export interface FloatRequest {
  readonly stage: Stage;
  readonly userId: UserId;
  readonly floatId: FloatId;
  /** The run, request or signal that asks. Asked twice by the same, a float is considered once. */
  readonly triggerId: string;
  /** What an earlier try saw of the lock. */
  readonly seen?: PastSighting | undefined;
}

/**
 * Considers one float and leaves a verdict: under its member's lock it reads what there is to know, decides, and does what
 * was decided. The one entrance to collecting floats, for every stage.
 */
export function collectFloat(dependencies: FloatDependencies, request: FloatRequest): Promise<CollectResult> {
  const { userId, floatId, seen } = request;
  const record = { userId, subscriptionId: recordIdOf(floatId), seen };
  return considerLocked(dependencies, floatLockKey(userId), record, (lock) =>
    consider(dependencies, request, lock),
  );
}

async function consider(
  dependencies: FloatDependencies,
  request: FloatRequest,
  lock: Lock,
): Promise<Verdict> {
  const read = await readFloat(dependencies, request);
  if ('unreadable' in read) return leave(dependencies, read.unreadable);
  const now = dependencies.clock.now();
  const { facts, background, account } = await gatherFloatFacts(dependencies, { ...request, ...read, now });
  const { verdict: before, state } = background;
  if (before !== null && !isProvisional(before)) return before;

  const { stage, triggerId } = request;
  const decision = decideFloat(stage, read.float, facts, dependencies.floatPolicy, now);
  const theCase: FloatCase = {
    dependencies,
    triggerId,
    lock,
    state,
    stage,
    float: read.float,
    account,
    achModel: achModelOf(facts.route),
    now,
    plan: planOf(decision),
  };
  return carryOut(theCase, decision);
}

type ReadFloat = { readonly float: Float; readonly log: readonly LogEntry[] };

/** With an unreadable row in its log no limit is known, so nothing is done about the float. */
async function readFloat(
  dependencies: FloatDependencies,
  request: FloatRequest,
): Promise<ReadFloat | { readonly unreadable: Verdict }> {
  const { floats, collectionHistory, clock } = dependencies;
  const { floatId, userId, triggerId } = request;
  const about = { userId, subscriptionId: recordIdOf(floatId), triggerId, at: clock.now() };
  try {
    const [float, log] = await Promise.all([floats.get(floatId), collectionHistory.getByFloatID(floatId)]);
    if (float?.userId !== userId) return { unreadable: verdictOf(about, 'no-op', 'record-gone') };
    return { float, log };
  } catch (error) {
    if (!(error instanceof MalformedRowError)) throw error;
    const detail = { detail: error.message };
    return { unreadable: verdictOf(about, 'malformed', malformedReason(error), detail) };
  }
}

export type FloatFactSources = Pick<FloatDependencies, 'users' | 'accounts' | 'achRouting'> & {
  readonly pipeline: Pick<FloatDependencies['pipeline'], 'readBackground'>;
};

/** Everything that a decision about this float asks for. Changes nothing. */
export async function gatherFloatFacts(
  sources: FloatFactSources,
  query: ReadFloat & Pick<FloatRequest, 'stage' | 'triggerId'> & { readonly now: Instant },
): Promise<{
  readonly facts: FloatFacts;
  readonly background: Background;
  readonly account: PrimaryAccount | null;
}> {
  const { stage, float, log, triggerId, now } = query;
  const { userId } = float;
  // A float that is not collected at all needs no facts about its user.
  const isCollected = whyNotCollected(stage, float, dateOf(now)) === null;
  const [user, account] = isCollected
    ? await Promise.all([sources.users.get(userId), sources.accounts.primary(userId)])
    : [null, null];
  const background = await sources.pipeline.readBackground({
    userId,
    subscriptionId: recordIdOf(float.floatId),
    triggerId,
    accountId: account?.accountId ?? null,
  });
  const { state, freezes, achBlock } = background;
  const facts: FloatFacts = {
    triggerId,
    openAttempt: state.open,
    log,
    attempts: state.past,
    freezes,
    user,
    account: account === null ? null : { ...account, achBlock },
    route: await sources.achRouting.advise(routeFeatures(float, log, account, now)),
  };
  return { facts, background, account };
}

function carryOut(theCase: FloatCase, decision: FloatDecision): Promise<Verdict> {
  const { dependencies } = theCase;
  switch (decision.verdict) {
    case 'no-op':
    case 'deferred':
    case 'skipped':
    case 'blocked':
      return leave(
        dependencies,
        judgeUntouched((...verdict) => judgedFloat(theCase, ...verdict), decision),
      );
    case 'default':
    case 'uncollectable':
    case 'give-up-today':
      return step(theCase, decision);
    case 'resume':
      return resumeFloat(theCase);
    case 'charge':
      return chargeFloat(theCase, decision);
  }
}

const VERDICT_OF_STEP = {
  default: 'defaulted',
  uncollectable: 'uncollectable',
  'give-up-today': 'given-up',
} as const satisfies Record<FloatStep['verdict'], VerdictName>;

async function step(theCase: FloatCase, decision: FloatStep): Promise<Verdict> {
  const { dependencies, float, stage } = theCase;
  const change = floatStepped(float, stage, decision, dependencies.clock.now());
  const judgement = judgedFloat(theCase, VERDICT_OF_STEP[decision.verdict], decision.reason);
  await saveFloat(theCase, change, [dependencies.pipeline.judge(judgement)]);
  return judgement;
}
