import { expect, it } from 'vitest';
import { askForUnits, unitsOf } from '../../../bench/capacity.ts';
import type { Exchange } from '../../../bench/recording-proxy.ts';

const headersOf = (operation: string) => ({ 'x-amz-target': `DynamoDB_20120810.${operation}` });
const answered = (operation: string, answer: object): Exchange => ({
  method: 'POST',
  path: '/',
  headers: headersOf(operation),
  body: '',
  answer: JSON.stringify(answer),
  sentMs: 0,
  answeredMs: 1,
});

it('what reads or writes is made to say what it used; nothing else is touched', () => {
  const body = Buffer.from('{"TableName":"t"}');
  expect(askForUnits(body, headersOf('PutItem')).toString()).toBe(
    '{"TableName":"t","ReturnConsumedCapacity":"TOTAL"}',
  );
  expect(askForUnits(body, headersOf('DescribeTable'))).toBe(body);
  expect(askForUnits(body, {})).toBe(body);
});

it('units are summed over tables, and what was refused says nothing', () => {
  const used = unitsOf([
    answered('TransactWriteItems', {
      ConsumedCapacity: [{ CapacityUnits: 7 }, { CapacityUnits: 2 }],
    }),
    answered('Query', { ConsumedCapacity: { CapacityUnits: 1.5 } }),
    answered('PutItem', { __type: 'ConditionalCheckFailedException' }),
  ]);
  expect(used).toEqual({ read: 1.5, write: 9 });
});

it('keys that lead nowhere are read too', () => {
  const batch = (ConsistentRead: boolean): Exchange => ({
    ...answered('BatchGetItem', { ConsumedCapacity: [{ CapacityUnits: 1 }], Responses: { t: [{}] } }),
    body: JSON.stringify({ RequestItems: { t: { Keys: [{}, {}, {}], ConsistentRead } } }),
  });
  expect(unitsOf([batch(true)]).read).toBe(3);
  expect(unitsOf([batch(false)]).read).toBe(2);
});
