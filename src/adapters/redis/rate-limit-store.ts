import type { IncrementResponse, Options, Store } from 'express-rate-limit';
import type { Redis } from 'ioredis';

/**
 * Counts calls in Redis, so that all API processes count together. Fails while Redis is away: the rate limit then lets
 * calls pass.
 */
export class RedisRateLimitStore implements Store {
  private readonly redis: Redis;
  readonly prefix: string;
  private windowMs = 0;

  constructor(redis: Redis, prefix: string) {
    this.redis = redis;
    this.prefix = prefix;
  }

  init({ windowMs }: Options): void {
    this.windowMs = windowMs;
  }

  async increment(key: string): Promise<IncrementResponse> {
    const counter = this.key(key);
    const replies = await this.redis
      .multi()
      .set(counter, 0, 'PX', this.windowMs, 'NX')
      .incr(counter)
      .pttl(counter)
      .exec();
    const [, [, totalHits] = [], [, leftMs] = []] = replies ?? [];
    return { totalHits: Number(totalHits), resetTime: new Date(Date.now() + Number(leftMs)) };
  }

  async decrement(key: string): Promise<void> {
    await this.redis.decr(this.key(key));
  }

  async resetKey(key: string): Promise<void> {
    await this.redis.del(this.key(key));
  }

  private key(key: string): string {
    return `${this.prefix}:rate:${key}`;
  }
}
