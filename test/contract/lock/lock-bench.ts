import { randomUUID } from 'node:crypto';
import {
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { createLockClient } from '../../../src/adapters/lock/lock-client.ts';
import type { LockEvent } from '../../../src/adapters/lock/lock-events.ts';
import type { LockClientOptions } from '../../../src/adapters/lock/lock-options.ts';
import type { Item } from '../../../src/adapters/lock/lock-row.ts';
import { instantFromMs } from '../../../src/domain/instant.ts';
import type { Lock, LockClient, PastSighting, Sighting } from '../../../src/ports/lock.ts';
import { injectFaults, type Faults } from '../../support/dynamo-faults.ts';
import { sharedStack } from '../../support/stack.ts';
import { ManualTimer, nextTurn } from '../../unit/lock/manual-timer.ts';

export const LEASE_MS = 60_000;
export const HEARTBEAT_MS = 1_000;
export const GRACE_MS = 5_000;
/** When work is told to stop if no heartbeat gets through. */
export const WORKING_MS = LEASE_MS * 0.9;
export const ACQUIRED_AT = instantFromMs(Date.UTC(2026, 10, 16, 6));
export const EPOCH_SECONDS = 1_800_000_000;

/** One process: a lock client with a connection, a clock and faults of its own, on the shared table. */
export interface Contender {
  readonly locks: LockClient;
  readonly timer: ManualTimer;
  readonly faults: Faults;
  readonly events: LockEvent[];
  readonly count: (type: LockEvent['type']) => number;
  /** Acquires, and fails the test if it cannot. */
  readonly lock: (key: string, seen?: PastSighting) => Promise<Lock>;
  /** Acquires, and fails the test if it can. */
  readonly busy: (key: string, seen?: PastSighting) => Promise<Sighting>;
}

export interface ContenderOptions extends Partial<LockClientOptions> {
  /** Below the SDK's own retries. Default above. */
  readonly faultsAt?: 'request' | 'attempt';
}

export interface Bench {
  readonly table: string;
  client(config?: DynamoDBClientConfig): DynamoDBClient;
  contender(options?: ContenderOptions): Contender;
  row(key: string): Promise<Item | undefined>;
  writeRow(item: Item): Promise<void>;
  deleteRow(key: string): Promise<void>;
  /** A state change as the repositories make it: one transaction with a check of the lock row. */
  fencedWrite(key: string, ownerName: string): Promise<void>;
}

/** A locks table for the tests of one file, on the real server. */
export function lockBench(): Bench {
  const table = `locks-${randomUUID()}`;
  const open: LockClient[] = [];
  const clients: DynamoDBClient[] = [];
  let own: DynamoDBClient;

  const client = (config: DynamoDBClientConfig = {}): DynamoDBClient => {
    const made = new DynamoDBClient({
      endpoint: sharedStack().dynamodbUrl,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      ...config,
    });
    clients.push(made);
    return made;
  };

  beforeAll(async () => {
    own = client();
    await own.send(
      new CreateTableCommand({
        TableName: table,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'PartitionKey', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'PartitionKey', AttributeType: 'S' }],
      }),
    );
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((locks) => locks.close()));
  });
  afterAll(() => {
    for (const each of clients) each.destroy();
  });

  const contender = ({ faultsAt = 'request', ...options }: ContenderOptions = {}): Contender => {
    const connection = client();
    const faults = injectFaults(connection, { at: faultsAt });
    const timer = new ManualTimer(idleWatch(connection));
    const events: LockEvent[] = [];
    const locks = createLockClient({
      client: connection,
      table,
      clock: { now: () => ACQUIRED_AT },
      timer,
      epochSeconds: () => EPOCH_SECONDS,
      onEvent: (event) => events.push(event),
      ...options,
    });
    const close = locks.close.bind(locks);
    open.push({
      ...locks,
      close: () => {
        faults.clear();
        return close();
      },
    });
    return {
      locks,
      timer,
      faults,
      events,
      count: (type) => events.filter((event) => event.type === type).length,
      lock: async (key, seen) => {
        const outcome = await locks.acquire(key, seen);
        if ('busy' in outcome) throw new Error(`${key} is busy: ${outcome.busy.version}`);
        return outcome.lock;
      },
      busy: async (key, seen) => {
        const outcome = await locks.acquire(key, seen);
        if ('lock' in outcome) throw new Error(`${key} was acquired by ${outcome.lock.fence.ownerName}`);
        return outcome.busy;
      },
    };
  };

  return {
    table,
    client,
    contender,
    async row(key) {
      const { Item: item } = await own.send(
        new GetItemCommand({ TableName: table, Key: { PartitionKey: { S: key } }, ConsistentRead: true }),
      );
      return item;
    },
    async writeRow(item) {
      await own.send(new PutItemCommand({ TableName: table, Item: item }));
    },
    async deleteRow(key) {
      await own.send(new DeleteItemCommand({ TableName: table, Key: { PartitionKey: { S: key } } }));
    },
    async fencedWrite(key, ownerName) {
      await own.send(
        new TransactWriteItemsCommand({
          TransactItems: [
            {
              ConditionCheck: {
                TableName: table,
                Key: { PartitionKey: { S: key } },
                ConditionExpression: 'ownerName = :me AND attribute_not_exists(isReleased)',
                ExpressionAttributeValues: { ':me': { S: ownerName } },
              },
            },
            {
              Update: {
                TableName: table,
                Key: { PartitionKey: { S: `written-under:${key}` } },
                UpdateExpression: 'ADD writes :one',
                ExpressionAttributeValues: { ':one': { N: '1' } },
              },
            },
          ],
        }),
      );
    },
  };
}

/** Waits until no request of this client is under way. Put on after the faults, so that one held back does not count. */
function idleWatch(client: DynamoDBClient): () => Promise<void> {
  let inFlight = 0;
  client.middlewareStack.add(
    (next) => async (args) => {
      inFlight += 1;
      try {
        return await next(args);
      } finally {
        inFlight -= 1;
      }
    },
    { step: 'initialize', name: 'idleWatch' },
  );
  return async () => {
    do await nextTurn();
    while (inFlight > 0);
  };
}

let keys = 0;
export const newKey = (): string => `subscription-billing:user_id:user-${(keys += 1)}`;

export const versionOf = (item: Item | undefined): string | undefined => item?.['recordVersionNumber']?.S;

/** Waits for a condition, never for a time. The test's own time limit ends it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await nextTurn();
}
