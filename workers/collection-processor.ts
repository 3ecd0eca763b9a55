import { UnrecoverableError } from 'bullmq';
import type { CollectionJob } from '../queues/jobs.ts';
import { collectionJob } from '../queues/jobs.ts';
import { collectRecord, consideredAs } from '../src/app/collect-record.ts';
import { verdictOf } from '../src/app/verdict-of.ts';
import type { CollectingProcess } from '../src/domain/runs.ts';
import { isCollecting, parseRunId } from '../src/domain/runs.ts';
import type { Verdict } from '../src/domain/verdict.ts';
import { lookAgainLater, pastSighting } from './busy-lock.ts';
import type { WorkerContext } from './context.ts';
import type { Processor, TakenJob } from './job.ts';
import { dataOf } from './job.ts';
import { isLastTry, putOff, reasonOf } from './put-off.ts';
import { UserTurns } from './user-turns.ts';

/** One due record of a run. */
export function collectionProcessor(context: WorkerContext): Processor {
  const turns = new UserTurns();
  return async (taken) => {
    const data = dataOf(collectionJob, taken.job);
    try {
      await context.collect.gate.glance();
      const verdict = await turns.take(data.userId, () => collect(context, taken, data));
      return { verdict: verdict.verdict, reason: verdict.reason };
    } catch (error) {
      await putOff(context, taken, error);
      // The record must have a verdict then too, or the run would hand it over again and again.
      if (isLastTry(taken)) await leaveProvisional(context, data, 'failed', reasonOf(error));
      throw error;
    }
  };
}

async function collect(context: WorkerContext, taken: TakenJob, data: CollectionJob): Promise<Verdict> {
  const { runId, pass, userId, subscriptionId, seen } = data;
  const process = processOf(data);
  const result = await collectRecord(context.collect, {
    process,
    userId,
    subscriptionId,
    triggerId: runId,
    run: { runId, pass },
    seen: await pastSighting(context, seen),
  });
  if ('busy' in result) {
    context.metrics.lockBusy(consideredAs(process));
    await lookAgainLater(context, taken, seen, result.busy);
    return leaveProvisional(context, data, 'locked', 'user-busy');
  }
  return counted(context, process, result.verdict);
}

async function leaveProvisional(
  context: WorkerContext,
  data: CollectionJob,
  verdict: 'locked' | 'failed',
  reason: string,
): Promise<Verdict> {
  const left = verdictOf(
    { ...data, triggerId: data.runId, at: context.collect.clock.now() },
    verdict,
    reason,
  );
  await context.collect.pipeline.saveVerdict(left);
  return counted(context, processOf(data), left);
}

function counted({ metrics, log }: WorkerContext, process: CollectingProcess, verdict: Verdict): Verdict {
  const path = consideredAs(process);
  const { verdict: name, reason, userId, subscriptionId, triggerId, attemptId } = verdict;
  metrics.verdict(path, name, reason);
  log.debug(
    { path, verdict: name, reason, userId, subscriptionId, triggerId, attemptId },
    'record considered',
  );
  return verdict;
}

function processOf({ runId }: CollectionJob): CollectingProcess {
  const run = parseRunId(runId);
  if (run === null || !isCollecting(run.process))
    throw new UnrecoverableError(`${runId} is no run that collects`);
  return run.process;
}
