import type {
  AttributeDefinition,
  CreateTableCommandInput,
  DynamoDBClient,
  GlobalSecondaryIndex,
  KeySchemaElement,
  TableDescription,
} from '@aws-sdk/client-dynamodb';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  LimitExceededException,
  ResourceNotFoundException,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { FLOATS_BY_STATUS, FLOATS_BY_USER } from './floats.ts';
import { SUBSCRIPTIONS_BY_OWNER } from './gateway-subscriptions.ts';
import { DUE_LIST_INDEX, TRIGGER_INDEX } from './pipeline-items.ts';
import { PAYMENTS_BY_DAY, REMINDERS_BY_DAY } from './recurring.ts';
import { DUE_INDEX, ID_INDEX, STATUS_INDEX } from './subscriptions.ts';

export interface TableNames {
  readonly billing: string;
  readonly history: string;
  readonly locks: string;
  readonly pipeline: string;
  readonly floats: string;
  readonly collectionHistory: string;
  readonly bypass: string;
  readonly recurring: string;
  readonly gateways: string;
}

interface IndexDefinition {
  readonly name: string;
  readonly key: readonly [partition: string, sort?: string];
  /** What is in it beside the keys; everything where nothing is said. */
  readonly holds?: readonly string[];
  /** Made on a new table; on an existing one only when an operator asks, because filling it costs capacity. */
  readonly added?: true;
}

/** All keys are text, unless said otherwise. */
export interface TableDefinition {
  readonly name: string;
  readonly key: readonly [partition: string, sort?: string];
  /** The sort key is a number. */
  readonly sortsByNumber?: true;
  readonly indexes: readonly IndexDefinition[];
  readonly ttl?: string;
  /** Changes are published from the table's stream, with both images. */
  readonly stream?: true;
}

export const tableDefinitions = (names: TableNames): readonly TableDefinition[] => [
  {
    name: names.billing,
    key: ['user_id', 'billing_date'],
    indexes: [
      { name: ID_INDEX, key: ['subscription_id'] },
      { name: STATUS_INDEX, key: ['billing_status'] },
      { name: DUE_INDEX, key: ['billing_status', 'billing_date'], added: true },
    ],
    stream: true,
  },
  {
    name: names.history,
    key: ['user_id', 'last_run_date'],
    indexes: [{ name: ID_INDEX, key: ['subscription_id'] }],
  },
  { name: names.locks, key: ['PartitionKey'], indexes: [], ttl: 'deleteOn' },
  {
    name: names.pipeline,
    key: ['pk', 'sk'],
    indexes: [
      { name: DUE_LIST_INDEX, key: ['dueList', 'dueAt'] },
      { name: TRIGGER_INDEX, key: ['triggerPart', 'pk'] },
    ],
    ttl: 'expires_at',
  },
  {
    name: names.floats,
    key: ['PK'],
    indexes: [
      { name: FLOATS_BY_USER, key: ['user_id', 'created_at'] },
      { name: FLOATS_BY_STATUS, key: ['status', 'due_date'] },
    ],
  },
  { name: names.collectionHistory, key: ['loan_id', 'run_time'], sortsByNumber: true, indexes: [] },
  { name: names.bypass, key: ['user_id'], indexes: [] },
  {
    name: names.recurring,
    key: ['PK', 'SK'],
    indexes: [
      {
        name: REMINDERS_BY_DAY,
        key: ['NextReminderDate', 'LastReminderDate'],
        holds: ['SKU', 'Email', 'NextPaymentDate'],
      },
      {
        name: PAYMENTS_BY_DAY,
        key: ['NextPaymentDate', 'LastPaymentDate'],
        holds: ['Email', 'PaymentDay', 'PaymentAmount', 'SKU', 'PaymentDetails'],
      },
    ],
    ttl: 'TTL',
  },
  {
    name: names.gateways,
    key: ['id'],
    indexes: [
      { name: SUBSCRIPTIONS_BY_OWNER, key: ['owner_id', 'sku'] },
      { name: DUE_LIST_INDEX, key: ['dueList', 'dueAt'] },
    ],
    stream: true,
  },
];

/** One finding about a table: what was done, what is there, or what is wrong and how to mend it. */
export interface TableFinding {
  readonly table: string;
  readonly what: string;
  readonly status: 'made' | 'there' | 'missing' | 'wrong';
  readonly remedy?: string;
  /** It works without. */
  readonly optional?: true;
}

/** Makes what is missing and changes nothing that is there. Safe to repeat, and to run from two places at once. */
export async function ensureTable(
  client: DynamoDBClient,
  definition: TableDefinition,
  options: { readonly addIndex: boolean },
): Promise<TableFinding[]> {
  const made = await createIfMissing(client, definition);
  const table = await describe(client, definition.name);
  if (table === null) throw new Error(`table ${definition.name} vanished while it was being made`);
  const findings = [made ? finding(definition, 'table', 'made') : checkKey(definition, table)];
  for (const index of definition.indexes)
    findings.push(await ensureIndex(client, definition, index, table, options));
  if (definition.ttl !== undefined) findings.push(await ensureTtl(client, definition, definition.ttl));
  if (definition.stream === true) findings.push(await ensureStream(client, definition, table));
  return findings;
}

/** The same findings without making anything. */
export async function inspectTable(
  client: DynamoDBClient,
  definition: TableDefinition,
): Promise<TableFinding[]> {
  const remedy = 'run `npm run cli -- tables`';
  const table = await describe(client, definition.name);
  if (table === null) return [finding(definition, 'table', 'missing', remedy)];
  const findings = [checkKey(definition, table)];
  for (const index of definition.indexes) {
    if (hasIndex(table, index.name)) findings.push(finding(definition, index.name, 'there'));
    else if (index.added === true) findings.push(withoutAddedIndex(definition, index));
    else findings.push(finding(definition, index.name, 'missing', remedy));
  }
  if (definition.ttl !== undefined) {
    const there = await ttlIsOn(client, definition.name, definition.ttl);
    findings.push(finding(definition, `TTL on ${definition.ttl}`, there ? 'there' : 'missing', remedy));
  }
  if (definition.stream === true) {
    findings.push(checkStream(definition, table) ?? finding(definition, 'stream', 'missing', remedy));
  }
  return findings;
}

const ADD_INDEX =
  'run `npm run cli -- tables --add-index` when the table can spare the capacity; until then runs read the old index';

const withoutAddedIndex = (definition: TableDefinition, { name }: IndexDefinition): TableFinding => ({
  ...finding(definition, name, 'missing', ADD_INDEX),
  optional: true,
});

function finding(
  { name }: TableDefinition,
  what: string,
  status: TableFinding['status'],
  remedy?: string,
): TableFinding {
  const needsRemedy = status === 'missing' || status === 'wrong';
  return { table: name, what, status, ...(needsRemedy && remedy !== undefined ? { remedy } : {}) };
}

async function describe(client: DynamoDBClient, name: string): Promise<TableDescription | null> {
  try {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    return Table ?? null;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return null;
    throw error;
  }
}

async function createIfMissing(client: DynamoDBClient, definition: TableDefinition): Promise<boolean> {
  if ((await describe(client, definition.name)) !== null) return false;
  const status = await make(
    () => client.send(new CreateTableCommand(createInput(definition))),
    async () => (await describe(client, definition.name)) !== null,
  );
  await waitUntilTableExists({ client, maxWaitTime: 120, minDelay: 1 }, { TableName: definition.name });
  return status === 'made';
}

/** Two processes may make the same thing at once; the second gets an error and finds it there. */
async function make(
  request: () => Promise<unknown>,
  isThere: () => Promise<boolean>,
): Promise<'made' | 'there'> {
  try {
    await request();
    return 'made';
  } catch (error) {
    if (await isThere()) return 'there';
    throw error;
  }
}

function createInput(definition: TableDefinition): CreateTableCommandInput {
  const { name, indexes, stream } = definition;
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keySchema(definition.key),
    AttributeDefinitions: attributes(definition, indexes),
    ...(indexes.length === 0 ? {} : { GlobalSecondaryIndexes: indexes.map(indexInput) }),
    ...(stream === true ? { StreamSpecification: STREAM } : {}),
  };
}

const STREAM = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const;

const indexInput = ({ name, key, holds }: IndexDefinition): GlobalSecondaryIndex => ({
  IndexName: name,
  KeySchema: keySchema(key),
  Projection:
    holds === undefined
      ? { ProjectionType: 'ALL' }
      : { ProjectionType: 'INCLUDE', NonKeyAttributes: [...holds] },
});

const keySchema = ([partition, sort]: TableDefinition['key']): KeySchemaElement[] => [
  { AttributeName: partition, KeyType: 'HASH' },
  ...(sort === undefined ? [] : [{ AttributeName: sort, KeyType: 'RANGE' as const }]),
];

function attributes(
  { key, sortsByNumber }: TableDefinition,
  indexes: readonly IndexDefinition[],
): AttributeDefinition[] {
  const keys = [key, ...indexes.map((index) => index.key)];
  const names = new Set(keys.flat().filter((name) => name !== undefined));
  const isNumber = (name: string): boolean => sortsByNumber === true && name === key[1];
  return [...names].map((name) => ({ AttributeName: name, AttributeType: isNumber(name) ? 'N' : 'S' }));
}

function checkKey(definition: TableDefinition, { KeySchema = [] }: TableDescription): TableFinding {
  const found = KeySchema.map(({ AttributeName }) => AttributeName).join(' + ');
  const wanted = definition.key.join(' + ');
  if (found === wanted) return finding(definition, 'table', 'there');
  return finding(
    definition,
    'table',
    'wrong',
    `its key is ${found}, not ${wanted}: another table has this name`,
  );
}

const hasIndex = ({ GlobalSecondaryIndexes = [] }: TableDescription, name: string): boolean =>
  GlobalSecondaryIndexes.some(({ IndexName }) => IndexName === name);

const hasStream = ({ StreamSpecification }: TableDescription): boolean =>
  StreamSpecification?.StreamEnabled === true;

/**
 * Null: there is none. A stream made by another service may lack what the feeder needs, and only its readers can say
 * when to make it anew.
 */
function checkStream(definition: TableDefinition, table: TableDescription): TableFinding | null {
  if (!hasStream(table)) return null;
  const { StreamViewType: carries = '?' } = table.StreamSpecification ?? {};
  if (carries === STREAM.StreamViewType) return finding(definition, 'stream', 'there');
  const remedy = `it carries ${carries}, and FEEDER_ENABLED needs ${STREAM.StreamViewType}: whoever reads it has to turn it off and on`;
  return { ...finding(definition, 'stream', 'wrong', remedy), optional: true };
}

async function ensureIndex(
  client: DynamoDBClient,
  definition: TableDefinition,
  index: IndexDefinition,
  table: TableDescription,
  { addIndex }: { readonly addIndex: boolean },
): Promise<TableFinding> {
  if (hasIndex(table, index.name)) return finding(definition, index.name, 'there');
  if (index.added === true && !addIndex) return withoutAddedIndex(definition, index);
  const request = new UpdateTableCommand({
    TableName: definition.name,
    AttributeDefinitions: attributes(definition, [index]),
    GlobalSecondaryIndexUpdates: [{ Create: indexInput(index) }],
  });
  try {
    const status = await make(
      () => client.send(request),
      async () => hasIndex((await describe(client, definition.name)) ?? {}, index.name),
    );
    return finding(definition, index.name, status);
  } catch (error) {
    if (!(error instanceof LimitExceededException)) throw error;
    return finding(definition, index.name, 'missing', ONE_AT_A_TIME);
  }
}

/** DynamoDB fills one index of a table after the other, which may take hours. */
const ONE_AT_A_TIME =
  'another index of this table is being filled: run `npm run cli -- tables` again when it is';

async function ttlIsOn(client: DynamoDBClient, table: string, attribute: string): Promise<boolean> {
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: table }));
  const { TimeToLiveStatus, AttributeName } = TimeToLiveDescription ?? {};
  return AttributeName === attribute && (TimeToLiveStatus === 'ENABLED' || TimeToLiveStatus === 'ENABLING');
}

async function ensureTtl(
  client: DynamoDBClient,
  definition: TableDefinition,
  attribute: string,
): Promise<TableFinding> {
  const what = `TTL on ${attribute}`;
  if (await ttlIsOn(client, definition.name, attribute)) return finding(definition, what, 'there');
  const request = new UpdateTimeToLiveCommand({
    TableName: definition.name,
    TimeToLiveSpecification: { Enabled: true, AttributeName: attribute },
  });
  const status = await make(
    () => client.send(request),
    () => ttlIsOn(client, definition.name, attribute),
  );
  return finding(definition, what, status);
}

async function ensureStream(
  client: DynamoDBClient,
  definition: TableDefinition,
  table: TableDescription,
): Promise<TableFinding> {
  const found = checkStream(definition, table);
  if (found !== null) return found;
  const request = new UpdateTableCommand({ TableName: definition.name, StreamSpecification: STREAM });
  const status = await make(
    () => client.send(request),
    async () => hasStream((await describe(client, definition.name)) ?? {}),
  );
  return finding(definition, 'stream', status);
}
