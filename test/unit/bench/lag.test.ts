import { expect, it } from 'vitest';
import { countByShard, lagsOf } from '../../../bench/lag.ts';

const sent = [
  { shardId: 'one', sequence: '7', answeredAtMs: 1_000 },
  { shardId: 'two', sequence: '7', answeredAtMs: 1_000 },
  { shardId: 'one', sequence: '8', answeredAtMs: 1_100 },
];

it('a lag is from the answer to stored, of each event at its place in its shard', () => {
  const stored = [
    { shardId: 'one', sequence: '8', storedAtMs: 1_350 },
    { shardId: 'one', sequence: '7', storedAtMs: 1_200 },
    { shardId: 'two', sequence: '7', storedAtMs: 1_010 },
    { shardId: 'two', sequence: '6', storedAtMs: 5 },
  ];
  expect(lagsOf(sent, stored)).toEqual([200, 10, 250]);
});

it('there is no figure when an event was lost', () => {
  expect(() => lagsOf(sent, [])).toThrow('one/7 was sent and is not stored');
});

it('events are counted by their shard', () => {
  expect(countByShard(sent)).toEqual({ one: 2, two: 1 });
});
