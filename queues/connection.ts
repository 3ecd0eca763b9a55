import { once } from 'node:events';
import { Redis } from 'ioredis';

/** All keys share one hash tag, so that a cluster keeps them on one node, where scripts over several keys work. */
export const KEY_PREFIX = '{collections}';

/** Right after a failover or a restart Redis answers these. A new connection and the same command again cure it. */
const IS_TURNING = /^(READONLY|LOADING|UNBLOCKED)/;
const RECONNECT_AND_RESEND = 2;
const LONGEST_WAIT_MS = 2_000;
/** A Redis that hangs does not refuse: without a limit its callers hang along. */
const ANSWER_LIMIT_MS = 2_000;

export interface ConnectionOptions {
  readonly url: string;
  /**
   * `wait`: commands wait for Redis to come back; for workers, which can do nothing without it. `fail`: they fail at
   * once, and soon where Redis hangs; for processes that have stored what was asked of them and must answer.
   */
  readonly whenDown: 'wait' | 'fail';
  readonly onError: (error: Error) => void;
}

/** The one way to connect. Every connection needs the same cures. */
export function connectRedis({ url, whenDown, onError }: ConnectionOptions): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    enableOfflineQueue: whenDown === 'wait',
    reconnectOnError: (error) => (IS_TURNING.test(error.message) ? RECONNECT_AND_RESEND : false),
    retryStrategy: (tries) => Math.min(LONGEST_WAIT_MS, 50 * 2 ** Math.min(tries, 10)),
    connectTimeout: 5_000,
    ...(whenDown === 'fail' ? { commandTimeout: ANSWER_LIMIT_MS } : {}),
  });
  redis.on('error', onError);
  return redis;
}

/** False when a new connection is refused, or is not there soon. */
export async function becomesReady(redis: Redis): Promise<boolean> {
  if (redis.status === 'ready') return true;
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    return true;
  } catch {
    return false;
  }
}

/** By the clock that all workers share. Their own may differ by more than a lease. */
export async function redisTimeMs(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}
