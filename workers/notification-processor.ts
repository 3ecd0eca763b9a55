import { UnrecoverableError } from 'bullmq';
import type { CollectionJob } from '../queues/jobs.ts';
import { collectionJob } from '../queues/jobs.ts';
import { backoffMs } from '../queues/options.ts';
import { notifyRecord } from '../src/app/notify/notify-record.ts';
import { verdictOf } from '../src/app/verdict-of.ts';
import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { noticeDay, parseRunId } from '../src/domain/runs.ts';
import type { Verdict } from '../src/domain/verdict.ts';
import type { WorkerContext } from './context.ts';
import type { Processor } from './job.ts';
import { dataOf } from './job.ts';
import { A_DAY_OF_LOOKS, delay, isLastTry, putOff, reasonOf } from './put-off.ts';

export type NotificationContext = Pick<WorkerContext, 'notify' | 'queues' | 'redis' | 'log' | 'metrics'>;

/** One record of a notify run. */
export function notificationProcessor(context: NotificationContext): Processor {
  return async (taken) => {
    const data = dataOf(collectionJob, taken.job);
    const day = dayOf(data);
    try {
      const { runId: triggerId, userId, subscriptionId } = data;
      const { attemptsStarted } = taken.job;
      const patient = attemptsStarted < A_DAY_OF_LOOKS;
      const request = { userId, subscriptionId, day, triggerId, patient };
      const result = await notifyRecord(context.notify, request);
      if ('verdict' in result) return counted(context, result.verdict);
      return await delay(taken, backoffMs(attemptsStarted));
    } catch (error) {
      await putOff(context, taken, error, A_DAY_OF_LOOKS);
      // The record must have a verdict then too, or the run would hand it over again and again.
      if (isLastTry(taken)) await leaveFailed(context, data, reasonOf(error));
      throw error;
    }
  };
}

async function leaveFailed(context: NotificationContext, data: CollectionJob, reason: string): Promise<void> {
  const { pipeline, clock } = context.notify;
  const left = verdictOf({ ...data, triggerId: data.runId, at: clock.now() }, 'failed', reason);
  await pipeline.saveVerdict(left);
  counted(context, left);
}

function counted({ metrics, log }: NotificationContext, { verdict, reason, ...ids }: Verdict) {
  const { userId, subscriptionId, triggerId } = ids;
  metrics.verdict('NOTICE', verdict, reason);
  log.debug({ verdict, reason, userId, subscriptionId, triggerId }, 'notice considered');
  return { verdict, reason };
}

function dayOf({ runId }: CollectionJob): CalendarDate {
  const run = parseRunId(runId);
  if (run?.process !== 'notify') throw new UnrecoverableError(`${runId} is no run that notifies`);
  return noticeDay(run.tick);
}
