import { Redis } from 'ioredis';

export interface RedisFinding {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly remedy?: string;
}

const OLDEST = [6, 2] as const;

/** Whether this Redis can be trusted with jobs. Throws when it does not answer. */
export async function inspectRedis(url: string): Promise<RedisFinding[]> {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: 3_000,
  });
  // connect() only says that the connection is closed; why is told to the listener.
  let reason: Error | null = null;
  redis.on('error', (error) => (reason = error));
  try {
    await redis.connect().catch((error: unknown) => {
      throw reason ?? error;
    });
    return [await version(redis), await eviction(redis), await persistence(redis)];
  } finally {
    redis.disconnect();
  }
}

async function version(redis: Redis): Promise<RedisFinding> {
  const found = /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown';
  const [major = 0, minor = 0] = found.split('.').map(Number);
  const ok = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  return { what: 'version', ok, detail: found, remedy: `use ${OLDEST.join('.')} or newer` };
}

/** A Redis that evicts drops queued jobs without a word. */
async function eviction(redis: Redis): Promise<RedisFinding> {
  const policy = await setting(redis, 'maxmemory-policy');
  return {
    what: 'maxmemory-policy',
    ok: policy === 'noeviction',
    detail: policy,
    remedy: 'set it to noeviction',
  };
}

async function persistence(redis: Redis): Promise<RedisFinding> {
  const appendOnly = await setting(redis, 'appendonly');
  return {
    what: 'appendonly',
    ok: appendOnly === 'yes',
    detail: appendOnly,
    remedy: 'set it to yes: a restart then keeps queued jobs',
  };
}

/** Hosted Redis often forbids CONFIG. */
async function setting(redis: Redis, name: string): Promise<string> {
  try {
    const answer = (await redis.config('GET', name)) as unknown;
    const values = Array.isArray(answer) ? (answer as unknown[]) : Object.values(answer as object);
    return String(values.at(-1) ?? 'unknown');
  } catch {
    return 'unknown (CONFIG is not allowed)';
  }
}
