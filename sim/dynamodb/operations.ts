import { batchGetItem, batchWriteItem } from './batch-requests.ts';
import { deleteItem, getItem, putItem, updateItem } from './item-requests.ts';
import { query, scan } from './read-pages.ts';
import type { Store } from './store.ts';
import {
  createTable,
  deleteTable,
  describeTable,
  describeTimeToLive,
  listTables,
  updateTable,
  updateTimeToLive,
} from './table-requests.ts';
import { transactGetItems, transactWriteItems, type Tokens } from './transactions.ts';

interface Operation {
  readonly run: (store: Store, input: object, tokens: Tokens) => object;
  /** What it understands. Anything else is refused by name: a parameter that is passed over would lie. */
  readonly parameters: ReadonlySet<string>;
}

const BINDINGS = ['ExpressionAttributeNames', 'ExpressionAttributeValues'];
const CONDITION = ['ConditionExpression', 'ReturnValuesOnConditionCheckFailure', ...BINDINGS];
const PAGE = [
  'TableName',
  'IndexName',
  'ConsistentRead',
  'FilterExpression',
  'ProjectionExpression',
  'Select',
  'Limit',
  'ExclusiveStartKey',
  ...BINDINGS,
];
const TABLE = [
  'TableName',
  'AttributeDefinitions',
  'BillingMode',
  'StreamSpecification',
  'ProvisionedThroughput',
];

/** Each handler takes the input of its own command; which that is, the name says. */
const operation = <T extends object>(
  run: (store: Store, input: T) => object,
  ...parameters: string[]
): Operation => ({ run: (store, input) => run(store, input as T), parameters: new Set(parameters) });

export const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  Object.entries({
    GetItem: operation(
      getItem,
      'TableName',
      'Key',
      'ConsistentRead',
      'ProjectionExpression',
      'ExpressionAttributeNames',
    ),
    PutItem: operation(putItem, 'TableName', 'Item', 'ReturnValues', ...CONDITION),
    DeleteItem: operation(deleteItem, 'TableName', 'Key', 'ReturnValues', ...CONDITION),
    UpdateItem: operation(updateItem, 'TableName', 'Key', 'UpdateExpression', 'ReturnValues', ...CONDITION),
    Query: operation(query, 'KeyConditionExpression', 'ScanIndexForward', ...PAGE),
    Scan: operation(scan, 'Segment', 'TotalSegments', ...PAGE),
    BatchGetItem: operation(batchGetItem, 'RequestItems'),
    BatchWriteItem: operation(batchWriteItem, 'RequestItems'),
    TransactGetItems: operation(transactGetItems, 'TransactItems'),
    TransactWriteItems: {
      run: (store, input, tokens) => transactWriteItems(store, tokens, input as never),
      parameters: new Set(['TransactItems', 'ClientRequestToken']),
    },
    CreateTable: operation(createTable, 'KeySchema', 'GlobalSecondaryIndexes', ...TABLE),
    UpdateTable: operation(updateTable, 'GlobalSecondaryIndexUpdates', ...TABLE),
    DeleteTable: operation(deleteTable, 'TableName'),
    DescribeTable: operation(describeTable, 'TableName'),
    ListTables: operation(listTables, 'ExclusiveStartTableName', 'Limit'),
    UpdateTimeToLive: operation(updateTimeToLive, 'TableName', 'TimeToLiveSpecification'),
    DescribeTimeToLive: operation(describeTimeToLive, 'TableName'),
  } satisfies Record<string, Operation>),
);
