import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attendance } from '../../../src/ports/attendance.ts';
import type { Deliver } from '../../../src/app/bridge/shard-reader.ts';
import type { BridgeBench } from '../../support/bridges.ts';
import { bridgeBench } from '../../support/bridges.ts';
import { shardId } from '../../support/event-stream.ts';
import { eventually } from '../../support/processes.ts';

interface Delivered {
  readonly user: string;
  readonly n: number;
  readonly sequence: string;
  readonly shardId: string;
}

const USERS = Array.from({ length: 40 }, (_, index) => `user-${index}`);

let here: BridgeBench;
let delivered: Delivered[];

beforeEach(async () => {
  here = await bridgeBench(4);
  delivered = [];
});
afterEach(() => here.close());

const deliver: Deliver<Uint8Array> = async (id, records) => {
  for (const { data, sequence } of records)
    delivered.push({ ...(JSON.parse(Buffer.from(data).toString()) as Delivered), sequence, shardId: id });
};

/** One event of every user. */
const putRound = (n: number): Promise<void> =>
  here.stream.put(USERS.map((user) => ({ key: user, data: JSON.stringify({ user, n }) })));

const distinct = (): number => new Set(delivered.map(({ sequence }) => sequence)).size;

/** Each user's events in the order in which they were first delivered. */
function orders(): Record<string, number[]> {
  const first = new Set<string>();
  const found: Record<string, number[]> = Object.fromEntries(USERS.map((user) => [user, []]));
  for (const { user, n, sequence } of delivered) {
    if (first.has(sequence)) continue;
    first.add(sequence);
    found[user]!.push(n);
  }
  return found;
}

const everybodyInOrder = (rounds: number): Record<string, number[]> =>
  Object.fromEntries(USERS.map((user) => [user, Array.from({ length: rounds }, (_, n) => n)]));

describe('a stream that is split and merged while events flow', () => {
  it('is read by two bridges without a loss, each user in order', async () => {
    const rounds = 50;
    const [one, other] = [here.bridge(deliver), here.bridge(deliver)];
    await eventually(
      'each bridge has its share',
      () => one.bridge.reads.length === 2 && other.bridge.reads.length === 2,
    );
    for (let n = 0; n < rounds; n += 1) {
      await putRound(n);
      if (n === 10) await here.stream.split(shardId(0));
      if (n === 20) await here.stream.merge(shardId(1), shardId(2));
      if (n === 30) await here.stream.split(shardId(6));
      if (n === 40) await here.stream.merge(shardId(4), shardId(5));
    }
    await eventually('every event is delivered', () => distinct() >= rounds * USERS.length);

    expect(orders()).toEqual(everybodyInOrder(rounds));
    const read = new Set(delivered.map((event) => event.shardId));
    expect([...read].sort()).toEqual((await here.stream.shardIds()).sort());
    const closed = [0, 1, 2, 4, 5, 6].map(shardId);
    await eventually('the closed shards are finished', async () => {
      const known = await here.checkpoints.list(here.stream.name);
      return closed.every((id) => known.get(id)?.finished === true);
    });
    const share = () => [one, other].map(({ bridge }) => bridge.reads.length);
    // Open are 3, 7, 8 and 9.
    await eventually('each bridge has its share again', () => share().every((count) => count === 2));
  });

  it('of which all was there before anybody read it is read parents first', async () => {
    await putRound(0);
    await here.stream.split(shardId(0));
    await putRound(1);
    await here.stream.merge(shardId(4), shardId(5));
    await putRound(2);
    here.bridge(deliver);
    await eventually('every event is delivered', () => distinct() >= 3 * USERS.length);
    expect(orders()).toEqual(everybodyInOrder(3));
  });
});

describe('bridges that come and go', () => {
  it('take no more than their share, also for a moment', async () => {
    let beat = 0;
    const other = { bridgeId: 'another that is alive', beat: 0 };
    const attendance: Attendance = {
      sign: () => Promise.resolve(),
      list: () => Promise.resolve([{ ...other, beat: (beat += 1) }]),
      remove: () => Promise.resolve(),
    };
    const everRead = new Set<string>();
    here.bridge(deliver, { attendance, onLag: (id) => void everRead.add(id) });
    await eventually('several rounds', () => beat >= 5 && everRead.size >= 2);
    expect(everRead.size).toBe(2);
  });

  it('make room for one that joins, and take over what one leaves', async () => {
    const one = here.bridge(deliver);
    await eventually('one reads all', () => one.bridge.reads.length === 4);
    await putRound(0);
    const other = here.bridge(deliver);
    await eventually('two share', () => one.bridge.reads.length === 2 && other.bridge.reads.length === 2);
    const both = [...one.bridge.reads, ...other.bridge.reads].sort();
    expect(both).toEqual([0, 1, 2, 3].map(shardId));
    await putRound(1);
    await one.stop();
    await eventually('the other reads all', () => other.bridge.reads.length === 4);
    await putRound(2);
    await eventually('every event is delivered', () => distinct() >= 3 * USERS.length);
    expect(orders()).toEqual(everybodyInOrder(3));
    // A bridge that gives a shard up has checkpointed what it delivered.
    expect(delivered).toHaveLength(3 * USERS.length);
  });
});
