import { decideFloat } from '../../domain/floats/decide-float.ts';
import type { FloatId } from '../../domain/floats/float.ts';
import type { FloatPolicy } from '../../domain/floats/policy.ts';
import { floatIdOf } from '../../domain/floats/record-id.ts';
import type { FloatProcess } from '../../domain/floats/runs.ts';
import { STAGE_OF_RUN } from '../../domain/floats/runs.ts';
import type { Instant } from '../../domain/instant.ts';
import { planOf } from '../../domain/plan.ts';
import { runId } from '../../domain/runs.ts';
import { MalformedRowError } from '../../errors.ts';
import type { CollectionHistory, FloatsRepository } from '../../ports/floats.ts';
import type { RecordRef } from '../../ports/runs.ts';
import { askOnce } from '../ask-once.ts';
import type { ForecastSum } from '../forecast-sum.ts';
import type { FloatFactSources } from './collect-float.ts';
import { gatherFloatFacts } from './collect-float.ts';

export interface FloatForecastSources extends FloatFactSources {
  readonly floats: Pick<FloatsRepository, 'get'>;
  readonly collectionHistory: CollectionHistory;
  readonly floatPolicy: FloatPolicy;
}

export interface FloatForecastRequest {
  readonly process: FloatProcess;
  readonly asOf: Instant;
}

/** All floats of one user that a page names: the same float, facts and decision as in the run. */
export async function foretellFloats(
  dependencies: FloatForecastSources,
  request: FloatForecastRequest,
  records: readonly RecordRef[],
  sum: ForecastSum,
): Promise<void> {
  const sources = { ...dependencies, ...askOnce(dependencies) };
  for (const { subscriptionId } of records) {
    const floatId = floatIdOf(subscriptionId);
    if (floatId === null) throw new Error(`${subscriptionId} is no float`);
    await sum.unlessUnreachable(() => foretellFloat(sources, request, floatId, sum));
  }
}

async function foretellFloat(
  sources: FloatForecastSources,
  { process, asOf }: FloatForecastRequest,
  floatId: FloatId,
  sum: ForecastSum,
): Promise<void> {
  const read = await readFloat(sources, floatId);
  // Gone since the index listed it. The run decides nothing about such a float either.
  if (read === 'gone') return;
  if (read === 'malformed') {
    sum.malformed += 1;
    return;
  }
  const stage = STAGE_OF_RUN[process];
  const triggerId = runId(process, asOf);
  const { facts } = await gatherFloatFacts(sources, { ...read, stage, triggerId, now: asOf });
  const decision = decideFloat(stage, read.float, facts, sources.floatPolicy, asOf);
  const { plan, reason } = planOf(decision);
  sum.plans.add(plan, reason, read.float.amount);
}

async function readFloat({ floats, collectionHistory }: FloatForecastSources, floatId: FloatId) {
  try {
    const [float, log] = await Promise.all([floats.get(floatId), collectionHistory.getByFloatID(floatId)]);
    return float === null ? ('gone' as const) : { float, log };
  } catch (error) {
    if (error instanceof MalformedRowError) return 'malformed' as const;
    throw error;
  }
}
