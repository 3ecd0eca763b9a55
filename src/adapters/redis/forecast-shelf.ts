import type { Redis } from 'ioredis';
import { z } from 'zod';
import { dateOf } from '../../domain/calendar-date.ts';
import type { Instant } from '../../domain/instant.ts';
import type { OwnedUsers } from '../../domain/ownership.ts';
import type { RunProcess } from '../../domain/runs.ts';
import type { ForecastShelf } from '../../ports/forecasts.ts';
import type { Forecast } from '../../ports/runs.ts';
import { forecast } from '../forecast-codec.ts';

/** Runs of that day are long over by then. */
const KEPT_S = 7 * 86_400;

/** In Redis, because a forecast is not a record: it writes nothing to the tables, and nothing is lost with it. */
export class RedisForecastShelf implements ForecastShelf {
  private readonly redis: Redis;
  private readonly prefix: string;

  /** A forecast of other members than a run considers would only mislead an operator who compares the two. */
  constructor(redis: Redis, keyPrefix: string, owned: OwnedUsers) {
    this.redis = redis;
    const whose = owned.kind === 'range' ? `${owned.from}-${owned.to}` : owned.kind;
    this.prefix = `${keyPrefix}:forecast:${whose}`;
  }

  async put(made: Forecast): Promise<void> {
    const text = JSON.stringify(z.encode(forecast, made));
    await this.redis.set(this.key(made.process, made.asOf), text, 'EX', KEPT_S);
  }

  async find(process: RunProcess, tick: Instant): Promise<Forecast | null> {
    const text = await this.redis.get(this.key(process, tick));
    return text === null ? null : forecastIn(text);
  }

  private key(process: RunProcess, at: Instant): string {
    return `${this.prefix}:${process}:${dateOf(at)}`;
  }
}

/** One that cannot be read is none: it is only shown beside what a run came to, and must not keep it from ending. */
function forecastIn(text: string): Forecast | null {
  try {
    return forecast.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
