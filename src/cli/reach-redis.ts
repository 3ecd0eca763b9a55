import type { Redis } from 'ioredis';
import type { QueueSet } from '../../queues/queue-set.ts';

/* The clients of Redis take long to load: a command that does not come this far does not wait for them. */

const LIMIT_MS = 2_000;

/** A connection, or null when Redis does not answer soon. Nothing that a command does depends on Redis alone. */
export async function reachRedis(url: string): Promise<Redis | null> {
  const { becomesReady, connectRedis } = await import('../../queues/connection.ts');
  const redis = connectRedis({ url, whenDown: 'fail', onError: () => undefined });
  if (await becomesReady(redis)) return redis;
  redis.disconnect();
  return null;
}

export async function queuesOn(redis: Redis): Promise<QueueSet> {
  const queues = await import('../../queues/queue-set.ts');
  return new queues.QueueSet(redis, { failsFast: true });
}

/** What Redis says, or null when it says nothing soon: a command that is under way would wait for it to come back. */
export async function soon<T>(answer: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), LIMIT_MS);
  });
  try {
    return await Promise.race([answer, tooLate]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
