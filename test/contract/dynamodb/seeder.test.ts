import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DynamoSeeder } from '../../../src/adapters/dynamodb/seeder.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import { injectFaults } from '../../support/dynamo-faults.ts';
import { at, subscription } from '../../support/records.ts';

let store: BillingStore;
let seeder: DynamoSeeder;

beforeAll(async () => {
  store = await billingStore();
  seeder = new DynamoSeeder({
    client: store.client,
    billingTable: store.tables.billing,
    historyTable: store.tables.history,
    pipelineTable: store.tables.pipeline,
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
const fourAtATime = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: all.length / 4 }, (_, i) => all.slice(i * 4, i * 4 + 4));

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
  await expect(seeder.write([records(randomUUID(), 1)])).rejects.toThrow(/unprocessed/);
  faults.remove();
});
