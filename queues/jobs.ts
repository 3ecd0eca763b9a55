import { z } from 'zod';
import type { RunId, RunProcess } from '../src/domain/runs.ts';
import { parseRunId } from '../src/domain/runs.ts';
import type { SubscriptionId, UserId } from '../src/domain/subscription.ts';
import type { EventPosition, EventStream } from '../src/ports/inbox.ts';
import { EVENT_STREAMS } from '../src/ports/inbox.ts';
import type { RequestPath } from '../src/ports/requests.ts';
import type { QueueName } from './queue-names.ts';

/*
 * What a job carries: ids, never records. Its worker reads the rest, as it is then, under the user's lock. A field that
 * is added later is optional, because jobs of the older shape may still be waiting.
 */

const runId = z.custom<RunId>((value) => typeof value === 'string' && parseRunId(value) !== null, 'a run id');
const userId = z.custom<UserId>((value) => typeof value === 'string' && value !== '', 'a user id');
const subscriptionId = z.custom<SubscriptionId>(
  (value) => typeof value === 'string' && value !== '',
  'a subscription id',
);

/** What the job saw of a lock that was busy: which version, when by Redis, how long its lease is, and how often. */
const sighting = z.object({
  version: z.string(),
  leaseMs: z.number().nonnegative(),
  seenAtMs: z.number(),
  looks: z.int().positive(),
});
export type SightingInJob = z.output<typeof sighting>;

export const pageJob = z.object({ runId, pass: z.int().positive(), page: z.int().nonnegative() });
export type PageJob = z.output<typeof pageJob>;

/** One record of a run: to be collected, or to be told about. */
export const collectionJob = z.object({
  runId,
  pass: z.int().positive(),
  userId,
  subscriptionId,
  seen: sighting.optional(),
});
export type CollectionJob = z.output<typeof collectionJob>;

export const requestJob = z.object({ requestId: z.string().min(1), seen: sighting.optional() });
export type RequestJob = z.output<typeof requestJob>;

/** One event of a stream. What it says is in the user's inbox. */
export const eventJob = z.object({
  stream: z.enum(EVENT_STREAMS),
  shardId: z.string().min(1),
  sequence: z.string().regex(/^\d+$/, 'a sequence number'),
  userId,
  type: z.string(),
  seen: sighting.optional(),
});
export type EventJob = z.output<typeof eventJob>;

/** One event of a payment gateway. What it says is stored under this id. */
export const gatewayEventJob = z.object({ eventId: z.string().min(1) });
export type GatewayEventJob = z.output<typeof gatewayEventJob>;

export const QUEUE_OF_STREAM: Record<EventStream, QueueName> = {
  users: 'membership-events',
  payments: 'ach-events',
};

/** Where the pages of a run's records are read. */
export const PAGES_OF_RUN: Record<RunProcess, QueueName> = {
  scheduled: 'collection-pages',
  retry: 'collection-pages',
  pause: 'collection-pages',
  stale: 'collection-pages',
  notify: 'collection-pages',
  'float-tomorrow': 'float-pages',
  'float-today': 'float-pages',
  'float-retry': 'float-pages',
  'recurring-payments': 'recurring-pages',
  'recurring-reminders': 'recurring-pages',
};

/** Where a run's records go. What is written off is read from the same index as what is tried again. */
export const QUEUE_OF_RUN: Record<RunProcess, QueueName> = {
  scheduled: 'collections-scheduled',
  retry: 'collections-retry',
  pause: 'collections-pause',
  stale: 'collections-retry',
  notify: 'notifications',
  'float-tomorrow': 'float-collections',
  'float-today': 'float-collections',
  'float-retry': 'float-collections',
  'recurring-payments': 'recurring-payments',
  'recurring-reminders': 'recurring-reminders',
};

/**
 * Requests about floats go where their likes go, so that a queue of floats holds only what runs hand over, and a run can
 * tell when its pass is done.
 */
export const QUEUE_OF_REQUEST: Record<RequestPath, QueueName> = {
  MANUAL_REPAYMENT: 'manual-repayments',
  BATCH: 'collections-batch',
  WEBHOOK: 'collections-webhook',
  WEBHOOK_BALANCE: 'collections-webhook-balance',
  FLOAT_PAYBACK: 'manual-repayments',
  FLOAT_WEBHOOK: 'collections-webhook',
};

/*
 * A job's id says what it is for, so that adding it twice adds it once. While a job with that id is stored, in any state,
 * another is ignored: what must be possible again needs another id. BullMQ wants no colon in it.
 */

export const pageJobId = ({ runId: id, pass, page }: PageJob): string => `${id}.${pass}.${page}`;

export const collectionJobId = (job: Pick<CollectionJob, 'runId' | 'pass' | 'subscriptionId'>): string =>
  withoutColon(`${job.runId}.${job.pass}.${job.subscriptionId}`);

export const eventJobId = ({ stream, shardId, sequence }: EventPosition): string =>
  withoutColon(`${stream}.${shardId}.${sequence}`);

/** An event's id holds no colon. */
export const gatewayEventJobId = ({ eventId }: GatewayEventJob): string => eventId;

export const requestJobId = (requestId: string, generation: number): string =>
  withoutColon(`${requestId}.${generation}`);

const withoutColon = (id: string): string => id.replaceAll('%', '%25').replaceAll(':', '%3A');
