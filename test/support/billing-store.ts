import { randomUUID } from 'node:crypto';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteItemCommand,
  DeleteTableCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { createDynamoClient } from '../../src/adapters/dynamodb/client.ts';
import { DynamoFloats } from '../../src/adapters/dynamodb/floats.ts';
import { DynamoHistory } from '../../src/adapters/dynamodb/history.ts';
import { DynamoRecurring } from '../../src/adapters/dynamodb/recurring.ts';
import { DynamoSubscriptions } from '../../src/adapters/dynamodb/subscriptions.ts';
import type { TableDefinition, TableNames } from '../../src/adapters/dynamodb/tables.ts';
import { ensureTable, tableDefinitions } from '../../src/adapters/dynamodb/tables.ts';
import { Transactor } from '../../src/adapters/dynamodb/transaction.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import type { Instant } from '../../src/domain/instant.ts';
import { formatInstant } from '../../src/domain/instant.ts';
import type { Fence } from '../../src/ports/lock.ts';
import { subscriptionLockKey } from '../../src/ports/lock.ts';
import type { ChangeContext } from '../../src/ports/subscriptions.ts';
import { sharedStack } from './stack.ts';
import { at } from './records.ts';

export type Item = Record<string, AttributeValue>;

/** Real tables of a test's own, the repositories on them, and a look behind them. */
export interface BillingStore {
  readonly client: DynamoDBClient;
  readonly tables: TableNames;
  readonly subscriptions: DynamoSubscriptions;
  readonly history: DynamoHistory;
  /** Of use where their tables were asked for. */
  readonly floats: DynamoFloats;
  readonly recurring: DynamoRecurring;
  /** A repository that has not looked at the table yet. */
  anotherProcess(): DynamoSubscriptions;
  /** Puts a lock row and gives its fence, as an acquisition would. */
  takeLock(userId: string): Promise<Fence>;
  /** Somebody else takes the lock over. */
  stealLock(userId: string): Promise<void>;
  releaseLock(userId: string): Promise<void>;
  putBillingRow(item: Item): Promise<void>;
  removeBillingRow(userId: string, billingDate: Instant): Promise<void>;
  billingRow(userId: string, billingDate: string): Promise<Item | undefined>;
  historyRows(userId: string): Promise<Item[]>;
  /** What a caller that holds the lock would hand in. */
  context(
    userId: string,
    change: Partial<ChangeContext> & Pick<ChangeContext, 'cause'>,
  ): Promise<ChangeContext>;
  drop(): Promise<void>;
}

export interface StoreOptions {
  readonly pageSize?: number;
  readonly withDueIndex?: boolean;
  /** Also the tables of floats; making a table takes its time. */
  readonly withFloats?: boolean;
  /** Also the table of recurring payments. */
  readonly withRecurring?: boolean;
}

export async function billingStore({
  pageSize = 500,
  withDueIndex = true,
  withFloats = false,
  withRecurring = false,
}: StoreOptions = {}): Promise<BillingStore> {
  const client = createDynamoClient({ region: 'us-east-1', endpoint: sharedStack().dynamodbUrl });
  const suffix = randomUUID().slice(0, 8);
  const tables: TableNames = {
    billing: `billing-${suffix}`,
    history: `history-${suffix}`,
    locks: `locks-${suffix}`,
    pipeline: `pipeline-${suffix}`,
    floats: `floats-${suffix}`,
    collectionHistory: `collection-history-${suffix}`,
    bypass: `bypass-${suffix}`,
    recurring: `recurring-${suffix}`,
    // Made by gateway-table.ts where it is needed.
    gateways: `gateways-${suffix}`,
  };
  const ofFloats = [tables.floats, tables.collectionHistory, tables.bypass];
  const definitions = tableDefinitions(tables)
    .filter(({ name }) => withFloats || !ofFloats.includes(name))
    .filter(({ name }) => withRecurring || name !== tables.recurring)
    .filter(({ name }) => name !== tables.gateways)
    .map((definition) => (withDueIndex ? definition : oldIndexesOnly(definition)));
  for (const definition of definitions) await ensureTable(client, definition, { addIndex: false });
  const transactor = new Transactor({
    client,
    locksTable: tables.locks,
    timer: systemTimer,
    random: Math.random,
  });
  const names = { billingTable: tables.billing, historyTable: tables.history, ids: randomUUID };
  const subscriptions = new DynamoSubscriptions({ client, transactor, pageSize, ...names });
  const history = new DynamoHistory({ client, transactor, historyTable: tables.history, ids: randomUUID });
  const floats = new DynamoFloats({
    client,
    transactor,
    floatsTable: tables.floats,
    collectionHistoryTable: tables.collectionHistory,
    pageSize,
    ids: randomUUID,
  });
  const recurring = new DynamoRecurring({
    client,
    transactor,
    table: tables.recurring,
    pageSize,
    ids: randomUUID,
  });
  const lockRow = (userId: string): Item => ({ PartitionKey: { S: subscriptionLockKey(userId) } });
  return {
    client,
    tables,
    subscriptions,
    history,
    floats,
    recurring,
    anotherProcess: () => new DynamoSubscriptions({ client, transactor, pageSize, ...names }),
    async takeLock(userId) {
      const ownerName = randomUUID();
      const Item = { ...lockRow(userId), ownerName: { S: ownerName } };
      await client.send(new PutItemCommand({ TableName: tables.locks, Item }));
      return { key: subscriptionLockKey(userId), ownerName, exclusively: (write) => write() };
    },
    async stealLock(userId) {
      const Item = { ...lockRow(userId), ownerName: { S: 'somebody-else' } };
      await client.send(new PutItemCommand({ TableName: tables.locks, Item }));
    },
    async releaseLock(userId) {
      await client.send(
        new UpdateItemCommand({
          TableName: tables.locks,
          Key: lockRow(userId),
          UpdateExpression: 'SET isReleased = :yes',
          ExpressionAttributeValues: { ':yes': { S: '1' } },
        }),
      );
    },
    async putBillingRow(item) {
      await client.send(new PutItemCommand({ TableName: tables.billing, Item: item }));
    },
    async removeBillingRow(userId, billingDate) {
      const Key = { user_id: { S: userId }, billing_date: { S: formatInstant(billingDate) } };
      await client.send(new DeleteItemCommand({ TableName: tables.billing, Key }));
    },
    async billingRow(userId, billingDate) {
      const Key = { user_id: { S: userId }, billing_date: { S: billingDate } };
      const { Item } = await client.send(
        new GetItemCommand({ TableName: tables.billing, Key, ConsistentRead: true }),
      );
      return Item;
    },
    async historyRows(userId) {
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: tables.history,
          ConsistentRead: true,
          KeyConditionExpression: 'user_id = :u',
          ExpressionAttributeValues: { ':u': { S: userId } },
        }),
      );
      return Items;
    },
    async context(userId, change) {
      const partition = await subscriptions.listByUserID(userId);
      return { now: at('2026-11-16T08:00:00.123Z'), partition, ...change };
    },
    async drop() {
      for (const { name: TableName } of definitions) await client.send(new DeleteTableCommand({ TableName }));
      client.destroy();
    },
  };
}

/** A table as it was before our index. */
const oldIndexesOnly = (definition: TableDefinition): TableDefinition => ({
  ...definition,
  indexes: definition.indexes.filter(({ added }) => added !== true),
});
