import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { SimProcess } from '../../../sim/world/sim-process.ts';
import { TABLES, World } from '../../../sim/world/world.ts';

const TableName = TABLES.pipeline;
const Key = { pk: { S: 'A' }, sk: { S: 'B' } };
const IS_NEW = { ConditionExpression: 'attribute_not_exists(pk)' };
const IS_FIRST = {
  ConditionExpression: 'revision = :first',
  ExpressionAttributeValues: { ':first': { N: '1' } },
};

type Send = (client: DynamoDBClient) => Promise<unknown>;
const put: Send = (client) => client.send(new PutItemCommand({ TableName, Item: { ...Key }, ...IS_NEW }));
const update: Send = (client) =>
  client.send(
    new UpdateItemCommand({
      TableName,
      Key,
      UpdateExpression: 'SET revision = revision + :first',
      ...IS_FIRST,
    }),
  );
const remove: Send = (client) => client.send(new DeleteItemCommand({ TableName, Key, ...IS_FIRST }));

/** What the sender hears of a request that is sent twice, and what is stored then. */
async function sendTwice(send: Send, stored: Record<string, { N: string }> | null) {
  const world = new World(1, 0, {
    onStoreOperation: () => undefined,
    onPublished: () => undefined,
    onLedger: () => undefined,
    onKeyReused: () => undefined,
    onRefundedAgain: () => undefined,
  });
  await world.makeTables();
  if (stored !== null)
    await world.directClient().send(new PutItemCommand({ TableName, Item: { ...Key, ...stored } }));
  world.dials = { ...world.dials, store: { conflict: 0, 'sent-twice': 1 } };
  let heard = 'nothing';
  send(world.client(new SimProcess('p', world.timeline))).then(
    () => (heard = 'done'),
    (error: Error) => (heard = error.name),
  );
  while (await world.timeline.step());
  return { heard, items: [...world.dynamo.items(TableName)], faults: Object.fromEntries(world.faults) };
}

describe('a conditional write that the store applies, whose answer is lost, and that is sent again', () => {
  it.each([
    ['put', put, null, [Key]],
    ['update', update, { revision: { N: '1' } }, [{ ...Key, revision: { N: '2' } }]],
    ['delete', remove, { revision: { N: '1' } }, []],
  ] as const)('is refused because of itself: a %s', async (_, send, stored, items) => {
    const seen = await sendTwice(send, stored);
    expect(seen.heard).toBe('ConditionalCheckFailedException');
    expect(seen.items).toEqual(items);
    expect(seen.faults).toEqual({ 'store-sent-twice': 1, 'store-refused-twin': 1 });
  });

  it('is not counted where its condition has not held from the beginning', async () => {
    const seen = await sendTwice(put, { revision: { N: '1' } });
    expect(seen.heard).toBe('ConditionalCheckFailedException');
    expect(seen.faults).toEqual({ 'store-sent-twice': 1 });
  });
});
