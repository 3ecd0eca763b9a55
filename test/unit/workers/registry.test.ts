import { describe, expect, it } from 'vitest';
import type { QueueName } from '../../../queues/queue-names.ts';
import { QUEUE_NAMES } from '../../../queues/queue-names.ts';
import { Registry } from '../../../workers/registry.ts';

const registration = (queue: QueueName) => ({
  queue,
  processor: () => Promise.resolve(),
  concurrency: 1,
});

const whole = (): Registry => {
  const registry = new Registry();
  for (const queue of QUEUE_NAMES) registry.add(registration(queue));
  return registry;
};

describe('the registry', () => {
  it('serves every queue when it is not told which', () => {
    expect(
      whole()
        .select(undefined)
        .map(({ queue }) => queue),
    ).toEqual(QUEUE_NAMES);
  });

  it('serves those that it is told', () => {
    const chosen = whole().select(['janitor', 'collections-retry']);
    expect(chosen.map(({ queue }) => queue).sort()).toEqual(['collections-retry', 'janitor']);
  });

  it('refuses a queue without a processor, also one that is not asked for', () => {
    const registry = new Registry().add(registration('janitor'));
    expect(() => registry.select(['janitor'])).toThrow('no processor for collection-pages, ');
  });

  it('refuses two processors for a queue', () => {
    expect(() => whole().add(registration('janitor'))).toThrow('queue janitor has two processors');
  });

  it('refuses a name that is no queue, and says what is', () => {
    expect(() => whole().select(['janitor', 'collections-reply'])).toThrow(
      /QUEUES names collections-reply; must be some of collection-pages, .*janitor/,
    );
  });
});
