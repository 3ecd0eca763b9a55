import { Redis } from 'ioredis';
import type { Endpoints } from '../../src/embedded/stack-file.ts';

/** Writes one thing to each of the three stores. */
export async function writeEverywhere(stack: Endpoints, text: string): Promise<void> {
  await Promise.all([writeRedis(stack, text), writeDynamoDb(stack, text), writeKinesis(stack, text)]);
}

/** What each of the three stores has of what `writeEverywhere` wrote. */
export async function readEverywhere(stack: Endpoints): Promise<Record<string, unknown>> {
  const [redis, dynamodb, kinesis] = await Promise.all([
    withRedis(stack, (client) => client.get('text')),
    readDynamoDb(stack),
    readKinesis(stack),
  ]);
  return { redis, dynamodb, kinesis };
}

export const everywhere = (text: string): Record<string, unknown> => ({
  redis: text,
  dynamodb: text,
  kinesis: [text],
});

async function withRedis<T>(stack: Endpoints, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(stack.redisUrl);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

async function writeRedis(stack: Endpoints, text: string): Promise<void> {
  await withRedis(stack, (client) => client.set('text', text));
}

async function writeDynamoDb(stack: Endpoints, text: string): Promise<void> {
  const key = { AttributeName: 'id', AttributeType: 'S' };
  await dynamoDb(stack, 'CreateTable', {
    TableName: 'texts',
    AttributeDefinitions: [key],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  });
  await dynamoDb(stack, 'PutItem', { TableName: 'texts', Item: { id: { S: '1' }, text: { S: text } } });
}

async function readDynamoDb(stack: Endpoints): Promise<unknown> {
  const { Item } = await dynamoDb<{ Item?: { text: { S: string } } }>(stack, 'GetItem', {
    TableName: 'texts',
    Key: { id: { S: '1' } },
    ConsistentRead: true,
  });
  return Item?.text.S;
}

async function writeKinesis(stack: Endpoints, text: string): Promise<void> {
  await kinesis(stack, 'CreateStream', { StreamName: 'texts', ShardCount: 1 });
  await streamIsActive(stack);
  await kinesis(stack, 'PutRecord', {
    StreamName: 'texts',
    PartitionKey: '1',
    Data: Buffer.from(text).toString('base64'),
  });
}

async function streamIsActive(stack: Endpoints): Promise<void> {
  for (;;) {
    const { StreamDescription } = await kinesis<{ StreamDescription: { StreamStatus: string } }>(
      stack,
      'DescribeStream',
      { StreamName: 'texts' },
    );
    if (StreamDescription.StreamStatus === 'ACTIVE') return;
  }
}

async function readKinesis(stack: Endpoints): Promise<string[]> {
  const { ShardIterator } = await kinesis<{ ShardIterator: string }>(stack, 'GetShardIterator', {
    StreamName: 'texts',
    ShardId: 'shardId-000000000000',
    ShardIteratorType: 'TRIM_HORIZON',
  });
  const { Records } = await kinesis<{ Records: { Data: string }[] }>(stack, 'GetRecords', { ShardIterator });
  return Records.map(({ Data }) => Buffer.from(Data, 'base64').toString());
}

const dynamoDb = <T>(stack: Endpoints, operation: string, body: object): Promise<T> =>
  awsCall(stack.dynamodbUrl, `DynamoDB_20120810.${operation}`, body);

export const kinesis = <T>(stack: Endpoints, operation: string, body: object): Promise<T> =>
  awsCall(stack.kinesisUrl, `Kinesis_20131202.${operation}`, body);

async function awsCall<T>(url: string, target: string, body: object): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': target,
      'x-amz-date': '20200101T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=test/20200101/us-east-1/x/aws4_request, SignedHeaders=host, Signature=0',
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${target}: ${response.status} ${text}`);
  return (text === '' ? {} : JSON.parse(text)) as T;
}
