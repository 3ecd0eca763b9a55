import type { Job } from 'bullmq';
import { UnrecoverableError } from 'bullmq';
import type { z } from 'zod';
import type { QueueName } from '../queues/queue-names.ts';
import { readBy } from '../src/in-words.ts';

/** A job as a processor gets it, and the proof that it was given to this worker. */
export interface TakenJob {
  readonly job: Job;
  readonly token: string;
  readonly queue: QueueName;
}

/** What a job returns is shown to people in Bull Board. */
export type Processor = (taken: TakenJob) => Promise<unknown>;

/** Data that is not what it should be never gets better: the job fails at once and keeps it for an operator to look at. */
export function dataOf<T>(schema: z.ZodType<T>, job: Job): T {
  const read = readBy(schema, job.data);
  if ('wrong' in read) throw new UnrecoverableError(`the job's data cannot be read: ${read.wrong}`);
  return read.data;
}
