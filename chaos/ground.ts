import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KinesisClient } from '@aws-sdk/client-kinesis';
import type { Redis } from 'ioredis';
import { connectRedis } from '../queues/connection.ts';
import { QueueSet } from '../queues/queue-set.ts';
import { createDynamoClient } from '../src/adapters/dynamodb/client.ts';
import { createKinesisClient } from '../src/adapters/kinesis/client.ts';
import { SandboxClient } from '../src/adapters/sandbox-client.ts';
import { bankVariables, startBank } from '../src/cli/local-bank.ts';
import { makeTables, tableNames } from '../src/cli/make-tables.ts';
import { readConfig } from '../src/config/read-config.ts';
import * as sections from '../src/config/sections.ts';
import type { TableNames } from '../src/adapters/dynamodb/tables.ts';
import { dataFolder } from '../src/embedded/data-folder.ts';
import { freePort } from '../src/embedded/free-port.ts';
import type { Stack } from '../src/embedded/stack.ts';
import { startStack } from '../src/embedded/stack.ts';
import { Crew } from './crew.ts';
import type { Ending } from './ending.ts';
import { firstDawn } from './days.ts';
import { CREW, LEASE_MS } from './plan.ts';

/**
 * Short: dead processes are noticed soon, and a stopped one has lost its locks when it wakes. The lease must still
 * outlast a charge and its outcome.
 */
const TIMES = {
  LOCK_LEASE_MS: String(LEASE_MS),
  LOCK_HEARTBEAT_MS: '500',
  QUEUE_STALL_MS: '3000',
  PROCESSOR_TIMEOUT_MS: '1000',
};

/** What two cores can bear while half of it is being started again. */
const AT_ONCE = '8';

export interface Ground {
  readonly dataDir: string;
  /** Tables, ledger and logs stay when all else has ended: a developer will want to look. */
  keepData(): void;
  /** What makes a process part of it. */
  readonly environment: Readonly<Record<string, string>>;
  readonly token: string;
  readonly stack: Stack;
  readonly bank: SandboxClient;
  readonly bankUrl: string;
  readonly crew: Crew;
  readonly apiUrls: readonly string[];
  readonly dynamodb: DynamoDBClient;
  readonly tables: TableNames;
  readonly kinesis: KinesisClient;
  readonly usersStream: string;
  /** Where other services hear of changes. */
  readonly changesStream: string;
  readonly redis: Redis;
  readonly queues: QueueSet;
}

/** Servers of its own in a temporary folder, the bank, and every role as processes. Settles when the servers answer. */
export async function prepareGround(ending: Ending): Promise<Ground> {
  const dataDir = await mkdtemp(join(tmpdir(), 'collections-chaos-'));
  let keep = false;
  ending.add(async () => (keep ? undefined : rm(dataDir, { recursive: true, force: true })));
  // On disk: a developer who looks for what went wrong needs the tables.
  const stack = await startStack({ dataDir });
  ending.add(() => stack.stop());
  const servers = {
    REDIS_URL: stack.redisUrl,
    AWS_ENDPOINT_URL_DYNAMODB: stack.dynamodbUrl,
    AWS_ENDPOINT_URL_KINESIS: stack.kinesisUrl,
  };
  for await (const made of makeTables(servers, { addIndex: true })) void made;
  const bank = await startBank(dataDir, servers);
  ending.add(() => bank.stop());
  // Before the first scheduler comes up: it makes up for nothing that was due before it was there.
  await new SandboxClient(bank.url).setTime(firstDawn(new Date()));

  const token = randomBytes(18).toString('base64url');
  const environment = {
    ...servers,
    ...bankVariables(bank.url),
    ...TIMES,
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    API_TOKENS: `chaos:operator:${token}`,
    API_RATE_PER_MINUTE: '1000000',
    COLLECTION_CONCURRENCY: AT_ONCE,
    FEEDER_ENABLED: 'true',
    LOG_LEVEL: 'info',
  };
  const apiPorts = await Promise.all(Array.from({ length: CREW.api }, () => freePort()));
  const crew = new Crew(environment, { logs: dataFolder(dataDir).logs, apiPorts });
  ending.add(() => crew.close());
  return {
    dataDir,
    keepData: () => void (keep = true),
    environment,
    token,
    stack,
    bank: new SandboxClient(bank.url),
    bankUrl: bank.url,
    crew,
    apiUrls: apiPorts.map((port) => `http://127.0.0.1:${port}`),
    ...openClients(environment, ending),
  };
}

/** For the driver itself, which must not mind the weather. */
function openClients(
  environment: Readonly<Record<string, string>>,
  ending: Ending,
): Pick<Ground, 'dynamodb' | 'tables' | 'kinesis' | 'usersStream' | 'changesStream' | 'redis' | 'queues'> {
  const config = readConfig(environment, { dynamodb: sections.dynamodb, kinesis: sections.kinesis });
  const region = config.dynamodb.DYNAMO_REGION;
  const dynamodb = createDynamoClient({ region, endpoint: config.dynamodb.AWS_ENDPOINT_URL_DYNAMODB });
  const kinesis = createKinesisClient({ region, endpoint: config.kinesis.AWS_ENDPOINT_URL_KINESIS });
  const redis = connectRedis({
    url: environment['REDIS_URL'] ?? '',
    whenDown: 'wait',
    onError: () => undefined,
  });
  ending.add(async () => {
    redis.disconnect();
    dynamodb.destroy();
    kinesis.destroy();
  });
  return {
    dynamodb,
    kinesis,
    redis,
    queues: new QueueSet(redis),
    tables: tableNames(config.dynamodb),
    usersStream: config.kinesis.USERS_STREAM,
    changesStream: config.kinesis.SUBSCRIPTIONS_STREAM,
  };
}
