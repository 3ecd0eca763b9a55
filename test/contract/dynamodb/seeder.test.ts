import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DynamoFloats } from '../../../src/adapters/dynamodb/floats.ts';
import type { MadeUpMember } from '../../../src/adapters/dynamodb/seeder.ts';
import { DynamoSeeder } from '../../../src/adapters/dynamodb/seeder.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { demoMember } from '../../../src/demo/population.ts';
import { isOpenFloat } from '../../../src/domain/floats/float.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import type { Subscription, UserId } from '../../../src/domain/subscription.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import { fail, injectFaults } from '../../support/dynamo-faults.ts';
import { at, subscription } from '../../support/records.ts';

let store: BillingStore;
let seeder: DynamoSeeder;

beforeAll(async () => {
  store = await billingStore({ withFloats: true, withRecurring: true });
  seeder = new DynamoSeeder({
    client: store.client,
    billingTable: store.tables.billing,
    historyTable: store.tables.history,
    pipelineTable: store.tables.pipeline,
    floatsTable: store.tables.floats,
    collectionHistoryTable: store.tables.collectionHistory,
    recurringTable: store.tables.recurring,
    timer: systemTimer,
    random: () => 0.01,
  });
});
afterAll(() => store.drop());

const records = (userId: string, count: number) =>
  Array.from({ length: count }, (_, i) => {
    const billingDate = plusDays(at('2026-01-01T06:00:00Z'), i);
    return subscription({
      userId: userId as UserId,
      billingDate,
      lastRunDate: plusDays(at('2026-01-01T06:00:00.1Z'), i),
    });
  });

/** As if each four were a member's: a batch takes three such. */
const fourAtATime = (all: readonly Subscription[]): MadeUpMember[] =>
  Array.from({ length: all.length / 4 }, (_, i) => ({
    records: all.slice(i * 4, i * 4 + 4),
    floats: [],
    recurring: [],
  }));

it('writes each record with its history row, and what DynamoDB left over again', async () => {
  expect(await seeder.isEmpty()).toBe(true);
  const userId = randomUUID();
  expect(await seeder.hasUser(userId)).toBe(false);

  const faults = injectFaults(store.client);
  let refused = 0;
  faults.script(
    'BatchWriteItemCommand',
    // Nothing of the first two batches is taken.
    () =>
      Promise.resolve({
        output: { UnprocessedItems: lastInput, $metadata: { attempt: (refused += 1) } },
        response: {},
      }),
    { times: 2, when: (input) => (lastInput = input['RequestItems']) !== undefined },
  );
  let lastInput: unknown;
  await seeder.write(fourAtATime(records(userId, 40)));
  faults.remove();

  expect(refused).toBe(2);
  expect((await store.subscriptions.listByUserID(userId)).subscriptions).toHaveLength(40);
  expect(await store.historyRows(userId)).toHaveLength(40);
  expect(await seeder.hasUser(userId)).toBe(true);
  expect(await seeder.isEmpty()).toBe(false);
});

it('writes each float with its past, as the repositories read it', async () => {
  const now = at('2026-11-16T08:00:00Z');
  const members = Array.from({ length: 60 }, (_, i) => demoMember(`floats-${randomUUID()}`, i + 1, now));
  await seeder.write(members);
  const floats = new DynamoFloats({
    client: store.client,
    transactor: new Transactor({
      client: store.client,
      locksTable: store.tables.locks,
      timer: systemTimer,
      random: Math.random,
    }),
    floatsTable: store.tables.floats,
    collectionHistoryTable: store.tables.collectionHistory,
    pageSize: 100,
    ids: randomUUID,
  });
  const made = members.flatMap((member) => member.floats);
  expect(made.length).toBeGreaterThan(15);
  for (const { float, log } of made) {
    expect(await floats.get(float.floatId)).toEqual(float);
    expect(await floats.getByFloatID(float.floatId)).toEqual(log);
    const isOpen = isOpenFloat(float.status);
    expect(await floats.openOf(float.userId)).toEqual(isOpen ? [float.floatId] : []);
  }
});

it('writes each recurring payment with its past, and numbers an account’s receipts through', async () => {
  const now = at('2026-11-16T08:00:00Z');
  const members = Array.from({ length: 60 }, (_, i) => demoMember(`paying-${randomUUID()}`, i + 1, now));
  await seeder.write(members);
  const made = members.map((member) => member.recurring).filter((all) => all.length > 0);
  expect(made.length).toBeGreaterThan(10);
  for (const all of made) {
    const [{ subscription }] = all as [(typeof all)[number]];
    const { accountId } = subscription;
    const page = { now, limit: 50, key: null };
    const { receipts } = await store.recurring.getReceiptsByAccount(accountId, page);
    expect(receipts.map(({ number }) => number)).toEqual(receipts.map((_, n) => receipts.length - n));
    expect(receipts).toHaveLength(all.flatMap((one) => one.receipts).length);
    for (const { subscription: one, changes } of all) {
      expect(await store.recurring.getSubscription(one)).toMatchObject({
        ...one,
        changedDate: one.changedDate,
      });
      const causes = (await store.recurring.changesOf(one)).map(({ cause }) => cause);
      expect(causes).toEqual(changes.map(({ cause }) => cause));
    }
  }
});

it('writes a recurring payment after all that belongs to it: a run that finds it goes on counting its receipts', async () => {
  const now = at('2026-11-16T08:00:00Z');
  const members = Array.from({ length: 30 }, (_, i) => demoMember(`late-${randomUUID()}`, i + 1, now));
  const batches: string[][] = [];
  const faults = injectFaults(store.client);
  const note = (input: Record<string, unknown>): boolean => {
    const requests = input['RequestItems'] as Record<
      string,
      { PutRequest: { Item: { SK: { S: string } } } }[]
    >;
    batches.push((requests[store.tables.recurring] ?? []).map(({ PutRequest }) => PutRequest.Item.SK.S));
    return false;
  };
  faults.script('BatchWriteItemCommand', fail(new Error('never')), { times: Infinity, when: note });
  await seeder.write(members);
  faults.remove();

  const has = (kind: RegExp) => (keys: readonly string[]) => keys.some((key) => kind.test(key));
  expect(batches.filter(has(/^COUNTER/))).not.toEqual([]);
  expect(batches.findIndex(has(/^SUB#/))).toBeGreaterThan(batches.findLastIndex(has(/^(COUNTER|REC#|CHG#)/)));
});

it('knows whether a seeding was finished', async () => {
  expect(await seeder.isMarkedDone('demo')).toBe(false);
  await seeder.markDone('demo');
  expect(await seeder.isMarkedDone('demo')).toBe(true);
  expect(await seeder.isMarkedDone('other')).toBe(false);
});

it('gives up with a clear word when items stay unprocessed', async () => {
  const faults = injectFaults(store.client);
  faults.script(
    'BatchWriteItemCommand',
    () => Promise.resolve({ output: { UnprocessedItems: { x: [{}] }, $metadata: {} }, response: {} }),
    { times: Infinity },
  );
  await expect(
    seeder.write([{ records: records(randomUUID(), 1), floats: [], recurring: [] }]),
  ).rejects.toThrow(/unprocessed/);
  faults.remove();
});
