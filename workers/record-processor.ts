import type { CollectionJob } from '../queues/jobs.ts';
import { collectionJob } from '../queues/jobs.ts';
import type { CollectResult } from '../src/app/consider.ts';
import { verdictOf } from '../src/app/verdict-of.ts';
import type { Verdict } from '../src/domain/verdict.ts';
import type { PastSighting } from '../src/ports/lock.ts';
import type { ConsideredAs } from '../src/ports/metrics.ts';
import { lookAgainLater, pastSighting } from './busy-lock.ts';
import type { WorkerContext } from './context.ts';
import type { Processor, TakenJob } from './job.ts';
import { dataOf } from './job.ts';
import { isLastTry, putOff, reasonOf } from './put-off.ts';
import { Turns } from './turns.ts';

/** What is to be done about the records of some runs, under their users' locks. */
export interface RecordWork {
  readonly consideredAs: (job: CollectionJob) => ConsideredAs;
  readonly consider: (job: CollectionJob, seen: PastSighting | undefined) => Promise<CollectResult>;
  /** How often a job may be put off before that counts as a failed try. */
  readonly mostStarts?: number;
  /** Shared by the processors that work under the same locks, so that their jobs take turns. */
  readonly turns?: Turns;
}

/** One record of a run. */
export function recordProcessor(
  context: WorkerContext,
  { consideredAs, consider, mostStarts, turns = new Turns() }: RecordWork,
): Processor {
  return async (taken) => {
    const data = dataOf(collectionJob, taken.job);
    const as = consideredAs(data);
    try {
      const work = async () => {
        const result = await consider(data, await pastSighting(context, data.seen));
        return 'busy' in result
          ? lookAgain(context, taken, { data, as, busy: result.busy })
          : counted(context, as, result.verdict);
      };
      const { verdict, reason } = await turns.take(data.userId, work);
      return { verdict, reason };
    } catch (error) {
      await putOff(context, taken, error, mostStarts);
      // The record must have a verdict then too, or the run would hand it over again and again.
      if (isLastTry(taken)) await leaveProvisional(context, { data, as }, 'failed', reasonOf(error));
      throw error;
    }
  };
}

interface Considered {
  readonly data: CollectionJob;
  readonly as: ConsideredAs;
}

async function lookAgain(
  context: WorkerContext,
  taken: TakenJob,
  { busy, ...considered }: Considered & Extract<CollectResult, { busy: unknown }>,
): Promise<Verdict> {
  context.metrics.lockBusy(considered.as);
  await lookAgainLater(context, taken, considered.data.seen, busy);
  return leaveProvisional(context, considered, 'locked', 'user-busy');
}

async function leaveProvisional(
  context: WorkerContext,
  { data, as }: Considered,
  verdict: 'locked' | 'failed',
  reason: string,
): Promise<Verdict> {
  const { clock, pipeline } = context.collect;
  const left = verdictOf({ ...data, triggerId: data.runId, at: clock.now() }, verdict, reason);
  await pipeline.saveVerdict(left);
  return counted(context, as, left);
}

function counted({ metrics, log }: WorkerContext, path: ConsideredAs, verdict: Verdict): Verdict {
  const { verdict: name, reason, userId, subscriptionId, triggerId, attemptId } = verdict;
  metrics.verdict(path, name, reason);
  log.debug(
    { path, verdict: name, reason, userId, subscriptionId, triggerId, attemptId },
    'record considered',
  );
  return verdict;
}
