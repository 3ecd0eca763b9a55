import { expect, it } from 'vitest';
import { askForUnits, unitsOf } from '../../../bench/capacity.ts';
import type { Exchange } from '../../../bench/recording-proxy.ts';

const headersOf = (operation: string) => ({ 'x-amz-target': `DynamoDB_20120810.${operation}` });
const answered = (operation: string, answer: object, asked: object = {}): Exchange => ({
  method: 'POST',
  path: '/',
  headers: headersOf(operation),
  body: JSON.stringify(asked),
  answer: JSON.stringify(answer),
  sentMs: 0,
  answeredMs: 1,
});

it('what reads or writes is made to say what it used; nothing else is touched', () => {
  const body = Buffer.from('{"TableName":"t"}');
  expect(askForUnits(body, headersOf('PutItem')).toString()).toBe(
    '{"TableName":"t","ReturnConsumedCapacity":"INDEXES"}',
  );
  expect(askForUnits(body, headersOf('DescribeTable'))).toBe(body);
  expect(askForUnits(body, {})).toBe(body);
});

it('units are summed over tables, those of indexes also apart', () => {
  const used = unitsOf([
    answered('TransactWriteItems', {
      ConsumedCapacity: [
        { CapacityUnits: 7, Table: { CapacityUnits: 4 } },
        { CapacityUnits: 2, Table: { CapacityUnits: 2 } },
      ],
    }),
    answered('Query', { ConsumedCapacity: { CapacityUnits: 1.5, Table: { CapacityUnits: 0 } } }),
    answered('PutItem', { __type: 'ConditionalCheckFailedException' }),
  ]);
  expect(used).toEqual({ read: 1.5, tableWrite: 6, indexWrite: 3 });
});

it('keys that lead nowhere are read too', () => {
  const batch = (ConsistentRead: boolean): Exchange => ({
    ...answered('BatchGetItem', { ConsumedCapacity: [{ CapacityUnits: 1 }], Responses: { t: [{}] } }),
    body: JSON.stringify({ RequestItems: { t: { Keys: [{}, {}, {}], ConsistentRead } } }),
  });
  expect(unitsOf([batch(true)]).read).toBe(3);
  expect(unitsOf([batch(false)]).read).toBe(2);
});

it('a look at a table in which a transaction writes nothing costs as much as a write, once it was made', () => {
  const looks = [{ ConditionCheck: { TableName: 'locks' } }, { Put: { TableName: 't' } }];
  const said = [{ TableName: 't', CapacityUnits: 2 }];
  const made = (capacity: object[]): Exchange =>
    answered('TransactWriteItems', { ConsumedCapacity: capacity }, { TransactItems: looks });
  expect(unitsOf([made(said)]).tableWrite).toBe(4);
  expect(unitsOf([made([...said, { TableName: 'locks', CapacityUnits: 2 }])]).tableWrite).toBe(4);
  expect(
    unitsOf([answered('TransactWriteItems', { __type: 'x' }, { TransactItems: looks })]).tableWrite,
  ).toBe(0);
});
