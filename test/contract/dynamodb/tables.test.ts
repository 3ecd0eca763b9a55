import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDynamoClient } from '../../../src/adapters/dynamodb/client.ts';
import type { TableNames } from '../../../src/adapters/dynamodb/tables.ts';
import { ensureTable, inspectTable, tableDefinitions } from '../../../src/adapters/dynamodb/tables.ts';
import { sharedStack } from '../../support/stack.ts';

let client: DynamoDBClient;
let names: TableNames;
const made: string[] = [];

beforeAll(() => {
  client = createDynamoClient({ region: 'us-east-1', endpoint: sharedStack().dynamodbUrl });
});
beforeEach(() => {
  const suffix = randomUUID().slice(0, 8);
  names = {
    billing: `tables-billing-${suffix}`,
    history: `tables-history-${suffix}`,
    locks: `tables-locks-${suffix}`,
    pipeline: `tables-pipeline-${suffix}`,
    floats: `tables-floats-${suffix}`,
    collectionHistory: `tables-collection-history-${suffix}`,
    bypass: `tables-bypass-${suffix}`,
    recurring: `tables-recurring-${suffix}`,
    gateways: `tables-gateways-${suffix}`,
  };
  made.push(...(Object.values(names) as string[]));
});
afterAll(async () => {
  await Promise.all(
    made.map((TableName) => client.send(new DeleteTableCommand({ TableName })).catch(() => undefined)),
  );
  client.destroy();
});

async function ensureAll(addIndex = false) {
  const findings = [];
  for (const definition of tableDefinitions(names))
    findings.push(...(await ensureTable(client, definition, { addIndex })));
  return findings;
}

const inspectAll = async () =>
  (await Promise.all(tableDefinitions(names).map((table) => inspectTable(client, table)))).flat();

const describeTable = async (TableName: string) =>
  (await client.send(new DescribeTableCommand({ TableName }))).Table!;

const keyOf = (schema: { AttributeName?: string | undefined }[] | undefined) =>
  schema?.map(({ AttributeName }) => AttributeName).join('+');

describe('tables', () => {
  it('have the keys, indexes, TTLs and stream that the services share', async () => {
    await ensureAll();
    const billing = await describeTable(names.billing);
    expect(keyOf(billing.KeySchema)).toBe('user_id+billing_date');
    const indexes: Record<string, string> = Object.fromEntries(
      billing.GlobalSecondaryIndexes!.map((index): [string, string] => [
        index.IndexName!,
        `${keyOf(index.KeySchema)} ${index.Projection?.ProjectionType}`,
      ]),
    );
    expect(indexes).toEqual({
      'subscription_id-index': 'subscription_id ALL',
      'billing_status-index': 'billing_status ALL',
      'billing_status-billing_date-index': 'billing_status+billing_date ALL',
    });
    expect(billing.StreamSpecification).toEqual({
      StreamEnabled: true,
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    });
    expect(keyOf((await describeTable(names.history)).KeySchema)).toBe('user_id+last_run_date');
    expect(keyOf((await describeTable(names.locks)).KeySchema)).toBe('PartitionKey');
    const ttl = await client.send(new DescribeTimeToLiveCommand({ TableName: names.locks }));
    expect(ttl.TimeToLiveDescription).toMatchObject({
      AttributeName: 'deleteOn',
      TimeToLiveStatus: 'ENABLED',
    });
  });

  it('of floats have the keys that the service before us used', async () => {
    await ensureAll();
    const log = await describeTable(names.collectionHistory);
    expect(keyOf(log.KeySchema)).toBe('loan_id+run_time');
    expect(log.AttributeDefinitions).toContainEqual({ AttributeName: 'run_time', AttributeType: 'N' });
    expect(keyOf((await describeTable(names.bypass)).KeySchema)).toBe('user_id');
    const floats = await describeTable(names.floats);
    expect(keyOf(floats.KeySchema)).toBe('PK');
    expect(floats.GlobalSecondaryIndexes!.map(({ KeySchema }) => keyOf(KeySchema)).sort()).toEqual([
      'status+due_date',
      'user_id+created_at',
    ]);
  });

  it('of recurring payments are as their design has them, with what each index holds', async () => {
    await ensureAll();
    const table = await describeTable(names.recurring);
    expect(keyOf(table.KeySchema)).toBe('PK+SK');
    const indexes = table.GlobalSecondaryIndexes!.map(({ IndexName, KeySchema, Projection }) => ({
      name: IndexName,
      key: keyOf(KeySchema),
      holds: [...Projection!.NonKeyAttributes!].sort(),
    }));
    expect(indexes.sort((a, b) => (a.name! < b.name! ? -1 : 1))).toEqual([
      {
        name: 'GSI-1',
        key: 'NextReminderDate+LastReminderDate',
        holds: ['Email', 'NextPaymentDate', 'SKU'],
      },
      {
        name: 'GSI-2',
        key: 'NextPaymentDate+LastPaymentDate',
        holds: ['Email', 'PaymentAmount', 'PaymentDay', 'PaymentDetails', 'SKU'],
      },
    ]);
    const ttl = await client.send(new DescribeTimeToLiveCommand({ TableName: names.recurring }));
    expect(ttl.TimeToLiveDescription).toMatchObject({ AttributeName: 'TTL', TimeToLiveStatus: 'ENABLED' });
  });

  it('of gateways are found by id, by owner and SKU, and by what is to be done, and tell of their changes', async () => {
    await ensureAll();
    const { KeySchema, GlobalSecondaryIndexes, StreamSpecification } = await describeTable(names.gateways);
    expect(keyOf(KeySchema)).toBe('id');
    expect(GlobalSecondaryIndexes!.map((index) => keyOf(index.KeySchema)).sort()).toEqual([
      'dueList+dueAt',
      'owner_id+sku',
    ]);
    expect(StreamSpecification?.StreamEnabled).toBe(true);
  });

  it('are made once however often, also by two at the same time', async () => {
    const [first, second] = await Promise.all([ensureAll(), ensureAll()]);
    expect([...first, ...second].every(({ status }) => status === 'made' || status === 'there')).toBe(true);
    const again = await ensureAll();
    expect(again.map(({ status }) => status)).toEqual(again.map(() => 'there'));
    expect((await inspectAll()).map(({ status }) => status)).toEqual(again.map(() => 'there'));
  });

  it('that are missing are found missing, with what to do', async () => {
    const findings = await inspectAll();
    expect(findings.map(({ status }) => status)).toEqual(tableDefinitions(names).map(() => 'missing'));
    for (const { remedy } of findings) expect(remedy).toContain('tables');
  });

  describe('when the billing table of the Go service is there already', () => {
    beforeEach(async () => {
      await client.send(
        new CreateTableCommand({
          TableName: names.billing,
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: [
            { AttributeName: 'user_id', KeyType: 'HASH' },
            { AttributeName: 'billing_date', KeyType: 'RANGE' },
          ],
          AttributeDefinitions: ['user_id', 'billing_date', 'subscription_id', 'billing_status'].map(
            (AttributeName) => ({
              AttributeName,
              AttributeType: 'S' as const,
            }),
          ),
          GlobalSecondaryIndexes: ['subscription_id', 'billing_status'].map((AttributeName) => ({
            IndexName: `${AttributeName}-index`,
            KeySchema: [{ AttributeName, KeyType: 'HASH' as const }],
            Projection: { ProjectionType: 'ALL' as const },
          })),
        }),
      );
    });
    const dueIndex = <T extends { what: string }>(findings: T[]) =>
      findings.find(({ what }) => what === 'billing_status-billing_date-index');

    it('its new index waits for an operator, the stream does not', async () => {
      const findings = await ensureAll(false);
      expect(dueIndex(findings)).toMatchObject({
        status: 'missing',
        remedy: expect.stringContaining('--add-index') as string,
      });
      expect((await describeTable(names.billing)).StreamSpecification?.StreamEnabled).toBe(true);
      expect((await describeTable(names.billing)).GlobalSecondaryIndexes).toHaveLength(2);
    });

    it('an operator adds the index', async () => {
      expect(dueIndex(await ensureAll(true))).toMatchObject({ status: 'made' });
      expect(dueIndex(await ensureAll(true))).toMatchObject({ status: 'there' });
    });
  });

  it('a stream of another kind than the feeder needs is told of and left alone: somebody reads it', async () => {
    await client.send(
      new CreateTableCommand({
        TableName: names.billing,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [
          { AttributeName: 'user_id', KeyType: 'HASH' },
          { AttributeName: 'billing_date', KeyType: 'RANGE' },
        ],
        AttributeDefinitions: [
          { AttributeName: 'user_id', AttributeType: 'S' },
          { AttributeName: 'billing_date', AttributeType: 'S' },
        ],
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
      }),
    );
    const told = { status: 'wrong', optional: true, remedy: expect.stringContaining('NEW_IMAGE') as string };
    const made = (await ensureAll(false)).filter(({ table }) => table === names.billing);
    expect(made.find(({ what }) => what === 'stream')).toMatchObject(told);
    // Its indexes are filled one at a time: whatever is not made now says when.
    const waiting = made.filter(({ status, optional }) => status === 'missing' && optional !== true);
    for (const { remedy } of waiting) expect(remedy).toContain('another index of this table is being filled');
    const seen = (await inspectAll()).filter(({ table }) => table === names.billing);
    expect(seen.find(({ what }) => what === 'stream')).toMatchObject(told);
    const { StreamSpecification } = await describeTable(names.billing);
    expect(StreamSpecification?.StreamViewType).toBe('NEW_IMAGE');
  });

  it('a table of the same name with another key is called wrong and left alone', async () => {
    await client.send(
      new CreateTableCommand({
        TableName: names.locks,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      }),
    );
    const wrong = (await inspectAll()).find(({ table, what }) => table === names.locks && what === 'table');
    expect(wrong).toMatchObject({
      status: 'wrong',
      remedy: expect.stringContaining('its key is id, not PartitionKey') as string,
    });
  });
});
