import { randomUUID } from 'node:crypto';
import { connectRedis } from '../../queues/connection.ts';
import { QueueSet } from '../../queues/queue-set.ts';
import { GATEWAYS } from '../../src/adapters/gateways/all.ts';
import { createMetrics } from '../../src/adapters/metrics/prometheus.ts';
import { readConfig } from '../../src/config/read-config.ts';
import * as sections from '../../src/config/sections.ts';
import type { GatewaySubscription } from '../../src/domain/gateways/subscription.ts';
import type { Instant } from '../../src/domain/instant.ts';
import type { GatewayOutcome, StoredGatewayEvent } from '../../src/ports/gateways.ts';
import type { Log } from '../../src/ports/log.ts';
import type { RunningRole } from '../../src/wiring/role.ts';
import type { Stores } from '../../src/wiring/stores.ts';
import { openStores } from '../../src/wiring/stores.ts';
import { startWorkers } from '../../workers/start-workers.ts';
import type { ApiClient } from './api.ts';
import { NO_SERVICES, api } from './api.ts';
import type { BillingStore } from './billing-store.ts';
import { billingStore } from './billing-store.ts';
import type { Chain, Post } from './gateway-payloads.ts';
import { appleChain, gatewayEnvironment } from './gateway-payloads.ts';
import { gatewayTable } from './gateway-table.ts';
import { eventually } from './processes.ts';
import { at } from './records.ts';
import type { PrivateRedis } from './redis-server.ts';
import { privateRedis } from './redis-server.ts';
import { sharedStack } from './stack.ts';

export interface Answered {
  readonly status: number;
  readonly body: { readonly code?: string; readonly event_id?: string; readonly duplicate?: boolean };
}

/** Real tables, a Redis of its own, the real API, and real workers when a test starts some. */
export interface GatewayDesk {
  readonly chain: Chain;
  readonly store: BillingStore;
  readonly stores: Stores;
  readonly redis: PrivateRedis;
  readonly queues: QueueSet;
  readonly environment: Readonly<Record<string, string>>;
  readonly client: ApiClient;
  /** What was logged with an alarm. */
  readonly alarms: readonly Readonly<Record<string, unknown>>[];
  /** Waits for one: it is logged after what it is about was written. */
  alarm(fields: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** For what is called without a process. */
  now: Instant;
  dependencies(): {
    readonly gateways: typeof GATEWAYS;
    readonly clock: { now(): Instant };
    readonly log: Log;
    readonly metrics: ReturnType<typeof createMetrics>;
    readonly ids: () => string;
    readonly enqueueGatewayEvent: (event: StoredGatewayEvent) => Promise<void>;
  } & Stores;
  worker(): Promise<RunningRole>;
  post(post: Post): Promise<Answered>;
  /** Posts it, and waits for what it did. */
  happens(post: Post): Promise<GatewayOutcome>;
  outcome(eventId: string): Promise<GatewayOutcome>;
  /** Why jobs have failed. */
  failedJobs(): Promise<string[]>;
  subscription(gateway: string, ref: string): Promise<GatewaySubscription>;
  close(): Promise<void>;
}

export async function gatewayDesk(env: Readonly<Record<string, string>> = {}): Promise<GatewayDesk> {
  const [store, redis, table] = await Promise.all([billingStore(), privateRedis(), gatewayTable()]);
  const { tables } = store;
  const chain = appleChain();
  const environment = {
    REDIS_URL: redis.url,
    AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
    BILLING_TABLE: tables.billing,
    HISTORY_TABLE: tables.history,
    LOCKS_TABLE: tables.locks,
    PIPELINE_TABLE: tables.pipeline,
    GATEWAY_TABLE: table.name,
    API_RATE_PER_MINUTE: '1000000',
    QUEUES: 'gateway-events',
    ...NO_SERVICES,
    ...gatewayEnvironment(chain),
    ...env,
  };
  const alarms: Record<string, unknown>[] = [];
  const note = (fields: object): void => {
    if ('alarm' in fields) alarms.push({ ...fields });
  };
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: note,
    child: () => log,
  };
  const client = await api(environment, log);
  const { dynamodb, lock, janitor } = sections;
  const clock = { now: (): Instant => desk.now };
  const stores = openStores(readConfig(environment, { dynamodb, lock, janitor }), clock, log);
  const connection = connectRedis({ url: redis.url, whenDown: 'wait', onError: () => undefined });
  const queues = new QueueSet(connection);
  const workers: RunningRole[] = [];
  const desk: GatewayDesk = {
    chain,
    store,
    stores,
    redis,
    queues,
    environment,
    client,
    alarms,
    now: at('2026-11-16T08:00:00Z'),
    dependencies: () => ({
      ...stores,
      gateways: GATEWAYS,
      clock,
      log,
      metrics: createMetrics(),
      ids: randomUUID,
      enqueueGatewayEvent: (event) => queues.ensureGatewayEvent(event),
    }),
    alarm: (fields) =>
      eventually(`an alarm of ${JSON.stringify(fields)}`, () =>
        alarms.find((each) => Object.entries(fields).every(([name, value]) => each[name] === value)),
      ),
    async worker() {
      const worker = await startWorkers(environment, { log, metrics: createMetrics() });
      workers.push(worker);
      return worker;
    },
    async post({ path, body, headers }) {
      const reply = await client.call('POST', path, { as: null, body, headers });
      return reply as unknown as Answered;
    },
    async happens(post) {
      const { status, body } = await desk.post(post);
      if (status !== 200) throw new Error(`${post.path} answers ${status} ${JSON.stringify(body)}`);
      return desk.outcome(body.event_id!);
    },
    outcome: (eventId) =>
      eventually(`${eventId} is applied`, async () => (await stores.gatewayEvents.get(eventId))?.outcome),
    async failedJobs() {
      const queue = queues.get('gateway-events');
      const jobs = await queue.getJobs(['failed', 'delayed']);
      return jobs.map(({ failedReason }) => failedReason);
    },
    async subscription(gateway, ref) {
      const id = await stores.gatewaySubscriptions.byRef(gateway as GatewaySubscription['gateway'], ref);
      const found = id === null ? null : await stores.gatewaySubscriptions.get(id);
      if (found === null) throw new Error(`${gateway} ${ref} is not there`);
      return found;
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await client.close();
      await stores.close();
      await queues.close();
      connection.disconnect();
      await redis.stop();
      await table.drop();
      await store.drop();
    },
  };
  return desk;
}

let refs = 0;

/** An id that no other subscription of these tests has. */
export const newRef = (): string => String(1_000_000 + (refs += 1));
