import { connectRedis } from '../queues/connection.ts';
import { QUEUE_NAMES } from '../queues/queue-names.ts';
import { QueueSet } from '../queues/queue-set.ts';
import { clockFrom } from '../src/adapters/clock/clock-from.ts';
import { openMetricsServer } from '../src/adapters/metrics/metrics-server.ts';
import { systemTimer } from '../src/adapters/system-timer.ts';
import { startDueRuns } from '../src/app/reconcile-runs.ts';
import type { Environment } from '../src/config/read-config.ts';
import { readConfig } from '../src/config/read-config.ts';
import * as sections from '../src/config/sections.ts';
import type { Log } from '../src/ports/log.ts';
import type { Metrics } from '../src/ports/metrics.ts';
import { dynamodbAnswers, redisAnswers, watchHealth } from '../src/wiring/health.ts';
import { openStores } from '../src/wiring/stores.ts';
import type { RunningRole } from '../src/wiring/role.ts';
import { roundOfChores } from './chores.ts';

const ROUND_MS = 60_000;
const STOP_MS = 5_000;

/**
 * Keeps the schedules in Redis and, from what DynamoDB holds, makes up for whatever Redis lost: ticks that no worker
 * heard, runs that stand still, accepted requests without a job. Several of these may run; each step is harmless twice.
 */
export async function startScheduler(
  environment: Environment,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): Promise<RunningRole> {
  const config = readConfig(environment, {
    redis: sections.redis,
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
    workers: sections.workers,
  });
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
  // What is due follows from the clock. Everything else was lost or not, whatever the time, and waits for its round.
  clockSource.onChange(() => {
    startDueRuns({ runs: stores.runs, clock, log, goOn: (run) => queues.ensurePage(run) }).catch(
      (error: unknown) =>
        log.error({ err: error }, 'the runs that a moved clock made due could not be started'),
    );
  });

  const round = roundOfChores({
    ...stores,
    clock,
    queues,
    concurrency: config.workers.COLLECTION_CONCURRENCY,
    log,
    metrics,
  });
  const rounds = (async () => {
    while (!stopping.signal.aborted) {
      await round();
      await systemTimer.sleep(ROUND_MS, stopping.signal).catch(() => undefined);
    }
  })();
  // Also of the scheduler: workers that are not up cannot tell how many jobs wait for them.
  metrics.onQueueDepth(() => queues.depths(QUEUE_NAMES));
  const health = watchHealth(
    { needed: { dynamodb: dynamodbAnswers(stores), redis: redisAnswers(redis) } },
    { log },
  );
  const { METRICS_PORT } = config.workers;
  const server =
    METRICS_PORT === undefined ? null : await openMetricsServer({ port: METRICS_PORT, metrics, health, log });
  log.info({}, 'scheduler is up');
  return {
    async stop() {
      stopping.abort();
      // A round that waits for a Redis that is away is not waited for: the next scheduler does what it left.
      redis.disconnect();
      const tooLong = new AbortController();
      await Promise.race([rounds, systemTimer.sleep(STOP_MS, tooLong.signal)]);
      tooLong.abort();
      await stores.close();
      await clockSource.close();
      await server?.close();
    },
  };
}
