import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Item } from '../../../src/adapters/lock/lock-row.ts';
import { GRACE_MS, HEARTBEAT_MS, LEASE_MS, lockBench, newKey } from './lock-bench.ts';

const bench = lockBench();
const longSilent = LEASE_MS + GRACE_MS + 1;

/** Rows as cirello.io/dynamolock/v2 really wrote them, moved to a key of the test. */
const golden = JSON.parse(
  readFileSync(new URL('../../golden/lock-rows-written-by-go.json', import.meta.url), 'utf8'),
) as Record<'held' | 'heldAfterHeartbeats' | 'released', Record<string, { S?: string; B?: string }>>;

function goRow(state: keyof typeof golden, key: string): Item {
  const { data, ...texts } = golden[state];
  return {
    ...(texts as Item),
    PartitionKey: { S: key },
    data: { B: new Uint8Array(Buffer.from(data!.B!, 'base64')) },
  };
}

/** Name and type of each attribute. */
const shape = (item: Item | undefined): string[] =>
  Object.entries(item ?? {})
    .map(([name, value]) => `${name} ${Object.keys(value).join()}`)
    .sort();

describe('a row written by Go', () => {
  it.each(['held', 'heldAfterHeartbeats'] as const)('%s, is busy, with its lease', async (state) => {
    const key = newKey();
    await bench.writeRow(goRow(state, key));
    const sighting = await bench.contender().busy(key);
    expect(sighting).toEqual({ version: golden[state]['recordVersionNumber']!.S, leaseMs: 60_000 });
    expect(await bench.row(key)).toEqual(goRow(state, key));
  });

  it('with heartbeats, is not taken over', async () => {
    const key = newKey();
    await bench.writeRow(goRow('held', key));
    const bob = bench.contender();
    const { version } = await bob.busy(key);
    await bench.writeRow(goRow('heldAfterHeartbeats', key));
    await bob.busy(key, { version, elapsedMs: longSilent });
    expect(await bench.row(key)).toEqual(goRow('heldAfterHeartbeats', key));
  });

  it('without heartbeats for its lease and the grace, is taken over', async () => {
    const key = newKey();
    await bench.writeRow(goRow('heldAfterHeartbeats', key));
    const bob = bench.contender();
    const { version } = await bob.busy(key);
    const lock = await bob.lock(key, { version, elapsedMs: longSilent });
    expect((await bench.row(key))?.['ownerName']?.S).toBe(lock.fence.ownerName);
  });

  it('released, is acquired, and nothing of it is left', async () => {
    const key = newKey();
    await bench.writeRow({ ...goRow('released', key), leftover: { S: 'x' } });
    const lock = await bench.contender().lock(key);
    const row = await bench.row(key);
    expect(row?.['isReleased']).toBeUndefined();
    expect(row?.['leftover']).toBeUndefined();
    await bench.fencedWrite(key, lock.fence.ownerName);
  });
});

describe('a row written by us', () => {
  it('has the attributes and types of Go’s, and beside them owner and deleteOn', async () => {
    const key = newKey();
    const alice = bench.contender();
    await alice.lock(key);
    const expected = [...shape(goRow('held', key)), 'deleteOn N', 'owner S'].sort();
    expect(shape(await bench.row(key))).toEqual(expected);
    await alice.timer.advance(3 * HEARTBEAT_MS);
    expect(shape(await bench.row(key))).toEqual(expected);
  });

  it('has, once released, exactly the attributes and types of Go’s', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    await alice.timer.advance(HEARTBEAT_MS);
    await lock.release();
    expect(shape(await bench.row(key))).toEqual(shape(goRow('released', key)));
  });

  it('writes the lease and the data in Go’s text', async () => {
    const key = newKey();
    await bench.contender().lock(key);
    const row = await bench.row(key);
    const go = goRow('held', key);
    expect(row?.['leaseDuration']).toEqual(go['leaseDuration']);
    const digits = (item: Item | undefined): string => Buffer.from(item!['data']!.B!).toString();
    expect(digits(row)).toMatch(/^\d{19}$/);
    expect(digits(go)).toMatch(/^\d{19}$/);
  });
});
