import type { DynamoDBClient, WriteRequest } from '@aws-sdk/client-dynamodb';
import { BatchWriteItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { Redis } from 'ioredis';
import { connectRedis } from '../queues/connection.ts';
import { QueueSet } from '../queues/queue-set.ts';
import { BatchReader } from '../src/adapters/dynamodb/batch-reader.ts';
import { createDynamoClient } from '../src/adapters/dynamodb/client.ts';
import { DynamoRuns } from '../src/adapters/dynamodb/runs.ts';
import { NO_LOG } from '../src/adapters/logging/logger.ts';
import { DynamoSeeder } from '../src/adapters/dynamodb/seeder.ts';
import { writeSubscription } from '../src/adapters/dynamodb/subscription-codec.ts';
import { systemTimer } from '../src/adapters/system-timer.ts';
import { makeTables } from '../src/cli/make-tables.ts';
import type { DemoMember } from '../src/demo/population.ts';
import type { RunStore } from '../src/ports/runs.ts';
import type { Ground } from './ground.ts';

const AT_ONCE = 4;
const MEMBERS_AT_ONCE = 50;
const ROWS_AT_ONCE = 25;

/** Tables and a Redis database of one measurement's own, so that none works on what another left. */
export interface Site {
  readonly environment: Readonly<Record<string, string>>;
  readonly redis: Redis;
  readonly queues: QueueSet;
  readonly runs: RunStore;
  /** Puts members into the tables and tells the bank of them. */
  settle(members: readonly DemoMember[]): Promise<void>;
  /** Only their billing rows: for members about whom the bank is never asked. */
  fill(members: readonly DemoMember[]): Promise<void>;
  /** Takes the billing rows of members away again. */
  remove(members: readonly DemoMember[]): Promise<void>;
  close(): Promise<void>;
}

let sites = 0;

export async function openSite(ground: Ground): Promise<Site> {
  sites += 1;
  const name = `bench-${sites}`;
  const tables = {
    BILLING_TABLE: `${name}-billing`,
    HISTORY_TABLE: `${name}-history`,
    LOCKS_TABLE: `${name}-locks`,
    PIPELINE_TABLE: `${name}-pipeline`,
    DYNAMO_TABLE: `${name}-floats`,
    RECURRING_TABLE: `${name}-recurring`,
    COLLECTION_HISTORY_TABLE: `${name}-collection-history`,
  };
  const url = `${ground.stack.redisUrl}/${sites}`;
  const environment = { ...ground.environment, ...tables, REDIS_URL: url };
  for await (const made of makeTables(environment, { addIndex: true })) void made;

  const client = createDynamoClient({ region: 'us-east-1', endpoint: ground.stack.dynamodbUrl });
  const random = Math.random;
  const seeder = new DynamoSeeder({
    client,
    billingTable: tables.BILLING_TABLE,
    historyTable: tables.HISTORY_TABLE,
    pipelineTable: tables.PIPELINE_TABLE,
    floatsTable: tables.DYNAMO_TABLE,
    collectionHistoryTable: tables.COLLECTION_HISTORY_TABLE,
    recurringTable: tables.RECURRING_TABLE,
    timer: systemTimer,
    random,
  });
  const table = tables.PIPELINE_TABLE;
  const reader = new BatchReader({ client, table, timer: systemTimer, random });
  const redis = connectRedis({ url, whenDown: 'wait', onError: () => undefined });
  const queues = new QueueSet(redis);
  return {
    environment,
    redis,
    queues,
    runs: new DynamoRuns({ client, table, reader, log: NO_LOG }),
    settle: (members) =>
      someAtOnce(inParts(members, MEMBERS_AT_ONCE), AT_ONCE, async (some) => {
        await ground.bank.putUsers(some.map(({ bankUser }) => bankUser));
        await seeder.write(some);
      }),
    fill: (members) =>
      writeRows(
        client,
        tables.BILLING_TABLE,
        members
          .flatMap(({ records }) => records)
          .map((record) => ({ PutRequest: { Item: writeSubscription(record, null) } })),
      ),
    remove: (members) =>
      someAtOnce(inParts(members, MEMBERS_AT_ONCE), AT_ONCE, (some) =>
        removeRows(client, tables.BILLING_TABLE, some),
      ),
    async close() {
      await queues.close();
      redis.disconnect();
      client.destroy();
    },
  };
}

async function removeRows(
  client: DynamoDBClient,
  table: string,
  members: readonly DemoMember[],
): Promise<void> {
  const requests: WriteRequest[] = [];
  for (const { records } of members) {
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'user_id = :user',
        ExpressionAttributeValues: { ':user': { S: records[0]?.userId ?? '' } },
        ProjectionExpression: 'user_id, billing_date',
      }),
    );
    requests.push(...Items.map((Key) => ({ DeleteRequest: { Key } })));
  }
  await writeRows(client, table, requests);
}

const writeRows = (client: DynamoDBClient, table: string, requests: readonly WriteRequest[]): Promise<void> =>
  someAtOnce(inParts(requests, ROWS_AT_ONCE), AT_ONCE, async (part) => {
    const { UnprocessedItems = {} } = await client.send(
      new BatchWriteItemCommand({ RequestItems: { [table]: part } }),
    );
    if (Object.keys(UnprocessedItems).length > 0) throw new Error('DynamoDB Local left rows unprocessed');
  });

export function inParts<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, part) =>
    all.slice(part * size, (part + 1) * size),
  );
}

/** So many at a time, until all are done. */
export async function someAtOnce<T>(
  all: readonly T[],
  atOnce: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const left = all.values();
  const worker = async (): Promise<void> => {
    for (const one of left) await work(one);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker));
}
