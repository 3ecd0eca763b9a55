import { randomUUID } from 'node:crypto';
import { ruleRouting } from '../../src/adapters/ach-routing/rule-routing.ts';
import { BatchReader } from '../../src/adapters/dynamodb/batch-reader.ts';
import { DynamoPipeline } from '../../src/adapters/dynamodb/pipeline.ts';
import { createLockClient } from '../../src/adapters/lock/lock-client.ts';
import { HttpAccountService } from '../../src/adapters/services/account-service.ts';
import { HttpService } from '../../src/adapters/services/http.ts';
import { HttpProcessor } from '../../src/adapters/services/processor.ts';
import { HttpUserService } from '../../src/adapters/services/user-service.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import type { CollectAnyDependencies } from '../../src/app/any-product.ts';
import type { CollectRequest } from '../../src/app/collect-subscription.ts';
import { collectSubscription } from '../../src/app/collect-subscription.ts';
import { DEFAULT_FLOAT_POLICY } from '../../src/domain/floats/policy.ts';
import type { Instant } from '../../src/domain/instant.ts';
import { formatInstant } from '../../src/domain/instant.ts';
import type { Path } from '../../src/domain/paths.ts';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { DEFAULT_RECURRING_POLICY } from '../../src/domain/recurring/policy.ts';
import type { Subscription, UserId } from '../../src/domain/subscription.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import type { RecordRef } from '../../src/ports/runs.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import type { OnStep } from '../../src/ports/steps.ts';
import { billingStore } from './billing-store.ts';
import type { BillingStore, StoreOptions } from './billing-store.ts';
import { openGate } from './open-gate.ts';
import { startSandbox } from './sandbox.ts';
import { at, subscription } from './records.ts';

export interface LedgerEntry {
  readonly type: string;
  readonly effect?: 'debit' | 'credit';
  readonly amount?: string;
  readonly method?: string;
  readonly idempotency_key?: string;
  readonly refund_key?: string;
}

/** Real tables, the real bank, the production code, and a clock that tests set. */
export interface World {
  /** Where the bank answers. */
  readonly url: string;
  readonly store: BillingStore;
  /** Floats too, for whoever has their tables. */
  readonly dependencies: CollectAnyDependencies;
  now: Instant;
  onStep: OnStep;
  /** What the log said, beside what it is about. */
  readonly alarms: { readonly alarm?: string }[];
  /** A member with one record that is due. Settings are the bank's, fields the record's. */
  member(settings?: object, fields?: Partial<Subscription>): Promise<StoredSubscription>;
  collect(path: Path, record: RecordRef, triggerId?: string, run?: CollectRequest['run']): Promise<Verdict>;
  row(record: Subscription): Promise<StoredSubscription>;
  partition(userId: UserId): Promise<readonly StoredSubscription[]>;
  ledger(record: Subscription): Promise<LedgerEntry[]>;
  faults(rules: readonly object[]): Promise<void>;
  bank(method: string, path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export async function world(options: StoreOptions = {}): Promise<World> {
  const store = await billingStore(options);
  const sandbox = await startSandbox({});
  const http = (name: string, timeoutMs = 5_000): HttpService =>
    new HttpService({ url: sandbox.url, name, timeoutMs });
  const clock = { now: (): Instant => here.now };
  const locks = createLockClient({
    client: store.client,
    table: store.tables.locks,
    clock,
    timer: systemTimer,
  });
  const reader = new BatchReader({
    client: store.client,
    table: store.tables.pipeline,
    timer: systemTimer,
    random: Math.random,
  });
  const dependencies: CollectAnyDependencies = {
    floats: store.floats,
    collectionHistory: store.floats,
    achRouting: ruleRouting('off'),
    floatPolicy: DEFAULT_FLOAT_POLICY,
    recurring: store.recurring,
    recurringPolicy: DEFAULT_RECURRING_POLICY,
    locks,
    subscriptions: store.subscriptions,
    pipeline: new DynamoPipeline({
      client: store.client,
      table: store.tables.pipeline,
      reader,
      timer: systemTimer,
      checkDelaysMs: [300_000, 3_600_000, 86_400_000],
    }),
    users: new HttpUserService(http('user service')),
    accounts: new HttpAccountService(http('transactions service')),
    processor: new HttpProcessor(http('payments service', 1_000)),
    gate: openGate,
    policy: DEFAULT_POLICY,
    clock,
    timer: systemTimer,
    processorTimeoutMs: 1_000,
    onStep: (step, ids) => here.onStep(step, ids),
    log: { error: (fields) => here.alarms.push(fields) },
    metrics: { floatOverpaid: () => undefined, subscriptionOverpaid: () => undefined },
  };
  const bank = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(sandbox.url + path, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : response.json();
  };
  const here: World = {
    url: sandbox.url,
    store,
    dependencies,
    now: at('2026-11-16T08:00:00Z'),
    onStep: () => undefined,
    alarms: [],
    bank,
    async member(settings = {}, fields = {}) {
      const userId = `member-${randomUUID()}` as UserId;
      await bank('PUT', `/sandbox/users/${userId}`, settings);
      const fence = await store.takeLock(userId);
      const born = subscription({ userId, ...fields, billingStatus: 'SCHEDULED' });
      const record = await store.subscriptions.add(
        fence,
        born,
        await store.context(userId, { cause: 'plan-changed', now: at('2026-10-16T08:00:00Z') }),
      );
      await store.releaseLock(userId);
      if (fields.billingStatus === undefined || fields.billingStatus === 'SCHEDULED') return record;
      const item = (await store.billingRow(userId, formatInstant(record.billingDate)))!;
      await store.putBillingRow({ ...item, billing_status: { S: fields.billingStatus } });
      return here.row(record);
    },
    async collect(path, record, triggerId = `trigger-${randomUUID()}`, run) {
      const { userId, subscriptionId } = record;
      const result = await collectSubscription(dependencies, {
        path,
        userId,
        subscriptionId,
        triggerId,
        run,
      });
      if ('busy' in result) throw new Error('somebody else works on this member');
      return result.verdict;
    },
    async row({ userId, subscriptionId }) {
      const found = (await here.partition(userId)).find((row) => row.subscriptionId === subscriptionId);
      if (found === undefined) throw new Error(`no record ${subscriptionId}`);
      return found;
    },
    partition: async (userId) => (await store.subscriptions.listByUserID(userId)).subscriptions,
    async ledger({ subscriptionId }) {
      const page = await bank('GET', `/ledger?reference_id=${subscriptionId}&limit=5000`);
      return (page as { entries: LedgerEntry[] }).entries;
    },
    async faults(rules) {
      await bank('PUT', '/sandbox/faults', rules);
    },
    async close() {
      await locks.close();
      await sandbox.stop();
      await store.drop();
    },
  };
  return here;
}

export const debits = (entries: readonly LedgerEntry[]): number =>
  entries.filter(({ effect }) => effect === 'debit').length;
