import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { JOB_OPTIONS } from '../../queues/options.ts';
import type { QueueName } from '../../queues/queue-names.ts';
import { QueueSet } from '../../queues/queue-set.ts';
import type { Broker, NewJob, StoredJob } from './broker.ts';
import type { SimProcess } from './sim-process.ts';

/** How a process speaks to the broker. */
export interface BrokerWire {
  readonly process: SimProcess;
  readonly broker: Broker;
  /** Sends a command; what it does at the broker happens in one moment. */
  readonly send: <T>(command: () => T) => Promise<T>;
  /** The clock that all workers share. */
  nowMs(): number;
}

/** As much of ioredis as is asked for beside queues: its time, and whether it can be reached. */
export const simRedis = (wire: BrokerWire): Redis => {
  const redis = {
    get status() {
      return wire.broker.isDown ? 'reconnecting' : 'ready';
    },
    time: () =>
      wire.send(() => {
        const ms = Math.floor(wire.nowMs());
        return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000];
      }),
  };
  return redis as unknown as Redis;
};

/** The production queues, and every rule of theirs, on the simulated broker. */
export class SimQueueSet extends QueueSet {
  private readonly wire: BrokerWire;
  private readonly opened = new Map<QueueName, Queue>();

  constructor(wire: BrokerWire) {
    super(simRedis(wire));
    this.wire = wire;
  }

  override get(name: QueueName): Queue {
    let queue = this.opened.get(name);
    if (queue === undefined) {
      queue = simQueue(this.wire, name);
      this.opened.set(name, queue);
    }
    return queue;
  }
}

/** A job as a process holds it: what it read of it, and commands on what is stored by now. */
export function simJob({ broker, send }: BrokerWire, job: StoredJob) {
  const asRead = { ...job };
  return {
    id: job.id,
    name: job.name,
    get data(): object {
      return asRead.data;
    },
    attemptsMade: asRead.attemptsMade,
    attemptsStarted: asRead.attemptsStarted,
    getState: () => send(() => broker.find(job.queue, job.id)?.status ?? 'unknown'),
    isFailed: () => send(() => broker.find(job.queue, job.id)?.status === 'failed'),
    isDelayed: () => send(() => broker.find(job.queue, job.id)?.status === 'delayed'),
    retry: () => send(() => broker.retry(job)),
    remove: () => send(() => broker.remove(job)),
    promote: () => send(() => broker.promote(job)),
    updateData: async (data: object): Promise<void> => {
      await send(() => broker.updateData(job, data));
      asRead.data = data;
    },
    moveToDelayed: (dueMs: number, token: string) => send(() => broker.moveToDelayed(job, token, dueMs)),
    moveToWait: (token: string) => send(() => broker.moveToWait(job, token)),
  };
}

interface ToAdd {
  readonly name: string;
  readonly data: object;
  readonly opts: { readonly jobId: string };
}

function simQueue(wire: BrokerWire, name: QueueName): Queue {
  const { broker, send } = wire;
  const tries = JOB_OPTIONS[name].attempts ?? 1;
  const newJob = ({ name: jobName, data, opts }: ToAdd): NewJob => ({
    id: opts.jobId,
    name: jobName,
    data,
    tries,
  });
  const queue = {
    add: (jobName: string, data: object, opts: ToAdd['opts']) =>
      send(() => broker.add(name, newJob({ name: jobName, data, opts }))),
    addBulk: (jobs: readonly ToAdd[]) =>
      send(() => {
        for (const job of jobs) broker.add(name, newJob(job));
      }),
    getJob: (id: string) =>
      send(() => {
        const found = broker.find(name, id);
        return found === undefined ? undefined : simJob(wire, found);
      }),
    getJobCounts: (...states: string[]) =>
      send(() => {
        const counts: Record<string, number> = broker.counts(name);
        return Object.fromEntries(states.map((state) => [state, counts[state] ?? 0]));
      }),
    rateLimit: (ms: number) => send(() => broker.limit(name, ms)),
    setGlobalConcurrency: (most: number) => send(() => broker.limitActive(name, most)),
    upsertJobScheduler: (
      id: string,
      { pattern }: { readonly pattern: string },
      { name: jobName, data }: { readonly name: string; readonly data: object },
    ) => send(() => broker.schedule(id, name, pattern, { name: jobName, data, tries })),
  };
  return queue as unknown as Queue;
}
