import { randomUUID } from 'node:crypto';
import type { BatchGetItemCommandInput, BatchGetItemCommandOutput } from '@aws-sdk/client-dynamodb';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { BatchReader } from '../../../src/adapters/dynamodb/batch-reader.ts';
import { ServiceDownError } from '../../../src/errors.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Fault, Faults } from '../../support/dynamo-faults.ts';
import { injectFaults, pass } from '../../support/dynamo-faults.ts';

const BATCH = 'BatchGetItemCommand';

let store: BillingStore;
let faults: Faults;
let asked: { keys: number; consistent: boolean | undefined }[];
let waits: number[];
let reader: BatchReader;

beforeAll(async () => {
  store = await billingStore();
});
afterAll(() => store.drop());
beforeEach(() => {
  faults = injectFaults(store.client);
  [asked, waits] = [[], []];
  const timer = { elapsedMs: () => 0, sleep: (ms: number) => Promise.resolve(void waits.push(ms)) };
  reader = new BatchReader({
    client: store.client,
    table: store.tables.pipeline,
    timer,
    random: () => 0.5,
  });
});
afterEach(() => {
  faults.remove();
});

const keysOf = (count: number) => {
  const pk = `BATCH#${randomUUID()}`;
  return Array.from({ length: count }, (_, i) => ({ pk, sk: String(i).padStart(3, '0') }));
};

async function stored(count: number) {
  const keys = keysOf(count);
  for (const key of keys)
    await store.client.send(new PutItemCommand({ TableName: store.tables.pipeline, Item: marshall(key) }));
  return keys;
}

const note = (input: Partial<BatchGetItemCommandInput>): boolean => {
  const { Keys = [], ConsistentRead } = input.RequestItems?.[store.tables.pipeline] ?? {};
  return asked.push({ keys: Keys.length, consistent: ConsistentRead }) > 0;
};

/** Answers with so many of the items, and leaves the keys of the others over. */
const answering =
  (most: number): Fault =>
  async (send) => {
    const { output, ...rest } = (await send()) as { output: BatchGetItemCommandOutput };
    const found = output.Responses?.[store.tables.pipeline] ?? [];
    const over = found.slice(most).map(({ pk, sk }) => ({ pk: pk!, sk: sk! }));
    const answer = {
      Responses: { [store.tables.pipeline]: found.slice(0, most) },
      UnprocessedKeys: { [store.tables.pipeline]: { Keys: over } },
    };
    return { ...rest, output: { ...output, ...answer } };
  };

it('asks again for what DynamoDB left over, consistently, and waits longer each time, by a random part', async () => {
  const keys = await stored(12);
  faults.script(BATCH, answering(5), { times: 2, when: note });
  faults.script(BATCH, pass, { times: Infinity, when: note });
  const found = await reader.get(keys);
  expect(found.map(({ sk }) => sk!.S!).sort()).toEqual(keys.map(({ sk }) => sk));
  expect(asked).toEqual([12, 7, 2].map((count) => ({ keys: count, consistent: true })));
  expect(waits).toEqual([25, 50]);
});

it('asks for a hundred at once, and gives what is there', async () => {
  const keys = await stored(3);
  faults.script(BATCH, pass, { times: Infinity, when: note });
  const found = await reader.get([...keys, ...keysOf(118)]);
  expect(found.map(({ sk }) => sk!.S!).sort()).toEqual(keys.map(({ sk }) => sk));
  expect(asked.map(({ keys: count }) => count)).toEqual([100, 21]);
  expect(waits).toEqual([]);
});

it('gives up with a clear word when keys stay unprocessed', async () => {
  faults.script(BATCH, answering(0), { times: Infinity });
  const failed = reader.get(await stored(1));
  await expect(failed).rejects.toThrow(/unprocessed/);
  await expect(failed).rejects.toBeInstanceOf(ServiceDownError);
  expect(faults.calls(BATCH)).toBe(8);
  expect(waits).toEqual([25, 50, 100, 200, 400, 500, 500]);
});
