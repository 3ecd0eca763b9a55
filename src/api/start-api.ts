import { randomUUID } from 'node:crypto';
import type { Express } from 'express';
import type { Redis } from 'ioredis';
import { KEY_PREFIX, becomesReady, connectRedis } from '../../queues/connection.ts';
import { QueueSet } from '../../queues/queue-set.ts';
import { clockFrom } from '../adapters/clock/clock-from.ts';
import { isPassing } from '../adapters/dynamodb/transaction.ts';
import { GATEWAYS } from '../adapters/gateways/all.ts';
import type { GatewaySettings } from '../adapters/gateways/gateway-adapter.ts';
import { listenHttp } from '../adapters/http-server.ts';
import { RedisForecastShelf } from '../adapters/redis/forecast-shelf.ts';
import { RedisRateLimitStore } from '../adapters/redis/rate-limit-store.ts';
import { systemTimer } from '../adapters/system-timer.ts';
import { ForecastDesk } from '../app/forecast-desk.ts';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { OnStep } from '../ports/steps.ts';
import type { RunningRole } from '../wiring/role.ts';
import { openCharging, refuseShortLease } from '../wiring/charging.ts';
import { dynamodbAnswers, redisAnswers, watchHealth } from '../wiring/health.ts';
import { floatRules } from '../wiring/float-rules.ts';
import { openServices } from '../wiring/services.ts';
import type { Stores } from '../wiring/stores.ts';
import { openStores } from '../wiring/stores.ts';
import { createApi } from './app.ts';
import { withIdempotency } from './idempotency.ts';
import { limitRate } from './rate-limit.ts';
import type { Route } from './route.ts';
import { batchRoutes } from './routes/batch.ts';
import { bypassRoutes } from './routes/bypasses.ts';
import { floatRoutes } from './routes/floats.ts';
import { floatExplainRoutes } from './routes/float-explain.ts';
import { forecastRoutes } from './routes/forecast.ts';
import { freezeRoutes } from './routes/freezes.ts';
import { gatewayOperationRoutes } from './routes/gateway-operations.ts';
import type { OpenGateway } from './routes/gateway-webhooks.ts';
import { gatewayWebhooks } from './routes/gateway-webhooks.ts';
import { gatewayRoutes } from './routes/gateways.ts';
import { membershipRoutes } from './routes/memberships.ts';
import { paymentRoutes } from './routes/payments.ts';
import { quarantineRoutes } from './routes/quarantine.ts';
import { recurringExplainRoutes } from './routes/recurring-explain.ts';
import { recurringRoutes } from './routes/recurring.ts';
import { requestRoutes } from './routes/requests.ts';
import { runRoutes } from './routes/runs.ts';
import { signalRoutes } from './routes/signals.ts';
import { subscriptionRoutes } from './routes/subscriptions.ts';

/** Longer than load balancers keep an idle connection: if we close first while the balancer sends, a request is lost. */
const KEEP_ALIVE_MS = 65_000;
/** Answers what is being asked, for a while. */
const LAST_ANSWERS_MS = 10_000;

export interface RunningApi extends RunningRole {
  readonly port: number;
}

export interface ApiTools {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where tests make a charge die. */
  readonly onStep?: OnStep;
}

const configFrom = (environment: Environment) =>
  readConfig(environment, {
    api: sections.api,
    redis: sections.redis,
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
    ownership: sections.ownership,
    services: sections.services,
    processor: sections.processor,
    policy: sections.policy,
    floats: sections.floats,
    forecast: sections.forecast,
    tiers: sections.tiers,
    recurring: sections.recurring,
    gateways: sections.gateways,
    rate: sections.workers.pick({ PROCESSOR_RATE_PER_S: true }),
  });

type ApiConfig = ReturnType<typeof configFrom>;

/** What the routes stand on. */
interface Ground {
  readonly config: ApiConfig;
  readonly clock: Clock;
  readonly stores: Stores;
  readonly redis: Redis;
  readonly queues: QueueSet;
  readonly tools: Required<ApiTools>;
}

/** The REST API. It answers while Redis is away: what it promises is stored in DynamoDB first. */
export async function startApi(
  environment: Environment,
  { log, metrics, onStep = () => undefined }: ApiTools,
): Promise<RunningApi> {
  const config = configFrom(environment);
  refuseShortLease(config);
  const { clock, close: closeClock } = await clockFrom(config.clock);
  const stores = openStores(config, clock, log);
  const redis = connectRedis({
    url: config.redis.REDIS_URL,
    whenDown: 'fail',
    onError: (error) => log.warn({ err: error }, 'redis connection'),
  });
  const queues = new QueueSet(redis, { failsFast: true });
  const app = await appOn({ config, clock, stores, redis, queues, tools: { log, metrics, onStep } });
  // Wait up to 2 s for Redis before listening: requests accepted without it get their jobs only from the sweep.
  await becomesReady(redis);
  const server = await listenHttp(app, {
    port: config.api.PORT,
    keepAliveMs: KEEP_ALIVE_MS,
    lastAnswersMs: LAST_ANSWERS_MS,
  });
  log.info({ port: server.port }, 'api is up');
  return {
    port: server.port,
    async stop() {
      await server.close();
      await stores.close();
      await closeClock();
      redis.disconnect();
    },
  };
}

async function appOn(ground: Ground): Promise<Express> {
  const { config, clock, stores, redis, tools } = ground;
  const { log, metrics } = tools;
  const dependencies = dependenciesOn(ground);
  const gateways = gatewaysOn(ground, dependencies);
  const routes = [
    ...collectingRoutes(ground, dependencies),
    ...operatingRoutes(ground, dependencies),
    ...gatewayRoutes(gateways),
    ...gatewayOperationRoutes(gateways),
  ];
  return createApi({
    routes: routes.map((route) => withIdempotency(route, { keys: stores.idempotencyKeys, clock })),
    webhooks: gatewayWebhooks(gateways, await openGateways(config.gateways, log)),
    tokens: config.api.API_TOKENS,
    health: watchHealth(
      { needed: { dynamodb: dynamodbAnswers(stores) }, helpful: { redis: redisAnswers(redis) } },
      { log },
    ),
    rateLimit: limitRate(config.api.API_RATE_PER_MINUTE, new RedisRateLimitStore(redis, KEY_PREFIX), log),
    metrics,
    isStoreDown: isPassing,
    log,
  });
}

const dependenciesOn = ({ config, clock, stores, queues, tools: { log } }: Ground) => ({
  ...stores,
  ...openServices(config),
  ...floatRules(config.floats),
  recurringPolicy: config.recurring,
  policy: config.policy,
  clock,
  timer: systemTimer,
  log,
  owned: config.ownership.OWNED_USERS,
  enqueue: queues.addRequest.bind(queues),
});

type Dependencies = ReturnType<typeof dependenciesOn>;

const gatewaysOn = ({ queues }: Ground, dependencies: Dependencies) => ({
  ...dependencies,
  gateways: GATEWAYS,
  ids: randomUUID,
  enqueueGatewayEvent: queues.ensureGatewayEvent.bind(queues),
});

/** What is said and asked about members, and what they pay. */
function collectingRoutes({ config, redis, tools }: Ground, dependencies: Dependencies): Route[] {
  const { log, metrics, onStep } = tools;
  const charging = openCharging(
    dependencies.processor,
    { ...config, ratePerS: config.rate.PROCESSOR_RATE_PER_S },
    { redis, keyPrefix: KEY_PREFIX, timer: systemTimer, metrics, log },
  );
  const memberships = {
    ...dependencies,
    ...charging,
    tiers: config.tiers,
    processorTimeoutMs: config.processor.PROCESSOR_TIMEOUT_MS,
    onStep,
  };
  return [
    ...signalRoutes(dependencies),
    ...requestRoutes(dependencies),
    ...paymentRoutes(dependencies),
    ...subscriptionRoutes(dependencies),
    ...membershipRoutes(memberships),
    ...floatRoutes({ ...dependencies, floatLimits: config.floats.floatLimits }),
    ...floatExplainRoutes(dependencies),
    ...bypassRoutes(dependencies),
    ...recurringRoutes({ ...dependencies, onStep }),
    ...recurringExplainRoutes(dependencies),
  ];
}

/** What operators look at, start and stop. */
function operatingRoutes({ config, redis, queues }: Ground, dependencies: Dependencies): Route[] {
  const desk = new ForecastDesk({
    ...dependencies,
    ratePerS: config.forecast.FORECAST_RATE_PER_S,
    shelf: new RedisForecastShelf(redis, KEY_PREFIX, dependencies.owned),
  });
  return [
    ...runRoutes({ ...dependencies, wake: queues.ensurePage.bind(queues) }),
    ...forecastRoutes({ desk, ...dependencies }),
    ...batchRoutes(dependencies),
    ...freezeRoutes(dependencies),
    ...quarantineRoutes({ ...dependencies, ensureEvent: queues.ensureEvent.bind(queues) }),
  ];
}

const openGateways = (settings: GatewaySettings, log: Log): Promise<OpenGateway[]> =>
  Promise.all(GATEWAYS.map(async (gateway) => ({ gateway, verify: await gateway.open(settings, log) })));
