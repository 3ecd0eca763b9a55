import { KEY_PREFIX, connectRedis } from '../queues/connection.ts';
import { QueueSet } from '../queues/queue-set.ts';
import { QUEUE_NAMES } from '../queues/queue-names.ts';
import { clockFrom } from '../src/adapters/clock/clock-from.ts';
import { openMetricsServer } from '../src/adapters/metrics/metrics-server.ts';
import { RedisForecastShelf } from '../src/adapters/redis/forecast-shelf.ts';
import { systemTimer } from '../src/adapters/system-timer.ts';
import type { Environment } from '../src/config/read-config.ts';
import { readConfig } from '../src/config/read-config.ts';
import * as sections from '../src/config/sections.ts';
import { StoppingError } from '../src/errors.ts';
import type { Log } from '../src/ports/log.ts';
import type { Metrics } from '../src/ports/metrics.ts';
import type { ProcessorGate } from '../src/ports/processor-gate.ts';
import type { OnStep } from '../src/ports/steps.ts';
import { openCharging, refuseShortLease } from '../src/wiring/charging.ts';
import { dynamodbAnswers, redisAnswers, watchHealth } from '../src/wiring/health.ts';
import { openServices } from '../src/wiring/services.ts';
import { openStores } from '../src/wiring/stores.ts';
import { registryOf } from './processors.ts';
import { workerContext } from './context.ts';
import type { RunningRole } from '../src/wiring/role.ts';
import { WorkerPool } from './worker-pool.ts';

export interface WorkerTools {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where tests make the process die. */
  readonly onStep?: OnStep;
}

/** Collection workers, page workers and the janitor of one process, or those of them that `QUEUES` names. */
export async function startWorkers(environment: Environment, tools: WorkerTools): Promise<RunningRole> {
  const config = readConfig(environment, {
    redis: sections.redis,
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
    services: sections.services,
    processor: sections.processor,
    policy: sections.policy,
    floats: sections.floats,
    recurring: sections.recurring,
    ownership: sections.ownership,
    tiers: sections.tiers,
    workers: sections.workers,
  });
  refuseShortLease(config);
  const { log, metrics } = tools;
  const clockSource = await clockFrom(config.clock);
  const { clock } = clockSource;
  const stores = openStores(config, clock, log);
  const redis = connectRedis({
    url: config.redis.REDIS_URL,
    whenDown: 'wait',
    onError: (error) => log.warn({ err: error }, 'redis connection'),
  });
  const queues = new QueueSet(redis);
  const stopping = new AbortController();
  const services = openServices(config);
  const charging = openCharging(
    services.processor,
    { ...config, ratePerS: config.workers.PROCESSOR_RATE_PER_S },
    { redis, keyPrefix: KEY_PREFIX, timer: systemTimer, metrics, log },
  );
  const shelf = new RedisForecastShelf(redis, KEY_PREFIX, config.ownership.OWNED_USERS);
  const context = workerContext({
    config,
    stores,
    services,
    charging: { ...charging, gate: untilStopping(charging.gate, stopping.signal) },
    clock,
    timer: systemTimer,
    queues,
    redis,
    forecastOf: (process, tick) => shelf.find(process, tick),
    onStep: tools.onStep ?? (() => undefined),
    log,
    metrics,
  });
  const registrations = registryOf(context, config.workers).select(config.workers.QUEUES);
  const health = watchHealth(
    { needed: { dynamodb: dynamodbAnswers(stores), redis: redisAnswers(redis) } },
    { log },
  );
  const { METRICS_PORT } = config.workers;
  // Before Redis is waited for: a probe is told meanwhile what is missing.
  const server =
    METRICS_PORT === undefined ? null : await openMetricsServer({ port: METRICS_PORT, metrics, health, log });
  await queues.limitCollections(config.workers.COLLECTION_CONCURRENCY);
  metrics.onQueueDepth(() => queues.depths(QUEUE_NAMES));
  const pool = new WorkerPool({ context, registrations, stallMs: config.workers.QUEUE_STALL_MS });
  await pool.ready();
  log.info({ queues: registrations.map(({ queue }) => queue) }, 'workers are up');
  return {
    async stop() {
      stopping.abort();
      await pool.stop();
      await stores.close();
      await clockSource.close();
      await server?.close();
      redis.disconnect();
    },
  };
}

/** A job that has not begun its charge when the process is asked to stop is left to another process. */
const untilStopping = (gate: ProcessorGate, stopping: AbortSignal): ProcessorGate => ({
  glance: () => gate.glance(),
  async enter(signal) {
    if (stopping.aborted) throw new StoppingError('this process is about to stop');
    await gate.enter(signal);
  },
  goOn: (signal) => gate.goOn(signal),
});
