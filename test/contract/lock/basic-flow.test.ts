import { describe, expect, it } from 'vitest';
import type { Item } from '../../../src/adapters/lock/lock-row.ts';
import { LockLostError } from '../../../src/errors.ts';
import {
  ACQUIRED_AT,
  EPOCH_SECONDS,
  HEARTBEAT_MS,
  LEASE_MS,
  lockBench,
  newKey,
  versionOf,
} from './lock-bench.ts';

const bench = lockBench();
const kept = { seconds: LEASE_MS / 1000 + 3600 };

const heldRow = (key: string, ownerName: string, version: string): Item => ({
  PartitionKey: { S: key },
  ownerName: { S: ownerName },
  owner: { S: ownerName },
  leaseDuration: { S: '1m0s' },
  recordVersionNumber: { S: version },
  data: { B: new TextEncoder().encode(ACQUIRED_AT.toString()) },
  deleteOn: { N: String(EPOCH_SECONDS + kept.seconds) },
});

describe('when the lock was never used', () => {
  it('is acquired, with the whole row written', async () => {
    const key = newKey();
    const alice = bench.contender();
    const { fence, signal } = await alice.lock(key);
    const row = await bench.row(key);
    expect(row).toEqual(heldRow(key, fence.ownerName, versionOf(row)!));
    expect(fence.key).toBe(key);
    expect(signal.aborted).toBe(false);
    expect(alice.events).toEqual([{ type: 'acquired', key, ownerName: fence.ownerName }]);
  });

  it('has a whole lease left, counted from before the write', async () => {
    const alice = bench.contender();
    const gate = alice.faults.hold('PutItemCommand', { at: 'after-answer' });
    const locking = alice.lock(newKey());
    await gate.reached;
    alice.timer.stall(700);
    gate.open();
    expect((await locking).remainingMs()).toBe(LEASE_MS - 700);
  });
});

describe('when somebody holds the lock', () => {
  it('answers busy at once, with what is needed to recognise a dead holder', async () => {
    const key = newKey();
    const alice = bench.contender();
    const bob = bench.contender();
    await alice.lock(key);
    const sighting = await bob.busy(key);
    expect(sighting).toEqual({ version: versionOf(await bench.row(key)), leaseMs: LEASE_MS });
    expect(bob.faults.calls('GetItemCommand')).toBe(0);
    expect(bob.count('contended')).toBe(1);
  });

  it('answers busy to the same client too', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    await alice.busy(key);
    await alice.timer.advance(HEARTBEAT_MS);
    expect(lock.signal.aborted).toBe(false);
  });

  it('leaves other keys alone', async () => {
    const alice = bench.contender();
    const bob = bench.contender();
    const locks = await Promise.all([alice.lock(newKey()), alice.lock(newKey()), bob.lock(newKey())]);
    expect(new Set(locks.map((lock) => lock.fence.ownerName)).size).toBe(3);
  });
});

describe('while the lock is held', () => {
  it('renews version, lease and deleteOn at each heartbeat, and nothing else', async () => {
    const key = newKey();
    let epochSeconds = EPOCH_SECONDS;
    const alice = bench.contender({ epochSeconds: () => epochSeconds });
    const { fence } = await alice.lock(key);
    const versions = new Set([versionOf(await bench.row(key))]);
    for (let beat = 1; beat <= 3; beat += 1) {
      epochSeconds += 1;
      await alice.timer.advance(HEARTBEAT_MS);
      const row = await bench.row(key);
      versions.add(versionOf(row));
      expect(row).toEqual({
        ...heldRow(key, fence.ownerName, versionOf(row)!),
        deleteOn: { N: String(epochSeconds + kept.seconds) },
      });
    }
    expect(versions.size).toBe(4);
  });

  it('lives as long as heartbeats get through', async () => {
    const key = newKey();
    const alice = bench.contender({ leaseMs: 3000 });
    const lock = await alice.lock(key);
    await alice.timer.advance(30_000);
    expect(lock.signal.aborted).toBe(false);
    expect(lock.remainingMs()).toBeGreaterThanOrEqual(2000);
    await lock.fence.exclusively(() => bench.fencedWrite(key, lock.fence.ownerName));
  });
});

describe('when the lock is released', () => {
  it('keeps the row as Go does, without what Go would copy', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    const before = versionOf(await bench.row(key));
    await lock.release();
    const row = await bench.row(key);
    const expected: Item = { ...heldRow(key, lock.fence.ownerName, versionOf(row)!), isReleased: { S: '1' } };
    delete expected['owner'];
    delete expected['deleteOn'];
    expect(row).toEqual(expected);
    expect(versionOf(row)).not.toBe(before);
    expect(alice.count('released')).toBe(1);
  });

  it('goes to the next one, as a new row under a new owner', async () => {
    const key = newKey();
    const alice = bench.contender();
    const bob = bench.contender();
    const first = await alice.lock(key);
    await bob.busy(key);
    await first.release();
    const second = await bob.lock(key);
    const row = await bench.row(key);
    expect(row).toEqual(heldRow(key, second.fence.ownerName, versionOf(row)!));
    expect(second.fence.ownerName).not.toBe(first.fence.ownerName);
    await alice.busy(key);
  });

  it('is free for the same client again, under another owner', async () => {
    const key = newKey();
    const alice = bench.contender();
    const first = await alice.lock(key);
    await first.release();
    const second = await alice.lock(key);
    expect(second.fence.ownerName).not.toBe(first.fence.ownerName);
    await expect(bench.fencedWrite(key, first.fence.ownerName)).rejects.toThrow('ConditionalCheckFailed');
    await bench.fencedWrite(key, second.fence.ownerName);
  });

  it('stops heartbeats and is over for its holder, without an alarm', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    await lock.release();
    const beats = alice.faults.calls('UpdateItemCommand');
    await alice.timer.advance(2 * LEASE_MS);
    expect(alice.faults.calls('UpdateItemCommand')).toBe(beats);
    expect(alice.timer.sleeping).toBe(0);
    expect(lock.signal.aborted).toBe(false);
    expect(lock.remainingMs()).toBeLessThan(0);
    let ran = false;
    await expect(lock.fence.exclusively(async () => (ran = true))).rejects.toThrow(LockLostError);
    expect(ran).toBe(false);
  });

  it('may be released twice, and the second time takes nothing away from the next holder', async () => {
    const key = newKey();
    const alice = bench.contender();
    const bob = bench.contender();
    const lock = await alice.lock(key);
    await Promise.all([lock.release(), lock.release()]);
    await bob.lock(key);
    await lock.release();
    expect((await bench.row(key))?.['isReleased']).toBeUndefined();
    expect(alice.count('released')).toBe(1);
  });
});
