import { DelayedError, RateLimitError, WaitingError } from 'bullmq';
import { TRIES, backoffMs } from '../queues/options.ts';
import { isPassing as isPassingInStore } from '../src/adapters/dynamodb/transaction.ts';
import {
  CollectionsError,
  FactsTooOldError,
  LeaseTooShortError,
  LockLostError,
  ProcessorBusyError,
  ProcessorDownError,
  RecordChangedError,
  ServiceDownError,
  StoppingError,
  WriteUnknownError,
} from '../src/errors.ts';
import type { WorkerContext } from './context.ts';
import type { TakenJob } from './job.ts';

/** So often a job may be put off before it counts as a failed try: nothing waits for ever without being seen. */
const MOST_STARTS = 50;

/** A notice or reminder can wait for what is missing, about a day at one look a minute; then an operator has to see it. */
export const A_DAY_OF_LOOKS = 24 * 60;

/** A processor that asks for an hour is looked at again sooner. */
const LONGEST_HOLD_MS = 60_000;

/** Gives the job back for later. It is not a try: nothing was wrong with the job. */
export async function delay({ job, token }: TakenJob, delayMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + Math.ceil(delayMs), token);
  throw new DelayedError();
}

/**
 * What the world is to blame for puts the job off, by throwing what tells BullMQ so; from an unexpected error it
 * returns, and the job fails. Repeating is safe: what was done is found done, and what was begun is taken up where it
 * stands.
 */
export async function putOff(
  context: Pick<WorkerContext, 'queues' | 'redis' | 'log'>,
  taken: TakenJob,
  error: unknown,
  mostStarts = MOST_STARTS,
): Promise<void> {
  const { job, token, queue } = taken;
  if (isGivenBack(error)) throw error;
  if (error instanceof StoppingError) {
    // A Redis that is away finds out by itself that no worker has the job any more.
    if (context.redis.status === 'ready') await job.moveToWait(token);
    throw new WaitingError();
  }
  if (error instanceof ProcessorDownError) {
    // Holds the whole queue, for every worker, and ends by itself; a pause would outlive us and fight an operator's.
    await context.queues.get(queue).rateLimit(error.retryAfterMs);
    throw new RateLimitError();
  }
  if (error instanceof ProcessorBusyError) {
    // A processor that asks for patience gets it from every worker, and no job counts it as a failed try, however long
    // it lasts.
    await context.queues.get(queue).rateLimit(Math.min(error.retryAfterMs, LONGEST_HOLD_MS));
    throw new RateLimitError();
  }
  const delayMs = delayFor(error, job.attemptsStarted);
  if (delayMs === null || job.attemptsStarted >= mostStarts) return;
  context.log.info({ queue, jobId: job.id, delayMs, err: error }, 'job put off');
  await delay(taken, delayMs);
}

export const isLastTry = ({ job }: TakenJob): boolean => job.attemptsMade + 1 >= TRIES;

/** Why a job gave up, in one word. */
export const reasonOf = (error: unknown): string =>
  error instanceof CollectionsError ? error.code : 'unexpected-error';

/** What BullMQ wants thrown by who has given the job back. */
export const isGivenBack = (error: unknown): boolean =>
  error instanceof DelayedError || error instanceof RateLimitError || error instanceof WaitingError;

function delayFor(error: unknown, starts: number): number | null {
  const isPassing =
    error instanceof ServiceDownError ||
    error instanceof LockLostError ||
    error instanceof LeaseTooShortError ||
    error instanceof FactsTooOldError ||
    error instanceof RecordChangedError ||
    error instanceof WriteUnknownError ||
    (error instanceof Error && isPassingInStore(error));
  return isPassing ? backoffMs(starts) : null;
}
