import type { Random } from '../random.ts';
import { nextCronMs } from './cron.ts';
import type { SimProcess } from './sim-process.ts';
import type { Timeline } from './timeline.ts';

export type JobStatus = 'waiting' | 'active' | 'delayed' | 'completed' | 'failed';

export interface StoredJob {
  readonly queue: string;
  readonly id: string;
  readonly name: string;
  readonly tries: number;
  data: object;
  status: JobStatus;
  attemptsMade: number;
  attemptsStarted: number;
  /** Of a delayed one. */
  dueMs: number;
  /** The worker that has the job proves it with this. */
  token: string | null;
  worker: SimProcess | null;
  failedReason: string | null;
}

export interface NewJob {
  readonly id: string;
  readonly name: string;
  readonly data: object;
  readonly tries: number;
}

interface BrokerQueue {
  readonly jobs: Map<string, StoredJob>;
  readonly waiting: string[];
  /** Done jobs in the order in which they ended: the oldest are forgotten. */
  readonly done: string[];
  active: number;
  limitedUntilMs: number;
  mostActive: number;
}

interface Schedule {
  readonly queue: string;
  readonly job: Omit<NewJob, 'id'>;
  readonly pattern: string;
  nextMs: number;
}

export interface Consumer {
  readonly process: SimProcess;
  /** There may be work. */
  wake(): void;
}

export type BrokerEvent = 'lost' | 'stalled' | 'duplicated' | 'flushed' | 'down';

const DONE_KEPT = 1_000;

export interface BrokerTools {
  /** After so long without a sign of its worker a job is given to another. */
  readonly stallMs: number;
  readonly trace: (what: string) => void;
  readonly onStalled: () => void;
}

/**
 * What BullMQ on Redis promises, and no more: at least once, in no order to rely on, gone with a flush. A job whose
 * worker is silent is given to another while the first may still be at it; an id is taken while a job of that id is
 * kept in any state.
 */
export class Broker {
  private readonly timeline: Timeline;
  private readonly random: Random;
  private readonly stallMs: number;
  private readonly trace: (what: string) => void;
  private readonly onStalled: () => void;
  private readonly queues = new Map<string, BrokerQueue>();
  private readonly schedules = new Map<string, Schedule>();
  private readonly consumers = new Map<string, Consumer[]>();
  private tokens = 0;
  /** Until then it does not answer. */
  private backAtMs = 0;

  constructor(timeline: Timeline, random: Random, { stallMs, trace, onStalled }: BrokerTools) {
    this.timeline = timeline;
    this.random = random;
    this.stallMs = stallMs;
    this.trace = trace;
    this.onStalled = onStalled;
  }

  // ── commands ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  add(queueName: string, job: NewJob): void {
    const queue = this.queue(queueName);
    if (queue.jobs.has(job.id)) return;
    queue.jobs.set(job.id, {
      ...job,
      queue: queueName,
      status: 'waiting',
      attemptsMade: 0,
      attemptsStarted: 0,
      dueMs: 0,
      token: null,
      worker: null,
      failedReason: null,
    });
    queue.waiting.push(job.id);
    this.call(queueName);
  }

  find(queueName: string, id: string): StoredJob | undefined {
    return this.queue(queueName).jobs.get(id);
  }

  remove(job: StoredJob): void {
    const queue = this.queue(job.queue);
    if (queue.jobs.get(job.id) !== job || job.status === 'active')
      throw new Error(`Job ${job.id} could not be removed because it is locked by another worker`);
    this.forget(queue, job);
  }

  promote(job: StoredJob): void {
    if (this.current(job)?.status !== 'delayed') throw new Error(`Job ${job.id} is not in the delayed state`);
    this.toWaiting(job);
  }

  retry(job: StoredJob): void {
    if (this.current(job)?.status !== 'failed') throw new Error(`Job ${job.id} is not in the failed state`);
    job.failedReason = null;
    this.toWaiting(job);
  }

  updateData(job: StoredJob, data: object): void {
    if (this.current(job) === undefined) throw new Error(`Missing key for job ${job.id}. updateData`);
    job.data = data;
  }

  /** By the worker that has it. */
  moveToDelayed(job: StoredJob, token: string, dueMs: number): void {
    this.assertHeld(job, token, 'moveToDelayed');
    this.letGo(job);
    this.delay(job, dueMs);
  }

  moveToWait(job: StoredJob, token: string): void {
    this.assertHeld(job, token, 'moveToWait');
    this.letGo(job);
    this.toWaiting(job);
  }

  complete(job: StoredJob, token: string): void {
    this.assertHeld(job, token, 'moveToFinished');
    this.letGo(job);
    job.status = 'completed';
    this.ended(job);
  }

  /** `unrecoverable`: no more tries, whatever is left of them. */
  fail(
    job: StoredJob,
    token: string,
    why: { readonly reason: string; readonly unrecoverable: boolean; readonly backoffMs: number },
  ): void {
    this.assertHeld(job, token, 'moveToFailed');
    this.letGo(job);
    job.attemptsMade += 1;
    job.failedReason = why.reason;
    if (!why.unrecoverable && job.attemptsMade < job.tries)
      return this.delay(job, this.timeline.nowMs + why.backoffMs);
    job.status = 'failed';
    this.trace(`job failed ${job.queue} ${job.id}: ${why.reason}`);
  }

  counts(queueName: string): Record<JobStatus, number> {
    const counts = { waiting: 0, active: 0, delayed: 0, completed: 0, failed: 0 };
    for (const { status } of this.queue(queueName).jobs.values()) counts[status] += 1;
    return counts;
  }

  limit(queueName: string, forMs: number): void {
    const queue = this.queue(queueName);
    queue.limitedUntilMs = Math.max(queue.limitedUntilMs, this.timeline.nowMs + forMs);
    this.timeline.after(forMs, () => this.call(queueName));
  }

  limitActive(queueName: string, most: number): void {
    this.queue(queueName).mostActive = most;
  }

  schedule(id: string, queue: string, pattern: string, job: Omit<NewJob, 'id'>): void {
    if (this.schedules.has(id)) return;
    const schedule = { queue, pattern, job, nextMs: nextCronMs(pattern, this.timeline.nowMs) };
    this.schedules.set(id, schedule);
    this.awaitTick(id, schedule);
  }

  // ── workers ────────────────────────────────────────────────────────────────────────────────────────────────────────────

  listen(queueName: string, consumer: Consumer): void {
    const alive = (this.consumers.get(queueName) ?? []).filter(({ process }) => process.isAlive);
    this.consumers.set(queueName, [...alive, consumer]);
    this.call(queueName);
  }

  /** The next job for this worker, with the proof that it was given to it. */
  take(queueName: string, worker: SimProcess): { readonly job: StoredJob; readonly token: string } | null {
    const queue = this.queue(queueName);
    if (this.isDown || this.timeline.nowMs < queue.limitedUntilMs) return null;
    if (queue.active >= queue.mostActive) return null;
    for (let id = queue.waiting.shift(); id !== undefined; id = queue.waiting.shift()) {
      const job = queue.jobs.get(id);
      if (job?.status !== 'waiting') continue;
      const token = `t${(this.tokens += 1)}`;
      Object.assign(job, { status: 'active', token, worker, attemptsStarted: job.attemptsStarted + 1 });
      queue.active += 1;
      return { job, token };
    }
    return null;
  }

  /** The process is silent for `forMs` or for ever: its jobs are given to other workers when that is noticed. */
  noticeSilence(process: SimProcess, forMs: number): void {
    if (forMs < this.stallMs) return;
    for (const queue of this.queues.values()) {
      for (const job of queue.jobs.values()) {
        if (job.worker !== process || job.status !== 'active') continue;
        const { token } = job;
        const noticedMs = this.stallMs * (1 + this.random.next());
        this.timeline.after(noticedMs, () => this.reclaim(job, token, 'stalled'));
      }
    }
  }

  get isDown(): boolean {
    return this.timeline.nowMs < this.backAtMs;
  }

  /** When a command that is sent now can be carried out. */
  get downForMs(): number {
    return Math.max(0, this.backAtMs - this.timeline.nowMs);
  }

  /** Whether nothing is to be done before `untilMs`. */
  isIdleUntil(untilMs: number): boolean {
    for (const { jobs } of this.queues.values())
      for (const { status, dueMs } of jobs.values())
        if (status === 'waiting' || status === 'active' || (status === 'delayed' && dueMs < untilMs))
          return false;
    return true;
  }

  // ── what goes wrong ────────────────────────────────────────────────────────────────────────────────────────────────────

  flush(): void {
    this.queues.clear();
    this.schedules.clear();
  }

  goDown(forMs: number): void {
    this.backAtMs = Math.max(this.backAtMs, this.timeline.nowMs + forMs);
    this.timeline.after(forMs, () => {
      for (const queue of this.queues.keys()) this.call(queue);
    });
  }

  /** One job that waits is gone, as after a failover to a replica that was behind. */
  loseOne(): boolean {
    const job = this.any(({ status }) => status === 'waiting' || status === 'delayed');
    if (job === null) return false;
    this.forget(this.queue(job.queue), job);
    return true;
  }

  /** One job is given to a second worker although the first is at it. */
  duplicateOne(): boolean {
    const job = this.any(({ status }) => status === 'active');
    if (job === null) return false;
    this.reclaim(job, job.token, 'duplicated');
    return true;
  }

  // ── inside ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

  private queue(name: string): BrokerQueue {
    let queue = this.queues.get(name);
    if (queue === undefined) {
      queue = { jobs: new Map(), waiting: [], done: [], active: 0, limitedUntilMs: 0, mostActive: Infinity };
      this.queues.set(name, queue);
    }
    return queue;
  }

  private any(fits: (job: StoredJob) => boolean): StoredJob | null {
    const found = [...this.queues.values()].flatMap(({ jobs }) => [...jobs.values()].filter(fits));
    return found.length === 0 ? null : this.random.pick(found);
  }

  private current(job: StoredJob): StoredJob | undefined {
    const found = this.queues.get(job.queue)?.jobs.get(job.id);
    return found === job ? found : undefined;
  }

  private assertHeld(job: StoredJob, token: string, command: string): void {
    if (this.current(job) === undefined) throw new Error(`Missing key for job ${job.id}. ${command}`);
    if (job.token !== token) throw new Error(`Missing lock for job ${job.id}. ${command}`);
  }

  private letGo(job: StoredJob): void {
    this.queue(job.queue).active -= 1;
    Object.assign(job, { token: null, worker: null });
    this.call(job.queue);
  }

  private toWaiting(job: StoredJob): void {
    job.status = 'waiting';
    this.queue(job.queue).waiting.push(job.id);
    this.call(job.queue);
  }

  private delay(job: StoredJob, dueMs: number): void {
    Object.assign(job, { status: 'delayed', dueMs });
    this.timeline.after(dueMs - this.timeline.nowMs, () => {
      if (this.current(job)?.status === 'delayed' && job.dueMs === dueMs) this.toWaiting(job);
    });
  }

  private ended(job: StoredJob): void {
    const queue = this.queue(job.queue);
    queue.done.push(job.id);
    const oldest = queue.done.length > DONE_KEPT ? queue.jobs.get(queue.done.shift() ?? '') : undefined;
    if (oldest?.status === 'completed') this.forget(queue, oldest);
  }

  private forget(queue: BrokerQueue, job: StoredJob): void {
    queue.jobs.delete(job.id);
  }

  private reclaim(job: StoredJob, token: string | null, why: BrokerEvent): void {
    if (this.current(job)?.status !== 'active' || job.token !== token) return;
    this.trace(`job ${why} ${job.queue} ${job.id}`);
    if (why === 'stalled') this.onStalled();
    this.letGo(job);
    this.toWaiting(job);
  }

  private call(queueName: string): void {
    for (const consumer of this.consumers.get(queueName) ?? []) if (consumer.process.isAlive) consumer.wake();
  }

  private awaitTick(id: string, schedule: Schedule): void {
    this.timeline.after(schedule.nextMs - this.timeline.nowMs, () => {
      if (this.schedules.get(id) !== schedule) return;
      this.add(schedule.queue, { ...schedule.job, id: `repeat:${id}:${schedule.nextMs}` });
      // There is no catching up: what was missed is passed over.
      schedule.nextMs = nextCronMs(schedule.pattern, this.timeline.nowMs);
      this.awaitTick(id, schedule);
    });
  }
}
