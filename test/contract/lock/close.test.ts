import { describe, expect, it } from 'vitest';
import { LockLostError } from '../../../src/errors.ts';
import { nextTurn } from '../../unit/lock/manual-timer.ts';
import { HEARTBEAT_MS, lockBench, newKey, until } from './lock-bench.ts';

const bench = lockBench();
const isReleased = async (key: string): Promise<boolean> => (await bench.row(key))?.['isReleased']?.S === '1';

describe('when the client is closed', () => {
  it('releases everything that is still held, and stops', async () => {
    const alice = bench.contender();
    const keys = [newKey(), newKey(), newKey()];
    const locks = await Promise.all(keys.map((key) => alice.lock(key)));
    await alice.locks.close();
    for (const key of keys) expect(await isReleased(key)).toBe(true);
    for (const lock of locks) {
      expect(lock.signal.reason).toBeInstanceOf(LockLostError);
      expect(lock.remainingMs()).toBeLessThan(0);
    }
    expect(alice.timer.sleeping).toBe(0);
  });

  it('waits for a heartbeat in flight, and releases with its version', async () => {
    const key = newKey();
    const alice = bench.contender();
    await alice.lock(key);
    const beat = alice.faults.hold('UpdateItemCommand', { at: 'after-answer' });
    await alice.timer.advance(HEARTBEAT_MS);
    await beat.reached;
    let closed = false;
    const closing = alice.locks.close().then(() => (closed = true));
    await nextTurn();
    expect(closed).toBe(false);
    expect(await isReleased(key)).toBe(false);
    beat.open();
    await closing;
    expect(await isReleased(key)).toBe(true);
    expect(alice.faults.calls('UpdateItemCommand')).toBe(2);
  });

  it('waits for a write in flight, and turns away the ones behind it', async () => {
    const key = newKey();
    const alice = bench.contender();
    const { fence } = await alice.lock(key);
    let finish = (): void => undefined;
    const permission = new Promise<void>((resolve) => (finish = resolve));
    let begun = false;
    const writing = fence.exclusively(async () => {
      begun = true;
      await permission;
      await bench.fencedWrite(key, fence.ownerName);
    });
    const behind = fence.exclusively(async () => 'too late');
    const turnedAway = expect(behind).rejects.toThrow(LockLostError);
    await until(() => begun);
    const closing = alice.locks.close();
    await nextTurn();
    finish();
    await Promise.all([writing, turnedAway, closing]);
    expect(await isReleased(key)).toBe(true);
  });

  it('waits for an acquire under way, and gives back what it got', async () => {
    const key = newKey();
    const alice = bench.contender();
    const put = alice.faults.hold('PutItemCommand', { at: 'after-answer' });
    const acquiring = expect(alice.locks.acquire(key)).rejects.toThrow('closed');
    await put.reached;
    let closed = false;
    const closing = alice.locks.close().then(() => (closed = true));
    await nextTurn();
    expect(closed).toBe(false);
    put.open();
    await Promise.all([acquiring, closing]);
    expect(await isReleased(key)).toBe(true);
    expect(alice.timer.sleeping).toBe(0);
  });

  it('does not acquire any more, and may be closed again', async () => {
    const alice = bench.contender();
    await alice.locks.close();
    await expect(alice.locks.acquire(newKey())).rejects.toThrow('after the lock client was closed');
    await alice.locks.close();
    expect(alice.faults.calls('PutItemCommand')).toBe(0);
  });
});
