import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { DynamoAttendance } from '../adapters/dynamodb/attendance.ts';
import { DynamoBans } from '../adapters/dynamodb/bans.ts';
import { BatchReader } from '../adapters/dynamodb/batch-reader.ts';
import { BatchWriter } from '../adapters/dynamodb/batch-writer.ts';
import { DynamoCheckpoints } from '../adapters/dynamodb/checkpoints.ts';
import { DynamoBypasses } from '../adapters/dynamodb/bypasses.ts';
import { createDynamoClient } from '../adapters/dynamodb/client.ts';
import { DynamoFloats } from '../adapters/dynamodb/floats.ts';
import { DynamoFreezes } from '../adapters/dynamodb/freezes.ts';
import { DynamoGatewayEvents } from '../adapters/dynamodb/gateway-events.ts';
import { DynamoGatewaySubscriptions } from '../adapters/dynamodb/gateway-subscriptions.ts';
import { DynamoHistory } from '../adapters/dynamodb/history.ts';
import { DynamoIdempotencyKeys } from '../adapters/dynamodb/idempotency-keys.ts';
import { DynamoInbox } from '../adapters/dynamodb/inbox.ts';
import { DynamoNotices } from '../adapters/dynamodb/notices.ts';
import { DynamoPipeline } from '../adapters/dynamodb/pipeline.ts';
import { DynamoQuarantine } from '../adapters/dynamodb/quarantine.ts';
import { DynamoRecurring } from '../adapters/dynamodb/recurring.ts';
import { DynamoRequests } from '../adapters/dynamodb/requests.ts';
import { DynamoRuns } from '../adapters/dynamodb/runs.ts';
import { DynamoSignals } from '../adapters/dynamodb/signals.ts';
import { DynamoSubscriptions } from '../adapters/dynamodb/subscriptions.ts';
import { Transactor } from '../adapters/dynamodb/transaction.ts';
import { createLockClient } from '../adapters/lock/lock-client.ts';
import { systemEpochSeconds } from '../adapters/lock/lock-options.ts';
import { DynamoLockWatch } from '../adapters/lock/lock-watch.ts';
import { RememberingLocks } from '../adapters/lock/remembering-locks.ts';
import { systemTimer } from '../adapters/system-timer.ts';
import type * as sections from '../config/sections.ts';
import type { Attendance } from '../ports/attendance.ts';
import type { BanLog } from '../ports/bans.ts';
import type { Checkpoints } from '../ports/checkpoints.ts';
import type { Clock } from '../ports/clock.ts';
import type { Bypasses, CollectionHistory, FloatsRepository } from '../ports/floats.ts';
import type { FreezeStore } from '../ports/freezes.ts';
import type { GatewayEvents, GatewaySubscriptions } from '../ports/gateways.ts';
import type { IdempotencyKeys } from '../ports/idempotency.ts';
import type { Inbox, Quarantine } from '../ports/inbox.ts';
import type { LockClient, LockWatch } from '../ports/lock.ts';
import type { Log } from '../ports/log.ts';
import type { Notices } from '../ports/notices.ts';
import type { PipelineStore } from '../ports/pipeline.ts';
import type { RecurringRepository } from '../ports/recurring.ts';
import type { RequestStore } from '../ports/requests.ts';
import type { RunStore } from '../ports/runs.ts';
import type { SignalStore } from '../ports/signals.ts';
import type { HistoryRepository, SubscriptionsRepository } from '../ports/subscriptions.ts';
import type { Timer } from '../ports/timer.ts';

export interface StoreSettings {
  readonly dynamodb: z.output<typeof sections.dynamodb>;
  readonly lock: z.output<typeof sections.lock>;
  readonly janitor: z.output<typeof sections.janitor>;
}

/** Everything that is kept in DynamoDB. */
export interface Stores {
  readonly subscriptions: SubscriptionsRepository;
  readonly history: HistoryRepository;
  readonly pipeline: PipelineStore;
  readonly runs: RunStore;
  readonly requests: RequestStore;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly signals: SignalStore;
  readonly freezes: FreezeStore;
  readonly inbox: Inbox;
  readonly quarantine: Quarantine;
  readonly checkpoints: Checkpoints;
  readonly attendance: Attendance;
  readonly notices: Notices;
  readonly bans: BanLog;
  readonly floats: FloatsRepository;
  readonly collectionHistory: CollectionHistory;
  readonly bypasses: Bypasses;
  readonly recurring: RecurringRepository;
  readonly gatewayEvents: GatewayEvents;
  readonly gatewaySubscriptions: GatewaySubscriptions;
  readonly locks: LockClient;
  readonly lockWatch: LockWatch;
  /** Releases the locks that are held. */
  close(): Promise<void>;
}

/** What the stores take from the world. A simulation hands in its own. */
export interface StoreTools {
  readonly client: ReturnType<typeof createDynamoClient>;
  readonly timer: Timer;
  /** Between 0 and 1, for the jitter. */
  readonly random: () => number;
  /** Never repeat. They name transactions, and holders of locks. */
  readonly ids: () => string;
  /** The wall clock that TTL goes by. */
  readonly epochSeconds: () => number;
  /** Hears what becomes of the locks, and which rows of the runs cannot be read. */
  readonly log: Log;
}

export const openStores = (settings: StoreSettings, clock: Clock, log: Log): Stores =>
  storesOn(settings, clock, {
    client: createDynamoClient({
      region: settings.dynamodb.DYNAMO_REGION,
      endpoint: settings.dynamodb.AWS_ENDPOINT_URL_DYNAMODB,
    }),
    timer: systemTimer,
    random: Math.random,
    ids: randomUUID,
    epochSeconds: systemEpochSeconds,
    log,
  });

export function storesOn(
  { dynamodb, lock, janitor }: StoreSettings,
  clock: Clock,
  { client, timer, random, ids, epochSeconds, log }: StoreTools,
): Stores {
  const table = dynamodb.PIPELINE_TABLE;
  const reader = new BatchReader({ client, table, timer, random });
  const writer = new BatchWriter({ client, table, timer, random });
  const transactor = new Transactor({ client, locksTable: dynamodb.LOCKS_TABLE, timer, random });
  const plainLocks = createLockClient({
    client,
    table: dynamodb.LOCKS_TABLE,
    clock,
    timer,
    leaseMs: lock.LOCK_LEASE_MS,
    heartbeatMs: lock.LOCK_HEARTBEAT_MS,
    ids,
    epochSeconds,
    log,
  });
  const floats = new DynamoFloats({
    client,
    transactor,
    floatsTable: dynamodb.DYNAMO_TABLE,
    collectionHistoryTable: dynamodb.COLLECTION_HISTORY_TABLE,
    pageSize: dynamodb.PAGE_SIZE,
    ids,
  });
  // Remembers busy locks, so that any later `acquire` can take over from a dead holder.
  const locks = new RememberingLocks(plainLocks, timer);
  return {
    subscriptions: new DynamoSubscriptions({
      client,
      transactor,
      billingTable: dynamodb.BILLING_TABLE,
      historyTable: dynamodb.HISTORY_TABLE,
      pageSize: dynamodb.PAGE_SIZE,
      ids,
    }),
    history: new DynamoHistory({
      client,
      transactor,
      historyTable: dynamodb.HISTORY_TABLE,
      ids,
    }),
    pipeline: new DynamoPipeline({
      client,
      table,
      reader,
      timer,
      checkDelaysMs: janitor.JANITOR_DELAYS,
    }),
    runs: new DynamoRuns({ client, table, reader, log }),
    requests: new DynamoRequests({ client, table }),
    idempotencyKeys: new DynamoIdempotencyKeys({ client, table }),
    signals: new DynamoSignals({ client, table }),
    freezes: new DynamoFreezes({ client, table, timer }),
    inbox: new DynamoInbox({ client, table, reader, writer, transactor, ids }),
    quarantine: new DynamoQuarantine({ client, table, reader, transactor, ids }),
    checkpoints: new DynamoCheckpoints({ client, table, transactor, ids }),
    attendance: new DynamoAttendance({ client, table }),
    notices: new DynamoNotices({ client, table }),
    bans: new DynamoBans({ client, table }),
    floats,
    collectionHistory: floats,
    bypasses: new DynamoBypasses({ client, table: dynamodb.BYPASS_TABLE }),
    recurring: new DynamoRecurring({
      client,
      transactor,
      table: dynamodb.RECURRING_TABLE,
      pageSize: dynamodb.PAGE_SIZE,
      ids,
    }),
    gatewayEvents: new DynamoGatewayEvents({ client, table }),
    gatewaySubscriptions: new DynamoGatewaySubscriptions({
      client,
      transactor,
      table: dynamodb.GATEWAY_TABLE,
      pipelineTable: table,
      ids,
    }),
    locks,
    lockWatch: new DynamoLockWatch({ client, table: dynamodb.LOCKS_TABLE }),
    async close() {
      await locks.close();
      client.destroy();
    },
  };
}
