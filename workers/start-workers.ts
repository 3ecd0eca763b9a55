import type { z } from 'zod';
import { KEY_PREFIX, connectRedis } from '../queues/connection.ts';
import { QueueSet } from '../queues/queue-set.ts';
import { QUEUE_NAMES } from '../queues/queue-names.ts';
import { clockFrom } from '../src/adapters/clock/clock-from.ts';
import { openMetricsServer } from '../src/adapters/metrics/metrics-server.ts';
import { CircuitBreaker } from '../src/adapters/processor-gate/circuit-breaker.ts';
import { SharedProcessorGate } from '../src/adapters/processor-gate/processor-gate.ts';
import { TokenBucket } from '../src/adapters/processor-gate/token-bucket.ts';
import { WatchedProcessor } from '../src/adapters/processor-gate/watched-processor.ts';
import { RedisForecastShelf } from '../src/adapters/redis/forecast-shelf.ts';
import { systemTimer } from '../src/adapters/system-timer.ts';
import { leaseForCharge } from '../src/app/move-money.ts';
import type { Environment } from '../src/config/read-config.ts';
import { readConfig } from '../src/config/read-config.ts';
import * as sections from '../src/config/sections.ts';
import { ConfigurationError, StoppingError } from '../src/errors.ts';
import type { Log } from '../src/ports/log.ts';
import type { Metrics } from '../src/ports/metrics.ts';
import type { ProcessorGate } from '../src/ports/processor-gate.ts';
import type { OnStep } from '../src/ports/steps.ts';
import { openServices } from '../src/wiring/services.ts';
import { openStores } from '../src/wiring/stores.ts';
import type { WorkerContext } from './context.ts';
import { registryOf } from './processors.ts';
import type { RunningRole } from '../src/wiring/role.ts';
import { WorkerPool } from './worker-pool.ts';

export interface WorkerTools {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Where tests make the process die. */
  readonly onStep?: OnStep;
}

/** So many charges without any answer, one after the other, are no accident. */
const FAILURES_TO_OPEN = 5;
const BREAKER_OPEN_MS = 10_000;

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
    ownership: sections.ownership,
    tiers: sections.tiers,
    workers: sections.workers,
  });
  refuseShortLease(config);
  const { log, metrics } = tools;
  const clockSource = await clockFrom(config.clock);
  const { clock } = clockSource;
  const stores = openStores(config, clock);
  const redis = connectRedis({
    url: config.redis.REDIS_URL,
    whenDown: 'wait',
    onError: (error) => log.warn({ err: error }, 'redis connection'),
  });
  const queues = new QueueSet(redis);
  const stopping = new AbortController();
  const breaker = new CircuitBreaker({
    timer: systemTimer,
    failuresToOpen: FAILURES_TO_OPEN,
    openMs: BREAKER_OPEN_MS,
    probeMs: config.processor.PROCESSOR_TIMEOUT_MS,
    onChange: (state) => {
      metrics.processorBreaker(state);
      log.warn({ state }, 'the processor breaker');
    },
  });
  const services = openServices(config);
  const collect = {
    ...stores,
    ...services,
    processor: new WatchedProcessor(services.processor, breaker, metrics),
    gate: untilStopping(gateOf(config.workers, { redis, breaker }), stopping.signal),
    policy: config.policy,
    clock,
    timer: systemTimer,
    processorTimeoutMs: config.processor.PROCESSOR_TIMEOUT_MS,
    onStep: tools.onStep ?? (() => undefined),
  };
  const shelf = new RedisForecastShelf(redis, KEY_PREFIX);
  const context: WorkerContext = {
    collect,
    runs: {
      ...stores,
      policy: config.policy,
      clock,
      owned: config.ownership.OWNED_USERS,
      enqueue: (run, records) => queues.addRecords(run, records),
      forecastOf: (process, tick) => shelf.find(process, tick),
    },
    reconcile: { runs: stores.runs, clock, goOn: (run) => queues.ensurePage(run) },
    notify: { ...stores, ...services, clock },
    requests: stores.requests,
    inbox: stores.inbox,
    users: services.users,
    tiers: config.tiers,
    janitor: { abandonAfterMs: config.janitor.ATTEMPT_ABANDON_AFTER },
    queues,
    redis,
    log,
    metrics,
  };
  const registrations = registryOf(context, config.workers).select(config.workers.QUEUES);
  await queues.limitCollections(config.workers.COLLECTION_CONCURRENCY);
  metrics.onQueueDepth(() => queues.depths(QUEUE_NAMES));
  const pool = new WorkerPool({ context, registrations, stallMs: config.workers.QUEUE_STALL_MS });
  await pool.ready();
  const { METRICS_PORT } = config.workers;
  const server =
    METRICS_PORT === undefined
      ? null
      : await openMetricsServer({ port: METRICS_PORT, metrics, ready: () => redis.status === 'ready' });
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

/** With less, every charge would be put off for ever: better said at the start. */
function refuseShortLease({
  lock: { LOCK_LEASE_MS, LOCK_HEARTBEAT_MS },
  processor: { PROCESSOR_TIMEOUT_MS },
}: {
  readonly lock: z.output<typeof sections.lock>;
  readonly processor: z.output<typeof sections.processor>;
}): void {
  const least = leaseForCharge(PROCESSOR_TIMEOUT_MS) + 2 * LOCK_HEARTBEAT_MS;
  if (LOCK_LEASE_MS >= least) return;
  throw new ConfigurationError(
    `bad configuration:\n  LOCK_LEASE_MS is ${LOCK_LEASE_MS}; must be at least ${least}: a charge may take PROCESSOR_TIMEOUT_MS and its outcome must be written under the same lease`,
  );
}

function gateOf(
  { PROCESSOR_RATE_PER_S: ratePerS }: z.output<typeof sections.workers>,
  { redis, breaker }: { redis: WorkerContext['redis']; breaker: CircuitBreaker },
): ProcessorGate {
  const key = `${KEY_PREFIX}:processor-rate`;
  const bucket = ratePerS === undefined ? null : new TokenBucket({ redis, key, ratePerS });
  return new SharedProcessorGate({ breaker, bucket, timer: systemTimer });
}

/** Whoever has not begun a charge when the process is asked to stop leaves it to another. */
const untilStopping = (gate: ProcessorGate, stopping: AbortSignal): ProcessorGate => ({
  glance: () => gate.glance(),
  async enter(signal) {
    if (stopping.aborted) throw new StoppingError('this process is about to stop');
    await gate.enter(signal);
  },
  goOn: (signal) => gate.goOn(signal),
});
