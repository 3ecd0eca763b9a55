import type {
  CreateTableCommandInput,
  DeleteTableCommandInput,
  DescribeTableCommandInput,
  DescribeTimeToLiveCommandInput,
  ListTablesCommandInput,
  TableDescription,
  UpdateTableCommandInput,
  UpdateTimeToLiveCommandInput,
} from '@aws-sdk/client-dynamodb';
import { invalid, noSuchResource, resourceInUse } from './errors.ts';
import type { KeySchema } from './key-schema.ts';
import type { Store } from './store.ts';
import { Table } from './table.ts';

/* Tables and indexes are there at once: nothing is ever CREATING. */

export function createTable(store: Store, input: CreateTableCommandInput): object {
  const name = input.TableName ?? '';
  if (!/^[A-Za-z0-9_.-]{3,255}$/.test(name)) throw invalid(`Invalid table name: ${name}`);
  if (store.tables.has(name)) throw resourceInUse(`Table already exists: ${name}`);
  const table = new Table(input);
  refuseUnusedDefinitions(table);
  store.tables.set(name, table);
  return { $metadata: {}, TableDescription: described(table) };
}

function refuseUnusedDefinitions({ attributeDefinitions, schema, indexes }: Table): void {
  const schemas = [schema, ...[...indexes.values()].map((index) => index.schema)];
  const used = new Set(schemas.flatMap(({ attributes }) => attributes.map(({ name }) => name)));
  if (attributeDefinitions.some(({ AttributeName = '' }) => !used.has(AttributeName)))
    throw invalid('Number of attributes in KeySchema does not match those defined in AttributeDefinitions');
}

export function deleteTable(store: Store, { TableName }: DeleteTableCommandInput): object {
  const table = existing(store, TableName);
  store.tables.delete(table.name);
  return { $metadata: {}, TableDescription: { ...described(table), TableStatus: 'DELETING' } };
}

export const describeTable = (store: Store, { TableName }: DescribeTableCommandInput): object => ({
  $metadata: {},
  Table: described(existing(store, TableName)),
});

export function updateTable(store: Store, input: UpdateTableCommandInput): object {
  const table = existing(store, input.TableName);
  for (const definition of input.AttributeDefinitions ?? [])
    if (!table.attributeDefinitions.some(({ AttributeName }) => AttributeName === definition.AttributeName))
      table.attributeDefinitions = [...table.attributeDefinitions, definition];
  for (const { Create, Delete, Update } of input.GlobalSecondaryIndexUpdates ?? []) {
    if (Create !== undefined) table.addIndex(Create);
    if (Delete !== undefined) table.indexes.delete(Delete.IndexName ?? '');
    if (Update !== undefined) throw invalid('The throughput of an index cannot be changed: it is on demand');
  }
  if (input.StreamSpecification !== undefined) {
    if (table.stream?.StreamEnabled === true && input.StreamSpecification.StreamEnabled === true)
      throw invalid(`Table already has an enabled stream: TableName: ${table.name}`);
    table.stream = input.StreamSpecification;
  }
  return { $metadata: {}, TableDescription: described(table) };
}

export function listTables(store: Store, input: ListTablesCommandInput): object {
  const { ExclusiveStartTableName: start = '', Limit = 100 } = input;
  const names = [...store.tables.keys()].sort().filter((name) => name > start);
  const page = names.slice(0, Limit);
  const isAll = page.length === names.length;
  return {
    $metadata: {},
    TableNames: page,
    ...(isAll ? {} : { LastEvaluatedTableName: page[page.length - 1] }),
  };
}

export function updateTimeToLive(store: Store, input: UpdateTimeToLiveCommandInput): object {
  const table = existing(store, input.TableName);
  const { Enabled = false, AttributeName = '' } = input.TimeToLiveSpecification ?? {};
  if (Enabled && table.ttlAttribute !== null) throw invalid('TimeToLive is already enabled');
  if (!Enabled && table.ttlAttribute === null) throw invalid('TimeToLive is already disabled');
  table.expireBy(Enabled ? AttributeName : null);
  return { $metadata: {}, TimeToLiveSpecification: input.TimeToLiveSpecification };
}

export function describeTimeToLive(store: Store, { TableName }: DescribeTimeToLiveCommandInput): object {
  const { ttlAttribute } = existing(store, TableName);
  const TimeToLiveDescription =
    ttlAttribute === null
      ? { TimeToLiveStatus: 'DISABLED' }
      : { TimeToLiveStatus: 'ENABLED', AttributeName: ttlAttribute };
  return { $metadata: {}, TimeToLiveDescription };
}

function existing(store: Store, name: string | undefined): Table {
  const table = store.tables.get(name ?? '');
  if (table === undefined) throw noSuchResource(`Requested resource not found: Table: ${name} not found`);
  return table;
}

function described(table: Table): TableDescription {
  const TableArn = `arn:aws:dynamodb:simulated:000000000000:table/${table.name}`;
  const indexes = [...table.indexes.values()].map(({ definition }) => ({
    ...definition,
    IndexStatus: 'ACTIVE' as const,
    IndexArn: `${TableArn}/index/${definition.IndexName}`,
  }));
  return {
    TableName: table.name,
    TableArn,
    TableStatus: 'ACTIVE',
    ItemCount: table.itemCount,
    BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    AttributeDefinitions: [...table.attributeDefinitions],
    KeySchema: keyElements(table.schema),
    ...(indexes.length === 0 ? {} : { GlobalSecondaryIndexes: indexes }),
    ...(table.stream?.StreamEnabled === true
      ? { StreamSpecification: table.stream, LatestStreamArn: `${TableArn}/stream/simulated` }
      : {}),
  };
}

const keyElements = ({ partition, sort }: KeySchema): TableDescription['KeySchema'] => [
  { AttributeName: partition.name, KeyType: 'HASH' },
  ...(sort === null ? [] : [{ AttributeName: sort.name, KeyType: 'RANGE' as const }]),
];
