import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../bench/recording-proxy.ts';
import type { Put } from '../../../bench/stored.ts';
import { KnownStore, putsIn, tableUnitsIn } from '../../../bench/stored.ts';

const definitions = [
  {
    name: 'rows',
    key: ['id'] as const,
    indexes: [
      { name: 'by-status', key: ['status'] as const },
      { name: 'by-list', key: ['list', 'at'] as const },
    ],
  },
];
const row = (id: string, status: string, more: object = {}): Put => ({
  table: 'rows',
  item: { id: { S: id }, status: { S: status }, ...more },
});

describe('what is known of the store', () => {
  it('what was put since is listed once, in its last shape', () => {
    const before = [row('old', 'SCHEDULED')];
    const store = new KnownStore(definitions, before);
    store.put(row('old', 'COMPLETED'));
    store.put(row('new', 'SCHEDULED'));
    store.put(row('new', 'PAUSED'));
    expect(store.since(before)).toEqual([row('new', 'PAUSED')]);
  });

  it('an item is stored once more in each index whose whole key it has, with 100 bytes each time', () => {
    const store = new KnownStore(definitions, []);
    const bytes = 'id1statusA'.length;
    expect(store.bytesOf(row('1', 'A'))).toBe(2 * (bytes + 100));
    expect(store.bytesOf(row('1', 'A', { list: { S: 'x' } }))).toBe(2 * (bytes + 'listx'.length + 100));
    const listed = row('1', 'A', { list: { S: 'x' }, at: { S: 'y' } });
    expect(store.bytesOf(listed)).toBe(3 * (bytes + 'listxaty'.length + 100));
  });

  it('a record that is collected writes three times under the key from which it goes', () => {
    const store = new KnownStore(definitions, [row('1', 'SCHEDULED')]);
    store.put(row('1', 'SCHEDULED', { intent: { S: 'yes' } }));
    store.put(row('1', 'COMPLETED'));
    store.put(row('2', 'SCHEDULED'));
    expect(store.busiestKeyUnits()).toBe(3);
    expect(store.indexUnits()).toEqual([{ table: 'rows', index: 'by-status', units: 4 }]);
  });

  it('each index counts for itself', () => {
    const store = new KnownStore(definitions, []);
    store.put(row('1', 'A', { list: { S: 'x' }, at: { S: 'y' } }));
    store.put(row('1', 'B'));
    expect(store.indexUnits()).toEqual([
      { table: 'rows', index: 'by-status', units: 3 },
      { table: 'rows', index: 'by-list', units: 2 },
    ]);
  });

  it('a larger entry takes more units', () => {
    const store = new KnownStore(definitions, []);
    store.put(row('1', 'A', { text: { S: 'x'.repeat(1_024) } }));
    expect(store.busiestKeyUnits()).toBe(2);
  });

  it('a table that nobody has defined is not passed over', () => {
    expect(() => new KnownStore(definitions, [{ ...row('1', 'A'), table: 'others' }])).toThrow('others');
  });
});

const sent = (sentMs: number, operation: string, body: object, answer = '{}'): Exchange => ({
  method: 'POST',
  path: '/',
  headers: { 'x-amz-target': `DynamoDB_20120810.${operation}` },
  body: JSON.stringify(body),
  answer,
  sentMs,
  answeredMs: sentMs + 1,
});
const put = ({ table, item }: Put) => ({ TableName: table, Item: item });

it('puts are taken from requests in their order, also from transactions, and not from what was refused', () => {
  const puts = putsIn([
    sent(2, 'TransactWriteItems', { TransactItems: [{ ConditionCheck: {} }, { Put: put(row('2', 'B')) }] }),
    sent(1, 'PutItem', put(row('1', 'A'))),
    sent(3, 'PutItem', put(row('3', 'C')), '{"__type":"ConditionalCheckFailedException"}'),
    sent(4, 'UpdateItem', { TableName: 'rows' }),
  ]);
  expect(puts).toEqual([row('1', 'A'), row('2', 'B')]);
});

it('a transaction costs twice what its items do, looks included; other writes once', () => {
  const small = row('1', 'A');
  const large = row('2', 'B', { text: { S: 'x'.repeat(1_024) } });
  const transaction = {
    TransactItems: [
      { ConditionCheck: { TableName: 'locks' } },
      { Put: put(large) },
      { Put: put(small) },
      { Update: { TableName: 'rows' } },
      { Delete: { TableName: 'rows' } },
    ],
  };
  expect(tableUnitsIn([sent(1, 'TransactWriteItems', transaction)])).toEqual([
    { table: 'locks', units: 2 },
    { table: 'rows', units: 2 * (2 + 1 + 1 + 1) },
  ]);
  expect(tableUnitsIn([sent(1, 'PutItem', put(large))])).toEqual([{ table: 'rows', units: 2 }]);
  expect(tableUnitsIn([sent(1, 'UpdateItem', { TableName: 'rows' })])).toEqual([{ table: 'rows', units: 1 }]);
  expect(tableUnitsIn([sent(1, 'Query', { TableName: 'rows' })])).toEqual([]);
});
