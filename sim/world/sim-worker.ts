import { DelayedError, RateLimitError, UnrecoverableError, WaitingError } from 'bullmq';
import type { Job } from 'bullmq';
import { backoffMs } from '../../queues/options.ts';
import type { Registration } from '../../workers/registry.ts';
import type { StoredJob } from './broker.ts';
import type { BrokerWire } from './sim-queues.ts';
import { simJob } from './sim-queues.ts';

/** Between the broker's call and the worker's taking of the job. */
const WAKE_MS = 1;

export interface WorkerTrace {
  (what: string): void;
}

/** What a BullMQ worker does with a processor: takes jobs, as many at once as it may, and tells the broker how each ended. */
export class SimWorker {
  private readonly wire: BrokerWire;
  private readonly registration: Registration;
  private readonly trace: WorkerTrace;
  private running = 0;
  private isWoken = false;

  constructor(wire: BrokerWire, registration: Registration, trace: WorkerTrace) {
    this.wire = wire;
    this.registration = registration;
    this.trace = trace;
    wire.broker.listen(registration.queue, { process: wire.process, wake: () => this.wake() });
  }

  private wake(): void {
    if (this.isWoken) return;
    this.isWoken = true;
    this.wire.process.deliver(WAKE_MS, () => {
      this.isWoken = false;
      this.takeMore();
    });
  }

  private takeMore(): void {
    const { broker, process } = this.wire;
    while (this.running < this.registration.concurrency) {
      const taken = broker.take(this.registration.queue, process);
      if (taken === null) return;
      this.running += 1;
      void this.run(taken.job, taken.token);
    }
  }

  private async run(job: StoredJob, token: string): Promise<void> {
    const { queue, processor } = this.registration;
    const { send } = this.wire;
    try {
      const held = simJob(this.wire, job) as unknown as Job;
      const result = await processor({ job: held, token, queue }).then(
        () => null,
        (error: unknown) => error as Error,
      );
      await send(() => this.end(job, token, result));
    } catch (error) {
      // The job is another worker's by now, or gone with a flush: BullMQ says so in an event and goes on.
      this.trace(`job not ended ${queue} ${job.id}: ${(error as Error).message}`);
    } finally {
      this.running -= 1;
      this.wake();
    }
  }

  private end(job: StoredJob, token: string, error: Error | null): void {
    const { broker } = this.wire;
    if (error === null) return broker.complete(job, token);
    // A processor that throws these has given the job back already.
    if (error instanceof DelayedError || error instanceof WaitingError) return;
    if (error instanceof RateLimitError) return broker.moveToWait(job, token);
    this.trace(`job try failed ${job.queue} ${job.id}: ${error.message}`);
    broker.fail(job, token, {
      reason: error.message,
      unrecoverable: error instanceof UnrecoverableError,
      backoffMs: backoffMs(job.attemptsMade + 1),
    });
  }
}
