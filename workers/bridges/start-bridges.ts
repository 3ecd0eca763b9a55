import { randomUUID } from 'node:crypto';
import { connectRedis } from '../../queues/connection.ts';
import { QueueSet } from '../../queues/queue-set.ts';
import { clockFrom } from '../../src/adapters/clock/clock-from.ts';
import { createKinesisClient } from '../../src/adapters/kinesis/client.ts';
import { KinesisSource } from '../../src/adapters/kinesis/kinesis-source.ts';
import { openMetricsServer } from '../../src/adapters/metrics/metrics-server.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import type { BridgeTimes } from '../../src/app/bridge/bridge.ts';
import { BRIDGE_TIMES, Bridge } from '../../src/app/bridge/bridge.ts';
import { receiveEvents } from '../../src/app/bridge/receive-events.ts';
import type { Environment } from '../../src/config/read-config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { KinesisStart } from '../../src/config/sections.ts';
import * as sections from '../../src/config/sections.ts';
import type { EventStream, InboxEvent } from '../../src/ports/inbox.ts';
import { EVENT_STREAMS } from '../../src/ports/inbox.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Metrics, RecordFate } from '../../src/ports/metrics.ts';
import type { Beginning, StreamSource } from '../../src/ports/stream-source.ts';
import { dynamodbAnswers, redisAnswers, watchHealth } from '../../src/wiring/health.ts';
import type { Stores } from '../../src/wiring/stores.ts';
import { openStores } from '../../src/wiring/stores.ts';
import type { RunningRole } from '../../src/wiring/role.ts';
import { openFeeder, openGatewayFeeder } from './feeder.ts';

export interface BridgeTools {
  readonly log: Log;
  readonly metrics: Metrics;
  /** How often it looks. Tests use short times. */
  readonly times?: BridgeTimes;
}

/** A store that is away must not keep the process from ending; what was not checkpointed is delivered again elsewhere. */
const STOP_MS = 20_000;

const configFrom = (environment: Environment) =>
  readConfig(environment, {
    redis: sections.redis,
    dynamodb: sections.dynamodb,
    kinesis: sections.kinesis,
    bridges: sections.bridges,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
    ownership: sections.ownership,
    workers: sections.workers,
  });

/** What the bridges stand on. */
interface Ground {
  readonly config: ReturnType<typeof configFrom>;
  readonly clock: Clock;
  readonly stores: Stores;
  readonly client: ReturnType<typeof createKinesisClient>;
  readonly queues: QueueSet;
  readonly tools: Required<BridgeTools>;
}

/** Reads the streams of the user service and of the payments service into the inbox, and tells others of our changes. */
export async function startBridges(
  environment: Environment,
  { log, metrics, times = BRIDGE_TIMES }: BridgeTools,
): Promise<RunningRole> {
  const config = configFrom(environment);
  const { clock, close: closeClock } = await clockFrom(config.clock);
  const stores = openStores(config, clock, log);
  const client = createKinesisClient({
    region: config.dynamodb.DYNAMO_REGION,
    endpoint: config.kinesis.AWS_ENDPOINT_URL_KINESIS,
  });
  // First: it refuses a table without a stream, and then nothing must be running yet.
  const feeding = { ...stores, kinesis: client, times, log, metrics };
  const feeders = [
    config.bridges.FEEDER_ENABLED ? await openFeeder(config, feeding) : null,
    openGatewayFeeder(config, feeding),
  ].filter((feeder) => feeder !== null);
  // Fails at once while Redis is away: the events are stored, and the sweep adds the jobs that are missing.
  const redis = connectRedis({
    url: config.redis.REDIS_URL,
    whenDown: 'fail',
    onError: (error) => log.warn({ err: error }, 'redis connection'),
  });
  const queues = new QueueSet(redis, { failsFast: true });
  const readers = readersOn({ config, clock, stores, client, queues, tools: { log, metrics, times } });
  const bridges = [...readers.map(({ bridge }) => bridge), ...feeders.map(({ bridge }) => bridge)];
  const health = watchHealth(
    {
      needed: {
        dynamodb: dynamodbAnswers(stores),
        kinesis: () => Promise.all(readers.map(({ source }) => source.listShards())),
        reading: () => areRead(bridges),
      },
      helpful: { redis: redisAnswers(redis) },
    },
    { log },
  );
  const { METRICS_PORT } = config.workers;
  const server =
    METRICS_PORT === undefined ? null : await openMetricsServer({ port: METRICS_PORT, metrics, health, log });
  const streams = readers.map(({ name }) => name);
  log.info({ streams, feeds: feeders[0]?.stream, metricsPort: server?.port }, 'bridges are up');
  return {
    async stop() {
      const stopped = Promise.all(bridges.map((bridge) => bridge.stop()));
      const tooLong = new AbortController();
      await Promise.race([stopped, systemTimer.sleep(STOP_MS, tooLong.signal)]);
      tooLong.abort();
      await stores.close();
      await closeClock();
      await server?.close();
      for (const feeder of feeders) feeder.close();
      client.destroy();
      redis.disconnect();
    },
  };
}

/** One bridge for each stream that others write. */
function readersOn({ config, clock, stores, client, queues, tools }: Ground) {
  const { log, metrics, times } = tools;
  const names: Record<EventStream, string> = {
    users: config.kinesis.USERS_STREAM,
    payments: config.kinesis.PAYMENTS_STREAM,
  };
  const received = {
    inbox: stores.inbox,
    clock,
    owned: config.ownership.OWNED_USERS,
    enqueue: (events: readonly InboxEvent[]) => queues.addEvents(events),
    count: (stream: EventStream, fate: RecordFate) => metrics.streamRecord(stream, fate),
    log,
  };
  return EVENT_STREAMS.map((stream) => {
    const name = names[stream];
    const source = new KinesisSource({ client, stream: name });
    const bridge = new Bridge({
      ...stores,
      stream: name,
      source,
      beginning: beginningOf(config.bridges.KINESIS_START, source),
      deliver: receiveEvents(received, stream),
      bridgeId: randomUUID(),
      times,
      timer: systemTimer,
      random: Math.random,
      log,
      onLag: (shardId, lagMs) => metrics.streamLag(stream, shardId, lagMs),
    });
    return { name, source, bridge };
  });
}

async function areRead(bridges: readonly Pick<Bridge<unknown>, 'health'>[]): Promise<void> {
  const problems = bridges.flatMap((bridge) => bridge.health().problems);
  if (problems.length > 0) throw new Error(problems.join('; '));
}

/** `LATEST` as a time: a bridge restarted before its first event goes on from there, not from a newer LATEST. */
function beginningOf(start: KinesisStart, source: StreamSource<unknown>): Beginning {
  if (start === 'TRIM_HORIZON') return 'start';
  return start === 'LATEST' ? { timestamp: source.now() } : start;
}
