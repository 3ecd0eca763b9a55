import type { Job } from 'bullmq';
import { UnrecoverableError } from 'bullmq';
import type { z } from 'zod';
import type { QueueName } from '../queues/queue-names.ts';

/** A job as a processor gets it, and the proof that it was given to this worker. */
export interface TakenJob {
  readonly job: Job;
  readonly token: string;
  readonly queue: QueueName;
}

/** What a job returns is shown to people in Bull Board. */
export type Processor = (taken: TakenJob) => Promise<unknown>;

/** Data that is not what it should be never gets better: the job fails at once and keeps it for whoever looks. */
export function dataOf<T>(schema: z.ZodType<T>, job: Job): T {
  const parsed = schema.safeParse(job.data);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new UnrecoverableError(`the job's data cannot be read: ${fields}`);
}
