import { randomUUID } from 'node:crypto';
import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryDynamo } from '../../../sim/dynamodb/memory-dynamo.ts';
import { createDynamoClient } from '../../../src/adapters/dynamodb/client.ts';
import type { RawRequest } from '../../support/random-requests.ts';
import { randomRequests } from '../../support/random-requests.ts';
import { sharedStack } from '../../support/stack.ts';
import { TwoStores } from '../../support/two-stores.ts';

/*
 * The same requests to DynamoDB Local and to the simulation's store: the answers must be the same. The adapters' own
 * suite shows that it serves them today; this shows that it would go on to, when they say something new.
 */

const TableName = `raw-${randomUUID().slice(0, 8)}`;
const key = (pk: string, N: string): Record<string, AttributeValue> => ({ pk: { S: pk }, sk: { N } });
const PARTITIONS = ['p', 'q'];
const KEYS = PARTITIONS.flatMap((pk) => ['1', '2', '-3', '4', '5'].map((sk) => key(pk, sk)));

let client: DynamoDBClient;
let stores: TwoStores;

beforeAll(async () => {
  client = createDynamoClient({ region: 'us-east-1', endpoint: sharedStack().dynamodbUrl });
  stores = new TwoStores(client, new MemoryDynamo({ nowMs: Date.now }));
  await stores.send({
    operation: 'CreateTable',
    input: {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: schema('pk', 'sk'),
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'N' },
        { AttributeName: 'owner', AttributeType: 'S' },
        { AttributeName: 'since', AttributeType: 'N' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byOwner',
          KeySchema: schema('owner', 'since'),
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a', 'm'] },
        },
      ],
    },
  });
});
afterAll(async () => {
  await stores.send({ operation: 'DeleteTable', input: { TableName } });
  client.destroy();
});

const schema = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' },
  { AttributeName: sort, KeyType: 'RANGE' },
];

const emptied: RawRequest = {
  operation: 'BatchWriteItem',
  input: { RequestItems: { [TableName]: KEYS.map((Key) => ({ DeleteRequest: { Key } })) } },
};
const everything: RawRequest = { operation: 'Scan', input: { TableName, ConsistentRead: true } };
const wholeIndex: RawRequest = { operation: 'Scan', input: { TableName, IndexName: 'byOwner' } };

async function expectAgreement(requests: readonly RawRequest[]): Promise<void> {
  for (const request of [emptied, ...requests, everything, wholeIndex]) {
    const { dynamo, simulation } = await stores.send(request);
    expect({ request, outcomes: simulation }).toEqual({ request, outcomes: dynamo });
  }
}

it('made-up requests have the same answers, errors and effects', async () => {
  await fc.assert(fc.asyncProperty(randomRequests(TableName, PARTITIONS), expectAgreement), {
    numRuns: 250,
    // By far most of them are made in this time; a machine that is busy makes fewer and fails nobody.
    interruptAfterTimeLimit: 14_000,
  });
});

const put = (input: object): RawRequest => ({ operation: 'PutItem', input: { TableName, ...input } });
const update = (expression: string, values: object, more: object = {}): RawRequest => ({
  operation: 'UpdateItem',
  input: {
    TableName,
    Key: key('p', '1'),
    UpdateExpression: expression,
    ExpressionAttributeValues: values,
    ReturnValues: 'ALL_NEW',
    ...more,
  },
});
const transaction = (TransactItems: object[], ClientRequestToken?: string): RawRequest => ({
  operation: 'TransactWriteItems',
  input: { TransactItems, ...(ClientRequestToken === undefined ? {} : { ClientRequestToken }) },
});
const item = (attributes: object = {}) => ({ Item: { ...key('p', '1'), ...attributes } });
const ofPartition = (more: object): RawRequest => ({
  operation: 'Query',
  input: {
    TableName,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': { S: 'p' } },
    ...more,
  },
});

describe('agree on', () => {
  const long = (bytes: number) => ({ S: 'x'.repeat(bytes) });
  const cases: Record<string, RawRequest[]> = {
    'numbers, which are exact and written in one way': [
      put(item({ a: { N: '1.50' }, b: { N: '1e3' }, c: { N: '-0' }, d: { N: '007' }, e: { N: '1E-5' } })),
      update('SET a = a + :n, b = b - :n', { ':n': { N: '9007199254740993' } }),
      update('ADD a :n', { ':n': { N: '0.00000000000000000001' } }),
      put(item({ a: { N: '1'.repeat(39) } })),
      put(item({ a: { N: 'x' } })),
      put(item({ a: { N: '1e126' } })),
    ],
    'sort keys that differ beyond the digits of a double': [
      put({ Item: key('p', '9007199254740993') }),
      put({ Item: key('p', '9007199254740992') }),
      ofPartition({}),
      ...['9007199254740993', '9007199254740992'].map((sk) => ({
        operation: 'DeleteItem',
        input: { TableName, Key: key('p', sk), ReturnValues: 'ALL_OLD' },
      })),
    ],
    'what is too long': [
      put(item({ a: long(400 * 1024) })),
      put({ Item: { ...key('p', '1'), pk: long(2049) } }),
      put(item({ owner: long(2049), since: { N: '1' } })),
      put(item({ a: long(300 * 1024) })),
      update('SET b = :b', { ':b': long(200 * 1024) }),
    ],
    'pages of a megabyte': [
      ...['1', '2', '-3', '4'].map((sk) => put({ Item: { ...key('p', sk), a: long(390 * 1024) } })),
      ofPartition({ Select: 'COUNT' }),
      put({ Item: { ...key('p', '5'), a: long(390 * 1024) } }),
      ofPartition({ ProjectionExpression: 'sk' }),
      ofPartition({ Limit: 2, ScanIndexForward: false, ProjectionExpression: 'sk' }),
    ],
    'a page that begins where this query never comes by': [
      put(item()),
      ofPartition({ ExclusiveStartKey: key('q', '1') }),
      ofPartition({ ExclusiveStartKey: { pk: { S: 'p' } } }),
      ofPartition({ ExclusiveStartKey: key('p', '1'), ScanIndexForward: false }),
      ofPartition({ ExclusiveStartKey: key('p', '0') }),
    ],
    'a filter by the key': [
      ofPartition({ FilterExpression: 'sk > :pk' }),
      { operation: 'Scan', input: { TableName, FilterExpression: 'attribute_exists(sk)' } },
    ],
    'a consistent read of an index': [
      ofPartition({
        IndexName: 'byOwner',
        ConsistentRead: true,
        KeyConditionExpression: '#o = :pk',
        ExpressionAttributeNames: { '#o': 'owner' },
      }),
    ],
    'a token that comes again': [
      transaction([{ Put: { TableName, ...item() } }], `token-${TableName}`),
      transaction([{ Put: { TableName, ...item() } }], `token-${TableName}`),
      transaction([{ Put: { TableName, ...item({ a: { S: 'x' } }) } }], `token-${TableName}`),
    ],
    'two operations on one item': [
      transaction([{ Put: { TableName, ...item() } }, { Delete: { TableName, Key: key('p', '1') } }]),
    ],
    'more than a hundred of them, and none': [
      transaction(Array.from({ length: 101 }, (_, i) => ({ Put: { TableName, Item: key('p', String(i)) } }))),
      transaction([]),
    ],
    'tables that are not there, and one that is': [
      { operation: 'GetItem', input: { TableName: 'raw-missing', Key: key('p', '1') } },
      { operation: 'DescribeTable', input: { TableName: 'raw-missing' } },
      { operation: 'DeleteTable', input: { TableName: 'raw-missing' } },
      {
        operation: 'CreateTable',
        input: {
          TableName,
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: schema('pk', 'sk').slice(0, 1),
          AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        },
      },
    ],
    'sets, which are never empty and hold nothing twice': [
      put(item({ a: { SS: [] } })),
      put(item({ a: { SS: ['x', 'x'] } })),
      put(item({ a: { SS: ['x', 'y'] } })),
      update('DELETE a :all', { ':all': { SS: ['y', 'x', 'z'] } }),
    ],
  };

  it.each(Object.entries(cases))('%s', async (_, requests) => {
    await expectAgreement(requests);
  });
});
