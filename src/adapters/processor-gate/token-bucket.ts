import type { Redis } from 'ioredis';

/*
 * Charges leave in even steps, however many workers there are: the key holds the moment at which the next one may go,
 * by Redis' own clock. A charge that would have to wait longer than its caller allows takes no place.
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local turn = math.max(now, tonumber(redis.call('GET', KEYS[1]) or '0'))
local wait = turn - now
if wait > tonumber(ARGV[2]) then return {0, math.ceil(wait)} end
redis.call('SET', KEYS[1], string.format('%.3f', turn + tonumber(ARGV[1])), 'PX', math.ceil(wait + ARGV[1]) + 1000)
return {1, math.ceil(wait)}
`;

const LOOK = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
return math.max(0, math.ceil(tonumber(redis.call('GET', KEYS[1]) or '0') - now))
`;

export interface TokenBucketOptions {
  readonly redis: Redis;
  readonly key: string;
  readonly ratePerS: number;
}

export interface Turn {
  /** False: it would have taken longer than asked for, and no place was taken. */
  readonly granted: boolean;
  readonly waitMs: number;
}

/** One for all queues and workers. */
export class TokenBucket {
  private readonly options: TokenBucketOptions;

  constructor(options: TokenBucketOptions) {
    this.options = options;
  }

  /** How long a charge that came now would have to wait. */
  async waitMs(): Promise<number> {
    const { redis, key } = this.options;
    return (await redis.eval(LOOK, 1, key)) as number;
  }

  async take(patienceMs: number): Promise<Turn> {
    const { redis, key, ratePerS } = this.options;
    const answer = (await redis.eval(TAKE, 1, key, 1_000 / ratePerS, patienceMs)) as [number, number];
    return { granted: answer[0] === 1, waitMs: answer[1] };
  }
}
