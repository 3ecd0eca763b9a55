import type { Job, JobState } from 'bullmq';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { COLLECTING_PROCESSES, processOf } from '../src/domain/runs.ts';
import type { StoredGatewayEvent } from '../src/ports/gateways.ts';
import type { InboxEvent } from '../src/ports/inbox.ts';
import { EVENT_STREAMS } from '../src/ports/inbox.ts';
import type { CollectionRequest } from '../src/ports/requests.ts';
import type { RecordRef, Run } from '../src/ports/runs.ts';
import { KEY_PREFIX } from './connection.ts';
import type { CollectionJob, EventJob, GatewayEventJob, PageJob, RequestJob } from './jobs.ts';
import {
  PAGES_OF_RUN,
  QUEUE_OF_REQUEST,
  QUEUE_OF_RUN,
  QUEUE_OF_STREAM,
  collectionJobId,
  eventJobId,
  gatewayEventJobId,
  pageJobId,
  requestJobId,
} from './jobs.ts';
import { JOB_OPTIONS } from './options.ts';
import type { QueueName } from './queue-names.ts';

export interface JobCount {
  readonly queue: QueueName;
  readonly state: string;
  readonly count: number;
}

const COLLECTING_QUEUES: ReadonlySet<QueueName> = new Set([
  ...COLLECTING_PROCESSES.map((process) => QUEUE_OF_RUN[process]),
  ...Object.values(QUEUE_OF_REQUEST),
]);

/** Redis takes them one after the other; more at once would only hold other clients up. */
const JOBS_AT_ONCE = 500;

const ANEW = { resetAttemptsMade: true, resetAttemptsStarted: true } as const;

/** States in which a job is still to be done, or being done. */
const UNFINISHED = ['waiting', 'active', 'delayed', 'prioritized', 'waiting-children'] as const;

/** All queues on one connection, opened when they are first used, and the only way to add a job. */
export class QueueSet {
  private readonly redis: Redis;
  private readonly failsFast: boolean;
  private readonly queues = new Map<QueueName, Queue>();

  constructor(redis: Redis, { failsFast = false }: { readonly failsFast?: boolean } = {}) {
    this.redis = redis;
    this.failsFast = failsFast;
  }

  get(name: QueueName): Queue {
    const open = this.queues.get(name);
    if (open !== undefined) return open;
    const queue = new Queue(name, {
      connection: this.redis,
      prefix: KEY_PREFIX,
      defaultJobOptions: JOB_OPTIONS[name],
      // Both of these, and `enableOfflineQueue: false` (`whenDown: 'fail'`), or a producer hangs while Redis is down,
      // or stays broken when it is back.
      ...(this.failsFast ? { skipWaitingForReady: true, skipVersionCheck: true } : {}),
    });
    // The connection tells its errors itself; an unheard event would end the process.
    queue.on('error', () => undefined);
    this.queues.set(name, queue);
    return queue;
  }

  async addPage({ runId, pass, page }: PageJob): Promise<void> {
    const job = { runId, pass, page };
    await this.pagesOf(job).add('page', job, { jobId: pageJobId(job) });
  }

  /** Sees to it that a worker takes this page: the job is there, comes back from among the failed, or is added. */
  async ensurePage(job: PageJob): Promise<void> {
    const found = await this.pagesOf(job).getJob(pageJobId(job));
    const state = await found?.getState();
    // As often as a new one, for whatever made it fail may be mended by now.
    if (state === 'failed') return found?.retry(state, ANEW).catch(unlessMoved(found, state));
    // It ran while the run stood elsewhere, and its id would keep the page from ever being taken.
    if (state === 'completed') await found?.remove().catch(unlessMoved(found, state));
    await this.addPage(job);
  }

  private pagesOf({ runId }: Pick<PageJob, 'runId'>): Queue {
    return this.get(PAGES_OF_RUN[processOf(runId)]);
  }

  async addRecords(run: Run, records: readonly RecordRef[]): Promise<void> {
    const queue = this.get(QUEUE_OF_RUN[run.process]);
    const jobs = records.map(({ userId, subscriptionId }) => {
      const data: CollectionJob = { runId: run.runId, pass: run.pass, userId, subscriptionId };
      return { name: run.process, data, opts: { jobId: collectionJobId(data) } };
    });
    for (let start = 0; start < jobs.length; start += JOBS_AT_ONCE) {
      await queue.addBulk(jobs.slice(start, start + JOBS_AT_ONCE));
    }
  }

  async addRequest({ requestId, path, generation }: CollectionRequest): Promise<void> {
    const data: RequestJob = { requestId };
    const jobId = requestJobId(requestId, generation);
    await this.get(QUEUE_OF_REQUEST[path]).add(path, data, { jobId });
  }

  /** As they come from a stream: many at a time, in its order. */
  async addEvents(events: readonly InboxEvent[]): Promise<void> {
    for (const stream of EVENT_STREAMS) {
      const jobs = events.filter((event) => event.stream === stream).map(jobOfEvent);
      if (jobs.length > 0) await this.get(QUEUE_OF_STREAM[stream]).addBulk(jobs);
    }
  }

  /** Sees to it that the event's job runs soon: one that waits is called, one that failed comes back, one that is done is made anew. */
  async ensureEvent(event: InboxEvent): Promise<void> {
    const queue = this.get(QUEUE_OF_STREAM[event.stream]);
    const found = await queue.getJob(eventJobId(event));
    if (found !== undefined) await makeWay(found);
    const { name, data, opts } = jobOfEvent(event);
    await queue.add(name, data, opts);
  }

  /** Sees to it that the event's job runs soon, also when it ran before: the event was replayed, or came again. */
  async ensureGatewayEvent({ eventId, name }: StoredGatewayEvent): Promise<void> {
    const queue = this.get('gateway-events');
    const data: GatewayEventJob = { eventId };
    const jobId = gatewayEventJobId(data);
    const found = await queue.getJob(jobId);
    if (found !== undefined) await makeWay(found);
    await queue.add(name, data, { jobId });
  }

  /** Whether anything in the queue is still to be done. */
  async isDrained(name: QueueName): Promise<boolean> {
    const counts = await this.get(name).getJobCounts(...UNFINISHED);
    return Object.values(counts).every((count) => count === 0);
  }

  async depths(names: readonly QueueName[]): Promise<JobCount[]> {
    const all = await Promise.all(
      names.map(async (queue) => {
        const counts = await this.get(queue).getJobCounts(...UNFINISHED, 'failed');
        return Object.entries(counts).map(([state, count]) => ({ queue, state, count }));
      }),
    );
    return all.flat();
  }

  /** Collections in flight over all processes, per queue. Set again and again, because a flushed Redis forgets it. */
  async limitCollections(concurrency: number): Promise<void> {
    for (const queue of COLLECTING_QUEUES) await this.get(queue).setGlobalConcurrency(concurrency);
  }

  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.close()));
  }
}

function jobOfEvent(event: InboxEvent) {
  const { stream, shardId, sequence, userId, type } = event;
  const data: EventJob = { stream, shardId, sequence, userId, type };
  return { name: type, data, opts: { jobId: eventJobId(event) } };
}

/** Another process may have done the same at the same moment, and then it is done. */
const unlessMoved = (job: Job, from: JobState) => async (error: unknown) => {
  if ((await job.getState()) === from) throw error;
};

/**
 * A job that waits is called; one that is done goes, so that its name is free. One that failed comes back with its data
 * and the traces of its failures, which an operator may still want to see, and may fail as often as a new one.
 */
async function makeWay(job: Job): Promise<void> {
  const state = await job.getState();
  if (state === 'completed') await job.remove().catch(unlessMoved(job, state));
  if (state === 'failed') await job.retry(state, ANEW).catch(unlessMoved(job, state));
  if (state === 'delayed') await job.promote().catch(unlessMoved(job, state));
}
