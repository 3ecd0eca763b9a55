import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DynamoRuns } from '../../../src/adapters/dynamodb/runs.ts';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { BatchReader } from '../../../src/adapters/dynamodb/batch-reader.ts';
import { DynamoSubscriptions } from '../../../src/adapters/dynamodb/subscriptions.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import type { AdoptCounts, AdoptDependencies } from '../../../src/app/adopt.ts';
import { adopt } from '../../../src/app/adopt.ts';
import { settleAch } from '../../../src/app/settle-ach.ts';
import { formatInstant, plusDays } from '../../../src/domain/instant.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { PageKey, StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Bench } from '../../audit/bench.ts';
import { bench, changed } from '../../audit/bench.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits } from '../../support/world.ts';

let on: Bench;
let here: World;
/** A Monday. The bank's clock does not go back. */
let start = at('2026-11-02T08:00:00Z');
let owned: Set<UserId>;

beforeAll(async () => {
  on = await bench();
  here = on.here;
});
afterAll(() => on.close());
beforeEach(async () => {
  start = plusDays(start, 14);
  await on.at(start);
  owned = new Set();
});

const ours = (record: StoredSubscription): StoredSubscription => {
  owned.add(record.userId);
  return record;
};
const dependencies = (): AdoptDependencies => ({
  ...here.dependencies,
  owns: (userId) => owned.has(userId),
});
const run = (): Promise<AdoptCounts> => adopt(dependencies(), () => undefined);

/** The row as the Go service leaves it, with its history. */
async function goWrites(record: StoredSubscription, attributes: object): Promise<StoredSubscription> {
  const now = formatInstant(here.now).replace('Z', '.5Z');
  const row = (await here.store.billingRow(record.userId, formatInstant(record.billingDate)))!;
  const written = changed(row, { last_run_date: now, ...attributes });
  await on.put('billing', written);
  await on.put('history', written);
  return here.row(record);
}

/** Sent to the bank by the Go service. */
async function sentByGo(settings: object = {}): Promise<StoredSubscription> {
  const record = await here.member(settings, { billingDate: plusDays(start, -1) });
  const confirmationId = await on.charge(record, `go-${record.subscriptionId}`, 'ACH');
  return goWrites(record, {
    billing_status: 'ACHSENT',
    transaction_id: confirmationId,
    initial_run_date: formatInstant(here.now),
    process: 'INITIAL',
  });
}

async function resumesListed(): Promise<string[]> {
  const { client, tables } = here.store;
  const reader = new BatchReader({
    client,
    table: tables.pipeline,
    timer: systemTimer,
    random: Math.random,
  });
  const runs = new DynamoRuns({ client, table: tables.pipeline, reader, log: NO_LOG });
  const found: string[] = [];
  let key: PageKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof runs.resumes>> = await runs.resumes(key);
    found.push(...page.records.map(({ subscriptionId }) => subscriptionId));
    key = page.nextKey;
  } while (key !== null);
  return found;
}

const watchOn = ({ subscriptionId }: StoredSubscription) =>
  here.dependencies.pipeline.watches.get(subscriptionId);

describe('adopting a record that the Go service sent to the bank', () => {
  it('watches it, and it is completed when the bank has paid', async () => {
    const record = ours(await sentByGo());
    expect(await run()).toMatchObject({ watches: 1, known: 0 });
    expect(await watchOn(record)).toEqual({
      userId: record.userId,
      subscriptionId: record.subscriptionId,
      confirmationId: record.transactionId,
      attemptId: null,
      sentAt: record.lastRunDate,
      checks: 0,
    });
    await on.at(plusDays(start, 4));
    expect(await settleAch(here.dependencies, record)).toMatchObject({
      settled: { billingStatus: 'COMPLETED' },
    });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'COMPLETED',
      updatedEvent: 'payment-completed',
      process: 'INITIAL',
    });
    expect(await watchOn(record)).toBeNull();
    expect(debits(await here.ledger(record))).toBe(1);
    // Of our own making there is nothing that the audit minds; a debit without our intent was the Go service's.
    const rules = (await on.found(record)).map(({ rule }) => rule);
    expect(rules.filter((rule) => rule === 3 || rule === 4)).toEqual([]);
  });

  it('knows after its return that it was presented once', async () => {
    const record = ours(await sentByGo({ has_debit_card: false, ach: { mode: 'return', code: 'R02' } }));
    await run();
    await on.at(plusDays(start, 4));
    await settleAch(here.dependencies, record);
    const { state } = await here.dependencies.pipeline.readBackground({
      ...record,
      triggerId: '',
      accountId: null,
    });
    expect(state.past).toEqual([
      {
        process: 'INITIAL',
        at: record.lastRunDate,
        rail: 'ACH',
        result: 'RETURNED',
        returnCode: 'R02',
        accountId: null,
      },
    ]);
    expect(await here.collect('RETRY', record)).toMatchObject({
      verdict: 'skipped',
      reason: 'ach-not-representable',
    });
  });

  it('does nothing twice, and leaves our own watches alone', async () => {
    ours(await sentByGo());
    const own = ours(await here.member({ has_debit_card: false }, { billingDate: plusDays(start, -1) }));
    expect(await here.collect('INITIAL', own)).toMatchObject({ verdict: 'sent' });
    const watch = await watchOn(own);
    expect(await run()).toMatchObject({ watches: 1, known: 1 });
    expect(await run()).toMatchObject({ watches: 0, known: 2 });
    expect(await watchOn(own)).toEqual(watch);
  });

  /** Sent by us; then its member went back to the Go service, which heard of the return and sent it once more. */
  async function sentAgainByGo(): Promise<StoredSubscription> {
    const settings = { has_debit_card: false, ach: { mode: 'return', code: 'R01', times: 1 } };
    const record = ours(await here.member(settings, { billingDate: plusDays(start, -1) }));
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
    await on.at(plusDays(start, 4));
    await goWrites(record, { billing_status: 'ERROR' });
    const confirmationId = await on.charge(record, `go-${record.subscriptionId}`, 'ACH');
    return goWrites(record, { billing_status: 'ACHSENT', transaction_id: confirmationId });
  }

  it('is not settled with the word about the entry that we had sent before it', async () => {
    const record = await sentAgainByGo();
    expect(await settleAch(here.dependencies, record)).toEqual({ left: 'settled-meanwhile' });
    expect(await here.row(record)).toEqual(record);
    expect(await watchOn(record)).toBeNull();
  });

  it('watches it in the place of the entry that we had sent before it', async () => {
    const record = await sentAgainByGo();
    expect(await run()).toMatchObject({ watches: 1 });
    expect(await watchOn(record)).toMatchObject({ confirmationId: record.transactionId, attemptId: null });
    await on.at(plusDays(start, 12));
    expect(await settleAch(here.dependencies, record)).toMatchObject({
      settled: { billingStatus: 'COMPLETED' },
    });
  });

  it('leaves the users of the older service to it', async () => {
    const record = await sentByGo();
    const { notOwned, watches } = await run();
    expect(watches).toBe(0);
    expect(notOwned).toBeGreaterThan(0);
    expect(await watchOn(record)).toBeNull();
  });

  it('makes nothing of an index entry whose record has gone on', async () => {
    const record = ours(await sentByGo());
    const { subscriptions } = here.dependencies;
    const behind: AdoptDependencies = {
      ...dependencies(),
      subscriptions: {
        listByUserID: (userId) => subscriptions.listByUserID(userId),
        async getNotificationSubscriptionPage(...query) {
          const page = await subscriptions.getNotificationSubscriptionPage(...query);
          if (query[0] === 'ACHSENT') await goWrites(record, { billing_status: 'COMPLETED' });
          return page;
        },
      },
    };
    expect(await adopt(behind, () => undefined)).toMatchObject({ watches: 0, outdated: 1 });
    expect(await watchOn(record)).toBeNull();
  });

  it('tells of a row that names no payment', async () => {
    const record = ours(await goWrites(await here.member(), { billing_status: 'ACHSENT' }));
    expect(await run()).toMatchObject({ watches: 0, unaskable: 1 });
    expect(await watchOn(record)).toBeNull();
    await goWrites(record, { billing_status: 'ERROR' });
  });
});

describe('adopting a record whose member wants to be charged on resuming', () => {
  it('puts it on the list that the pause run reads, whatever its date, once', async () => {
    const flags = { updated_event: 'pause-pending-resume' };
    const due = await here.member({}, { billingDate: plusDays(start, 200) });
    const record = ours(await goWrites(due, flags));
    const plain = ours(await here.member());
    expect(await run()).toMatchObject({ resumes: 1, known: 0 });
    expect(await resumesListed()).toEqual([record.subscriptionId]);
    expect(await run()).toMatchObject({ resumes: 0, known: 1 });
    expect(await here.collect('PAUSE', record)).toMatchObject({ verdict: 'collected' });
    expect(await here.row(plain)).toMatchObject({ billingStatus: 'SCHEDULED' });

    // A wish that was noted after somebody last looked stays.
    await here.dependencies.pipeline.forgetResume(record.subscriptionId, plusDays(here.now, -1));
    expect(await resumesListed()).toEqual([record.subscriptionId]);
    // Resumed: nothing to be made again.
    await here.dependencies.pipeline.forgetResume(record.subscriptionId, here.now);
    expect(await run()).toMatchObject({ resumes: 0, known: 0 });
  });
});

it('goes through all pages and tells how far it is', async () => {
  for (let i = 0; i < 5; i += 1) ours(await sentByGo());
  const { client, tables } = here.store;
  const { subscriptions: store } = here.dependencies;
  const seen: number[] = [];
  let pages = 0;
  const paged: AdoptDependencies = {
    ...dependencies(),
    subscriptions: {
      listByUserID: (userId) => store.listByUserID(userId),
      getNotificationSubscriptionPage: (...query) => {
        pages += 1;
        return smallPages.getNotificationSubscriptionPage(...query);
      },
    },
  };
  const smallPages = new DynamoSubscriptions({
    client,
    transactor: new Transactor({
      client,
      locksTable: tables.locks,
      timer: systemTimer,
      random: Math.random,
    }),
    pageSize: 2,
    billingTable: tables.billing,
    historyTable: tables.history,
    ids: randomUUID,
  });
  const counts = await adopt(paged, (progress) => seen.push(progress.seen));
  expect(counts.watches).toBe(5);
  expect(pages).toBeGreaterThan(4);
  expect(seen).toHaveLength(pages);
  expect(seen.at(-1)).toBe(counts.seen);
});
