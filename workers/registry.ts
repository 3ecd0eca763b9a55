import type { QueueName } from '../queues/queue-names.ts';
import { QUEUE_NAMES, isQueueName } from '../queues/queue-names.ts';
import { ConfigurationError } from '../src/errors.ts';
import type { Processor } from './job.ts';

export interface Registration {
  readonly queue: QueueName;
  readonly processor: Processor;
  /** Jobs at once in this process. */
  readonly concurrency: number;
}

/** Which processor serves which queue. A queue without a processor, or with two, is found at the start and not at night. */
export class Registry {
  private readonly byQueue = new Map<QueueName, Registration>();

  add(registration: Registration): this {
    if (this.byQueue.has(registration.queue))
      throw new Error(`queue ${registration.queue} has two processors`);
    this.byQueue.set(registration.queue, registration);
    return this;
  }

  /** Those that this process is to serve; all when it does not say. */
  select(wanted: readonly string[] | undefined): Registration[] {
    const orphans = QUEUE_NAMES.filter((queue) => !this.byQueue.has(queue));
    if (orphans.length > 0) throw new Error(`no processor for ${orphans.join(', ')}`);
    const names = wanted ?? QUEUE_NAMES;
    const unknown = names.filter((name) => !isQueueName(name));
    if (unknown.length > 0) {
      throw new ConfigurationError(
        `bad configuration:\n  QUEUES names ${unknown.join(', ')}; must be some of ${QUEUE_NAMES.join(', ')}`,
      );
    }
    return [...this.byQueue.values()].filter(({ queue }) => names.includes(queue));
  }
}
