import { requestJob } from '../queues/jobs.ts';
import type { RequestJob } from '../queues/jobs.ts';
import { answerRequest, failRequest } from '../src/app/answer-request.ts';
import type { RequestOutcome } from '../src/ports/requests.ts';
import { lookAgainLater, pastSighting } from './busy-lock.ts';
import type { WorkerContext } from './context.ts';
import type { Processor, TakenJob } from './job.ts';
import { dataOf } from './job.ts';
import { isLastTry, putOff, reasonOf } from './put-off.ts';

/** A payment by hand, a batch, a signal: one record each, by a request that is stored. */
export function requestProcessor(context: WorkerContext): Processor {
  return async (taken) => {
    const data = dataOf(requestJob, taken.job);
    try {
      await context.collect.gate.glance();
      return await answer(context, taken, data);
    } catch (error) {
      await putOff(context, taken, error);
      // Without it the sweep would hand it over for ever.
      if (isLastTry(taken)) await fail(context, data, reasonOf(error));
      throw error;
    }
  };
}

async function answer(
  context: WorkerContext,
  taken: TakenJob,
  { requestId, seen }: RequestJob,
): Promise<RequestOutcome> {
  const { collect, requests, log } = context;
  const result = await answerRequest({ ...collect, requests }, requestId, await pastSighting(context, seen));
  if ('busy' in result) {
    await lookAgainLater(context, taken, seen, result.busy);
    return fail(context, { requestId }, 'user-busy');
  }
  log.info({ requestId, ...result.outcome }, 'request answered');
  return result.outcome;
}

async function fail(
  { collect, requests }: WorkerContext,
  { requestId }: RequestJob,
  reason: string,
): Promise<RequestOutcome> {
  await failRequest({ ...collect, requests }, requestId, reason);
  return { verdict: 'failed', reason };
}
