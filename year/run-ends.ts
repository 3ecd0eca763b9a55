import { QueueEvents } from 'bullmq';
import type { Redis } from 'ioredis';
import { KEY_PREFIX } from '../queues/connection.ts';
import { PAGES_OF_RUN } from '../queues/jobs.ts';
import type { RunId } from '../src/domain/runs.ts';
import type { Timer } from '../src/ports/timer.ts';

/** An event can be lost. Then the store is asked all the same. */
const LOOK_ANYWAY_MS = 1_000;

/** Hears when a run's last page is done: asking the store again and again would keep it from its work. */
export class RunEnds {
  private readonly timer: Timer;
  private readonly streams: readonly QueueEvents[];
  private readonly waiting = new Map<RunId, () => void>();
  private readonly ended = new Set<RunId>();

  private constructor(redis: Redis, timer: Timer) {
    this.timer = timer;
    const names = [...new Set(Object.values(PAGES_OF_RUN))];
    this.streams = names.map((name) => new QueueEvents(name, { connection: redis, prefix: KEY_PREFIX }));
    for (const stream of this.streams)
      stream.on('completed', ({ jobId, returnvalue }) => this.hear(jobId, returnvalue));
  }

  static async listen(redis: Redis, timer: Timer): Promise<RunEnds> {
    const ends = new RunEnds(redis, timer);
    await Promise.all(ends.streams.map((stream) => stream.waitUntilReady()));
    return ends;
  }

  /** Resolves when the run has ended, or when it is worth a look whether it has. */
  async heard(id: RunId): Promise<void> {
    if (this.ended.delete(id)) return;
    const enough = new AbortController();
    const heard = new Promise<void>((resolve) => this.waiting.set(id, resolve));
    await Promise.race([heard, this.timer.sleep(LOOK_ANYWAY_MS, enough.signal).catch(() => undefined)]);
    enough.abort();
    this.waiting.delete(id);
  }

  async close(): Promise<void> {
    await Promise.all(this.streams.map((stream) => stream.close()));
  }

  /** Page jobs are named after their run, their pass and their page. */
  private hear(jobId: string, returned: unknown): void {
    const { then } = returned as { then?: string };
    if (then !== 'over' && then !== 'stopped') return;
    const id = jobId.replace(/\.\d+\.\d+$/, '') as RunId;
    const wake = this.waiting.get(id);
    if (wake === undefined) this.ended.add(id);
    else wake();
  }
}
