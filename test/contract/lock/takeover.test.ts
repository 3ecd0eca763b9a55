import { describe, expect, it } from 'vitest';
import type { Item } from '../../../src/adapters/lock/lock-row.ts';
import { LockLostError } from '../../../src/errors.ts';
import { GRACE_MS, HEARTBEAT_MS, LEASE_MS, lockBench, newKey, versionOf } from './lock-bench.ts';

const bench = lockBench();
const longSilent = LEASE_MS + GRACE_MS + 1;

describe('when the holder is dead', () => {
  it('is taken over after its lease and the grace, not a moment before', async () => {
    const key = newKey();
    const dead = bench.contender();
    const bob = bench.contender();
    const lost = await dead.lock(key);
    const { version } = await bob.busy(key);
    for (const elapsedMs of [0, LEASE_MS, LEASE_MS + GRACE_MS]) {
      expect((await bob.busy(key, { version, elapsedMs })).version).toBe(version);
    }
    const lock = await bob.lock(key, { version, elapsedMs: longSilent });
    expect(lock.fence.ownerName).not.toBe(lost.fence.ownerName);
    expect((await bench.row(key))?.['ownerName']?.S).toBe(lock.fence.ownerName);
    expect(bob.count('taken-over')).toBe(1);
  });

  it('goes by the lease in the row, not by the observer’s own', async () => {
    const key = newKey();
    const dead = bench.contender({ leaseMs: 2 * LEASE_MS });
    const bob = bench.contender();
    await dead.lock(key);
    const { version, leaseMs } = await bob.busy(key);
    expect(leaseMs).toBe(2 * LEASE_MS);
    await bob.busy(key, { version, elapsedMs: longSilent });
    await bob.lock(key, { version, elapsedMs: longSilent + LEASE_MS });
  });

  it('cannot write any more when it wakes up, and hears of it at its first look', async () => {
    const key = newKey();
    const sleeper = bench.contender();
    const bob = bench.contender();
    const lost = await sleeper.lock(key);
    const { version } = await bob.busy(key);
    sleeper.timer.stall(longSilent);
    const lock = await bob.lock(key, { version, elapsedMs: longSilent });

    await expect(bench.fencedWrite(key, lost.fence.ownerName)).rejects.toThrow('ConditionalCheckFailed');
    expect(lost.remainingMs()).toBeLessThan(0);
    await expect(lost.fence.exclusively(async () => 'written')).rejects.toThrow(LockLostError);
    await sleeper.timer.catchUp();
    expect(sleeper.faults.calls('UpdateItemCommand')).toBe(0);
    await lost.release();
    await bench.fencedWrite(key, lock.fence.ownerName);
    expect(lock.signal.aborted).toBe(false);
  });

  it('is taken over by one of many', async () => {
    const key = newKey();
    const dead = bench.contender();
    await dead.lock(key);
    const many = Array.from({ length: 20 }, () => bench.contender());
    const { version } = await many[0]!.busy(key);
    const outcomes = await Promise.all(
      many.map(({ locks }) => locks.acquire(key, { version, elapsedMs: longSilent })),
    );
    expect(outcomes.filter((outcome) => 'lock' in outcome)).toHaveLength(1);
    const current = versionOf(await bench.row(key));
    for (const outcome of outcomes) if ('busy' in outcome) expect(outcome.busy.version).toBe(current);
  });
});

describe('when the holder is alive', () => {
  it('is never taken over, however long it was watched, because its version changed', async () => {
    const key = newKey();
    const alice = bench.contender();
    const bob = bench.contender();
    const lock = await alice.lock(key);
    const first = await bob.busy(key);
    await alice.timer.advance(HEARTBEAT_MS);
    const second = await bob.busy(key, { version: first.version, elapsedMs: 10 * longSilent });
    expect(second.version).not.toBe(first.version);
    await alice.timer.advance(HEARTBEAT_MS);
    expect(lock.signal.aborted).toBe(false);
  });

  it('wins with a heartbeat between the look and the takeover', async () => {
    const key = newKey();
    const alice = bench.contender();
    const bob = bench.contender();
    const lock = await alice.lock(key);
    const { version } = await bob.busy(key);
    const takeover = bob.faults.hold('PutItemCommand', { when: isTakeover });
    const trying = bob.busy(key, { version, elapsedMs: longSilent });
    await takeover.reached;
    await alice.timer.advance(HEARTBEAT_MS);
    takeover.open();
    expect((await trying).version).toBe(versionOf(await bench.row(key)));
    expect(lock.signal.aborted).toBe(false);
  });

  it.each(['releases it', 'loses its row to TTL'])(
    'and %s between the look and the takeover, it is simply acquired',
    async (what) => {
      const key = newKey();
      const alice = bench.contender();
      const bob = bench.contender();
      const lock = await alice.lock(key);
      const { version } = await bob.busy(key);
      const takeover = bob.faults.hold('PutItemCommand', { when: isTakeover });
      const trying = bob.lock(key, { version, elapsedMs: longSilent });
      await takeover.reached;
      await (what === 'releases it' ? lock.release() : bench.deleteRow(key));
      takeover.open();
      await trying;
      expect(bob.count('acquired')).toBe(1);
      expect(bob.count('taken-over')).toBe(0);
    },
  );
});

describe('when the row cannot be understood', () => {
  const strange = (key: string, change: Item): Item => ({
    PartitionKey: { S: key },
    ownerName: { S: 'somebody' },
    recordVersionNumber: { S: 'v1' },
    leaseDuration: { S: '1m0s' },
    ...change,
  });

  it.each([
    ['an unknown unit', { leaseDuration: { S: '1 fortnight' } }],
    ['an empty lease', { leaseDuration: { S: '' } }],
    ['no time at all', { leaseDuration: { S: '0s' } }],
    ['a negative time', { leaseDuration: { S: '-1h' } }],
    ['a number', { leaseDuration: { N: '1' } }],
  ] satisfies [string, Item][])('with %s for a lease, counts our own lease', async (_what, change) => {
    const key = newKey();
    await bench.writeRow(strange(key, change));
    const bob = bench.contender();
    expect(await bob.busy(key)).toEqual({ version: 'v1', leaseMs: LEASE_MS });
    await bob.busy(key, { version: 'v1', elapsedMs: LEASE_MS + GRACE_MS });
    await bob.lock(key, { version: 'v1', elapsedMs: longSilent });
  });

  it('without a version that can be compared, stays busy', async () => {
    const key = newKey();
    await bench.writeRow(strange(key, { recordVersionNumber: { N: '1' } }));
    const bob = bench.contender();
    const { version } = await bob.busy(key);
    await bob.busy(key, { version, elapsedMs: 100 * longSilent });
  });

  it('with isReleased other than "1", stays busy', async () => {
    const key = newKey();
    await bench.writeRow(strange(key, { isReleased: { S: '0' } }));
    await bench.contender().busy(key);
  });
});

function isTakeover(input: Record<string, unknown>): boolean {
  return input['ConditionExpression'] === '#version = :seen';
}
