import { Worker } from 'bullmq';
import type { Job } from 'bullmq';
import { KEY_PREFIX } from '../queues/connection.ts';
import { backoffMs } from '../queues/options.ts';
import { systemTimer } from '../src/adapters/system-timer.ts';
import type { JobEnd, Metrics } from '../src/ports/metrics.ts';
import type { WorkerContext } from './context.ts';
import { isGivenBack } from './put-off.ts';
import type { Registration } from './registry.ts';

export interface PoolOptions {
  readonly context: Pick<WorkerContext, 'redis' | 'queues' | 'log' | 'metrics'>;
  readonly registrations: readonly Registration[];
  /** After so long without a sign of its worker a job is given to another. */
  readonly stallMs: number;
}

/** Jobs in flight may take this long to finish when the process is asked to stop. */
const STOP_MS = 22_000;
/** Redis needs a moment to be told that a job is done; one that is away is not waited for. */
const FAREWELL_MS = 1_500;

/**
 * BullMQ looks at a queue's rate limit only where a worker has one. This one is never reached; what counts is the limit
 * that is set by hand while the processor is down.
 */
const NO_LIMIT = { max: 1_000_000_000, duration: 1_000 } as const;

/** A job whose worker dies is run again however often: giving it up is decided by its tries, not by deaths. */
const STALLS_WITHOUT_END = 1_000_000;

/** The BullMQ workers of one process. */
export class WorkerPool {
  private readonly workers: Worker[];
  private readonly inFlight = new Set<Promise<unknown>>();

  constructor({ context, registrations, stallMs }: PoolOptions) {
    this.workers = registrations.map(({ queue, processor, concurrency }) => {
      const log = context.log.child({ queue });
      const worker = new Worker(
        queue,
        (job: Job, token = '') => this.track(timed(context.metrics, queue, processor({ job, token, queue }))),
        {
          connection: context.redis,
          prefix: KEY_PREFIX,
          concurrency,
          lockDuration: stallMs,
          stalledInterval: stallMs,
          maxStalledCount: STALLS_WITHOUT_END,
          limiter: NO_LIMIT,
          settings: { backoffStrategy: backoffMs },
        },
      );
      worker.on('error', (error) => log.warn({ err: error }, 'worker error'));
      worker.on('stalled', (jobId) =>
        log.warn({ jobId }, 'job was taken over from a worker that went silent'),
      );
      worker.on('failed', (job, error) =>
        log.error({ jobId: job?.id, tries: job?.attemptsMade, err: error }, 'job failed'),
      );
      return worker;
    });
  }

  async ready(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.waitUntilReady()));
  }

  /** Takes no more jobs, waits for those in flight, and leaves in time also when Redis is away. */
  async stop(): Promise<void> {
    const over = new AbortController();
    const pause = (ms: number): Promise<void> => systemTimer.sleep(ms, over.signal).catch(() => undefined);
    const close = (force: boolean): Promise<unknown> =>
      Promise.allSettled(this.workers.map((worker) => worker.close(force)));
    await Promise.race([close(false), this.idle().then(() => pause(FAREWELL_MS)), pause(STOP_MS)]);
    await Promise.race([close(true), pause(FAREWELL_MS)]);
    over.abort();
  }

  private async idle(): Promise<void> {
    while (this.inFlight.size > 0) await Promise.allSettled(this.inFlight);
  }

  private track<T>(work: Promise<T>): Promise<T> {
    this.inFlight.add(work);
    const done = (): boolean => this.inFlight.delete(work);
    work.then(done, done);
    return work;
  }
}

async function timed<T>(metrics: Metrics, queue: string, work: Promise<T>): Promise<T> {
  const startedMs = systemTimer.elapsedMs();
  const tell = (end: JobEnd): void => metrics.job(queue, end, (systemTimer.elapsedMs() - startedMs) / 1_000);
  try {
    const result = await work;
    tell('done');
    return result;
  } catch (error) {
    tell(isGivenBack(error) ? 'put-off' : 'failed');
    throw error;
  }
}
