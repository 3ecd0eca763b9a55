import { randomUUID } from 'node:crypto';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DynamoAttendance } from '../../src/adapters/dynamodb/attendance.ts';
import { DynamoCheckpoints } from '../../src/adapters/dynamodb/checkpoints.ts';
import { createDynamoClient } from '../../src/adapters/dynamodb/client.ts';
import { Transactor } from '../../src/adapters/dynamodb/transaction.ts';
import { createKinesisClient } from '../../src/adapters/kinesis/client.ts';
import { KinesisSource } from '../../src/adapters/kinesis/kinesis-source.ts';
import { createLockClient } from '../../src/adapters/lock/lock-client.ts';
import { RememberingLocks } from '../../src/adapters/lock/remembering-locks.ts';
import { createLogger } from '../../src/adapters/logging/logger.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import type { BridgeOptions, BridgeTimes } from '../../src/app/bridge/bridge.ts';
import { Bridge, shardLeaseKey } from '../../src/app/bridge/bridge.ts';
import type { Deliver } from '../../src/app/bridge/shard-reader.ts';
import type { Checkpoints } from '../../src/ports/checkpoints.ts';
import { injectFaults, type Faults } from './dynamo-faults.ts';
import type { BillingStore, Item } from './billing-store.ts';
import { billingStore } from './billing-store.ts';
import type { EventStreamBench } from './event-stream.ts';
import { eventStream } from './event-stream.ts';
import { at } from './records.ts';
import { sharedStack } from './stack.ts';

/** Short, so that a dead or a new bridge is noticed soon. */
export const SHORT_TIMES: BridgeTimes = {
  readEveryMs: 20,
  idleMs: 50,
  roundMs: 150,
  shardListMs: 500,
  deadAfterMs: 1_500,
};
/** Long: nobody dies with a lease here, and a busy machine must not make a bridge lose one and deliver something twice. */
export const LEASE_MS = 30_000;

export interface RunningBridge {
  readonly bridge: Bridge<Uint8Array>;
  /** What goes wrong between this bridge and Kinesis. */
  readonly kinesis: Faults;
  stop(): Promise<void>;
}

/** A stream, real tables, and bridges on both. */
export interface BridgeBench {
  readonly stream: EventStreamBench;
  readonly store: BillingStore;
  readonly checkpoints: Checkpoints;
  /** A bridge as a process of its own would be: its own connections, lock client and name. */
  bridge(
    deliver: Deliver<Uint8Array>,
    options?: Partial<BridgeOptions<Uint8Array>>,
    faults?: (kinesis: Faults) => void,
  ): RunningBridge;
  leaseRow(shardId: string): Promise<Item | undefined>;
  /** Somebody else takes the lease, as if this holder had slept. */
  stealLease(shardId: string): Promise<void>;
  close(): Promise<void>;
}

export async function bridgeBench(shards: number): Promise<BridgeBench> {
  const [stream, store] = await Promise.all([eventStream(shards), billingStore()]);
  const { client, tables } = store;
  const running: RunningBridge[] = [];
  const checkpointsOn = (dynamo: typeof client) =>
    new DynamoCheckpoints({
      client: dynamo,
      table: tables.pipeline,
      transactor: new Transactor({
        client: dynamo,
        locksTable: tables.locks,
        timer: systemTimer,
        random: Math.random,
      }),
      ids: randomUUID,
    });
  const leaseKey = (shardId: string) => ({ PartitionKey: { S: shardLeaseKey(stream.name, shardId) } });
  return {
    stream,
    store,
    checkpoints: checkpointsOn(client),
    bridge(deliver, options = {}, faults = () => undefined) {
      const dynamo = createDynamoClient({ region: 'us-east-1', endpoint: sharedStack().dynamodbUrl });
      const kinesisClient = createKinesisClient({ region: 'us-east-1', endpoint: sharedStack().kinesisUrl });
      const kinesis = injectFaults(kinesisClient);
      faults(kinesis);
      const locks = createLockClient({
        client: dynamo,
        table: tables.locks,
        clock: { now: () => at('2026-11-16T08:00:00Z') },
        timer: systemTimer,
        leaseMs: LEASE_MS,
        heartbeatMs: 200,
      });
      const bridge = new Bridge<Uint8Array>({
        stream: stream.name,
        source: new KinesisSource({ client: kinesisClient, stream: stream.name }),
        beginning: 'start',
        deliver,
        checkpoints: checkpointsOn(dynamo),
        attendance: new DynamoAttendance({ client: dynamo, table: tables.pipeline }),
        locks: new RememberingLocks(locks, systemTimer),
        bridgeId: randomUUID(),
        times: SHORT_TIMES,
        timer: systemTimer,
        random: Math.random,
        log: createLogger({ role: 'test', level: 'silent' }),
        onLag: () => undefined,
        ...options,
      });
      let stopped: Promise<void> | null = null;
      const stop = async (): Promise<void> => {
        await bridge.stop();
        await locks.close();
        dynamo.destroy();
        kinesisClient.destroy();
      };
      const one = { bridge, kinesis, stop: () => (stopped ??= stop()) };
      running.push(one);
      return one;
    },
    async leaseRow(shardId) {
      const request = new GetItemCommand({
        TableName: tables.locks,
        Key: leaseKey(shardId),
        ConsistentRead: true,
      });
      return (await client.send(request)).Item;
    },
    async stealLease(shardId) {
      const Item = {
        ...leaseKey(shardId),
        ownerName: { S: 'somebody-else' },
        recordVersionNumber: { S: 'another' },
        leaseDuration: { S: '1h0m0s' },
      };
      await client.send(new PutItemCommand({ TableName: tables.locks, Item }));
    },
    async close() {
      await Promise.all(running.map((one) => one.stop()));
      stream.close();
      await store.drop();
    },
  };
}
