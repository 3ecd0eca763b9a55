import { connectRedis } from '../queues/connection.ts';
import { QueueSet } from '../queues/queue-set.ts';
import { clockFrom } from '../src/adapters/clock/clock-from.ts';
import { createKinesisClient } from '../src/adapters/kinesis/client.ts';
import { KinesisPublisher } from '../src/adapters/kinesis/publisher.ts';
import { NO_LOG } from '../src/adapters/logging/logger.ts';
import type { SandboxClient } from '../src/adapters/sandbox-client.ts';
import { systemTimer } from '../src/adapters/system-timer.ts';
import { sandboxClient } from '../src/cli/sandbox-commands.ts';
import { readConfig } from '../src/config/read-config.ts';
import * as sections from '../src/config/sections.ts';
import type { LocalSystem } from '../src/cli/local-system.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { Publisher } from '../src/ports/publisher.ts';
import type { Timer } from '../src/ports/timer.ts';
import type { Stores } from '../src/wiring/stores.ts';
import { openStores } from '../src/wiring/stores.ts';
import { HouseApi } from './house-api.ts';
import { LedgerReader } from './ledger.ts';
import { RunEnds } from './run-ends.ts';

/** What the program that lets the year pass holds in hand: the bank, and what any outside caller could see or call. */
export interface Stage {
  readonly bank: SandboxClient;
  readonly ledger: LedgerReader;
  readonly api: HouseApi;
  readonly users: Publisher;
  readonly stores: Stores;
  readonly queues: QueueSet;
  readonly runEnds: RunEnds;
  readonly clock: Clock;
  readonly timer: Timer;
  close(): Promise<void>;
}

export async function openStage({ environment, apiUrl }: LocalSystem): Promise<Stage> {
  const config = readConfig(environment, {
    redis: sections.redis,
    dynamodb: sections.dynamodb,
    kinesis: sections.kinesis,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
    services: sections.services,
  });
  const source = await clockFrom(config.clock);
  const stores = openStores(config, source.clock, NO_LOG);
  const redis = connectRedis({
    url: config.redis.REDIS_URL,
    whenDown: 'wait',
    onError: () => undefined,
  });
  const kinesis = createKinesisClient({
    region: config.dynamodb.DYNAMO_REGION,
    endpoint: config.kinesis.AWS_ENDPOINT_URL_KINESIS,
  });
  const runEnds = await RunEnds.listen(redis, systemTimer);
  // The scheduler notes it at its first look. If the clock is turned before that, it starts a day late.
  await stores.runs.since(source.clock.now());
  return {
    bank: sandboxClient(environment),
    ledger: new LedgerReader(config.services.PAYMENTS_SERVICE_URL),
    api: new HouseApi(apiUrl, environment['API_TOKENS'] ?? ''),
    users: new KinesisPublisher({
      client: kinesis,
      stream: config.kinesis.USERS_STREAM,
      timer: systemTimer,
      random: Math.random,
    }),
    stores,
    queues: new QueueSet(redis),
    runEnds,
    clock: source.clock,
    timer: systemTimer,
    async close() {
      await runEnds.close();
      redis.disconnect();
      kinesis.destroy();
      await stores.close();
      await source.close();
    },
  };
}
