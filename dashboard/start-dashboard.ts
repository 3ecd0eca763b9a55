import type { Redis } from 'ioredis';
import { KEY_PREFIX, connectRedis } from '../queues/connection.ts';
import { QueueSet } from '../queues/queue-set.ts';
import { clockFrom } from '../src/adapters/clock/clock-from.ts';
import { GATEWAYS } from '../src/adapters/gateways/all.ts';
import { listenHttp } from '../src/adapters/http-server.ts';
import { RedisForecastShelf } from '../src/adapters/redis/forecast-shelf.ts';
import { systemTimer } from '../src/adapters/system-timer.ts';
import { ForecastDesk } from '../src/app/forecast-desk.ts';
import type { Environment } from '../src/config/read-config.ts';
import { readConfig } from '../src/config/read-config.ts';
import * as sections from '../src/config/sections.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { Log } from '../src/ports/log.ts';
import type { Metrics } from '../src/ports/metrics.ts';
import { dynamodbAnswers, redisAnswers, watchHealth } from '../src/wiring/health.ts';
import type { RunningRole } from '../src/wiring/role.ts';
import { floatRules } from '../src/wiring/float-rules.ts';
import { openServices } from '../src/wiring/services.ts';
import type { Stores } from '../src/wiring/stores.ts';
import { openStores } from '../src/wiring/stores.ts';
import { createDashboard } from './app.ts';
import { bullBoard } from './board.ts';
import { consoleRoutes, renderTopic } from './console.ts';
import type { ConsoleContext } from './console-context.ts';
import { FloatsDesk } from './floats-desk.ts';
import { Forecasts } from './forecasts.ts';
import { metricsTexts } from './gauges.ts';
import { LiveHub } from './live.ts';
import { OverviewDesk } from './overview.ts';
import { Patience } from './patience.ts';
import { Sessions } from './session.ts';
import { SignInGuard } from './sign-in-guard.ts';

/** Pages that are being made are worth this much waiting. */
const LAST_ANSWERS_MS = 5_000;

export interface RunningDashboard extends RunningRole {
  readonly port: number;
}

export interface DashboardParts {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Of the wall, for sessions. */
  readonly nowMs?: () => number;
}

const configFrom = (environment: Environment) =>
  readConfig(environment, {
    dashboard: sections.dashboard,
    redis: sections.redis,
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
    ownership: sections.ownership,
    services: sections.services,
    processor: sections.processor,
    policy: sections.policy,
    forecast: sections.forecast,
    tiers: sections.tiers,
    floats: sections.floats,
    recurring: sections.recurring,
    rate: sections.workers.pick({ PROCESSOR_RATE_PER_S: true }),
  });

interface Ground {
  readonly config: ReturnType<typeof configFrom>;
  readonly clock: Clock;
  readonly stores: Stores;
  readonly redis: Redis;
  readonly queues: QueueSet;
  readonly parts: Required<DashboardParts>;
}

/** What operators look at. It shows what it can while Redis or DynamoDB is away. */
export async function startDashboard(
  environment: Environment,
  { log, metrics, nowMs = Date.now }: DashboardParts,
): Promise<RunningDashboard> {
  const config = configFrom(environment);
  const { clock, close: closeClock } = await clockFrom(config.clock);
  const stores = openStores(config, clock, log);
  const redis = connectRedis({
    url: config.redis.REDIS_URL,
    whenDown: 'fail',
    onError: (error) => log.warn({ err: error }, 'redis connection'),
  });
  const queues = new QueueSet(redis, { failsFast: true });
  const context = contextOn({ config, clock, stores, redis, queues, parts: { log, metrics, nowMs } });
  const { live, health } = context;
  const tokens = config.dashboard.API_TOKENS;
  const app = createDashboard({
    tokens,
    sessions: new Sessions({ tokens, nowMs }),
    signInGuard: new SignInGuard(systemTimer),
    trustedProxies: config.dashboard.TRUSTED_PROXIES,
    health,
    metrics,
    console: consoleRoutes(context),
    board: bullBoard(queues, log),
    log,
  });
  const server = await listenHttp(app, {
    port: config.dashboard.DASHBOARD_PORT,
    lastAnswersMs: LAST_ANSWERS_MS,
  });
  log.info({ port: server.port }, 'dashboard is up');
  return {
    port: server.port,
    async stop() {
      live.close();
      await server.close();
      await stores.close();
      await closeClock();
      redis.disconnect();
    },
  };
}

function contextOn({ config, clock, stores, redis, queues, parts }: Ground): ConsoleContext {
  const { log, metrics, nowMs } = parts;
  const timer = systemTimer;
  const patience = new Patience(timer, (error) => log.warn({ err: error }, 'a part of a page is missing'));
  const owned = config.ownership.OWNED_USERS;
  const shelf = new RedisForecastShelf(redis, KEY_PREFIX, owned);
  const desk = new ForecastDesk({
    ...stores,
    ...openServices(config),
    ...floatRules(config.floats),
    recurringPolicy: config.recurring,
    policy: config.policy,
    owned,
    clock,
    timer,
    ratePerS: config.forecast.FORECAST_RATE_PER_S,
    shelf,
    log,
  });
  const live: LiveHub = new LiveHub({
    timer,
    render: (topic) => renderTopic(context, topic),
    onFailure: (error) => log.warn({ err: error }, 'live pages were not told'),
  });
  const health = watchHealth(
    { needed: {}, helpful: { dynamodb: dynamodbAnswers(stores), redis: redisAnswers(redis) } },
    { log },
  );
  const texts = metricsTexts(metrics, config.dashboard.METRICS_SOURCES ?? []);
  const context: ConsoleContext = {
    stores,
    queues,
    gateways: GATEWAYS,
    overview: new OverviewDesk({ stores, queues, metricsTexts: texts, clock, timer, patience }),
    forecasts: new Forecasts({ desk, shelf, clock, log, patience }),
    floats: new FloatsDesk({ floats: stores.floats, clock, timer, patience }),
    live,
    health,
    patience,
    owned,
    tiers: config.tiers,
    ratePerS: config.rate.PROCESSOR_RATE_PER_S ?? null,
    clock,
    nowMs,
    log,
  };
  return context;
}
