import { describe, expect, it } from 'vitest';
import type { Item } from '../../../src/adapters/lock/lock-row.ts';
import { LockLostError } from '../../../src/errors.ts';
import type { Lock } from '../../../src/ports/lock.ts';
import { fail, serverFailed, throttled, timedOut, transactionConflict } from '../../support/dynamo-faults.ts';
import { nextTurn } from '../../unit/lock/manual-timer.ts';
import { HEARTBEAT_MS, LEASE_MS, lockBench, newKey, until, versionOf, WORKING_MS } from './lock-bench.ts';

const bench = lockBench();

async function expectLost(lock: Lock, reason: RegExp): Promise<void> {
  expect(lock.signal.aborted).toBe(true);
  expect(lock.signal.reason).toBeInstanceOf(LockLostError);
  expect((lock.signal.reason as Error).message).toMatch(reason);
  expect(lock.remainingMs()).toBeLessThan(0);
  let ran = false;
  const write = async (): Promise<void> => void (ran = true);
  await expect(lock.fence.exclusively(write)).rejects.toBe(lock.signal.reason);
  expect(ran).toBe(false);
}

describe('when a heartbeat finds that the row is not ours', () => {
  it.each([
    {
      what: 'somebody else has it',
      reason: /somebody else holds it/,
      change: async (key: string) =>
        bench.writeRow({
          ...(await bench.row(key)),
          ownerName: { S: 'thief' },
          recordVersionNumber: { S: 'v' },
        }),
    },
    { what: 'it was deleted', reason: /row was deleted/, change: (key: string) => bench.deleteRow(key) },
    {
      what: 'somebody else released it',
      reason: /somebody else released it/,
      change: async (key: string) =>
        bench.writeRow({
          ...(await bench.row(key)),
          isReleased: { S: '1' },
          recordVersionNumber: { S: 'v' },
        }),
    },
  ])('because $what, tells the work at once', async ({ reason, change }) => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    await change(key);
    await alice.timer.advance(HEARTBEAT_MS);
    await expectLost(lock, reason);
    expect(alice.count('lost')).toBe(1);

    const before = await bench.row(key);
    const updates = alice.faults.calls('UpdateItemCommand');
    await alice.timer.advance(2 * LEASE_MS);
    await lock.release();
    expect(alice.faults.calls('UpdateItemCommand')).toBe(updates);
    expect(await bench.row(key)).toEqual(before);
    expect(alice.timer.sleeping).toBe(0);
  });

  it('but carries our owner and a version that we do not know, goes on from there', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    await bench.writeRow({ ...(await bench.row(key)), recordVersionNumber: { S: 'touched' } });
    await alice.timer.advance(2 * HEARTBEAT_MS);
    expect(lock.signal.aborted).toBe(false);
    expect(versionOf(await bench.row(key))).not.toBe('touched');
  });
});

describe('when the row has another owner under the version that we wrote last', () => {
  const stolen = async (key: string): Promise<Item> => {
    const row = { ...(await bench.row(key)), ownerName: { S: 'thief' } };
    await bench.writeRow(row);
    return row;
  };

  it('is not renewed by us', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    const row = await stolen(key);
    await alice.timer.advance(HEARTBEAT_MS);
    expect(alice.faults.calls('UpdateItemCommand')).toBe(1);
    expect(await bench.row(key)).toEqual(row);
    await expectLost(lock, /somebody else holds it/);
  });

  it('is not released by us', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    const row = await stolen(key);
    await lock.release();
    expect(alice.faults.calls('UpdateItemCommand')).toBe(1);
    expect(await bench.row(key)).toEqual(row);
    expect(alice.count('released')).toBe(0);
  });
});

describe('when DynamoDB does not take heartbeats', () => {
  it.each([
    ['throttling', throttled],
    ['5xx', serverFailed],
    ['time-outs', timedOut],
    ['conflicts with a transaction', transactionConflict],
  ])('because of %s, survives as long as its lease lasts', async (_what, error) => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    alice.faults.script('UpdateItemCommand', fail(error()), { times: Infinity });
    await alice.timer.advance(WORKING_MS - 2 * HEARTBEAT_MS);
    expect(lock.signal.aborted).toBe(false);
    expect(alice.count('heartbeat-failed')).toBeGreaterThan(50);

    alice.faults.clear();
    await alice.timer.advance(HEARTBEAT_MS);
    expect(lock.remainingMs()).toBeGreaterThan(LEASE_MS - HEARTBEAT_MS);
    await lock.fence.exclusively(() => bench.fencedWrite(key, lock.fence.ownerName));
  });

  it('tells the work before the lease is over, then gives the row back if it can', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    alice.faults.script('UpdateItemCommand', fail(throttled()), { times: Infinity });
    await alice.timer.advance(WORKING_MS - 1);
    expect(lock.signal.aborted).toBe(false);
    await alice.timer.advance(1);
    await expectLost(lock, /lease is nearly over/);

    alice.faults.clear();
    await lock.release();
    expect((await bench.row(key))?.['isReleased']).toEqual({ S: '1' });
  });

  it('does not wait for a request that hangs', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    const hung = alice.faults.hold('UpdateItemCommand');
    await alice.timer.advance(HEARTBEAT_MS);
    await hung.reached;
    await alice.timer.advance(5_000 + HEARTBEAT_MS);
    expect(alice.count('heartbeat-failed')).toBe(1);
    expect(lock.remainingMs()).toBeGreaterThan(LEASE_MS - 2 * HEARTBEAT_MS);
    hung.open();
  });
});

describe('heartbeats and fenced writes', () => {
  it('take turns: a heartbeat waits for the write', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    let finish = (): void => undefined;
    const writing = lock.fence.exclusively(() => new Promise<void>((resolve) => (finish = resolve)));
    await alice.timer.advance(5 * HEARTBEAT_MS);
    expect(alice.faults.calls('UpdateItemCommand')).toBe(0);
    finish();
    await writing;
    await until(() => alice.faults.calls('UpdateItemCommand') === 1);
    await alice.timer.advance(0);
    expect(lock.remainingMs()).toBe(LEASE_MS);
  });

  it('take turns: a write waits for the heartbeat, and writes for each other', async () => {
    const alice = bench.contender();
    const lock = await alice.lock(newKey());
    const beat = alice.faults.hold('UpdateItemCommand', { at: 'after-answer' });
    await alice.timer.advance(HEARTBEAT_MS);
    await beat.reached;
    const log: string[] = [];
    const write = (name: string) => async (): Promise<string> => {
      log.push(`${name} begins`);
      await nextTurn();
      log.push(`${name} ends`);
      return name;
    };
    const writes = Promise.all([lock.fence.exclusively(write('a')), lock.fence.exclusively(write('b'))]);
    await nextTurn();
    expect(log).toEqual([]);
    beat.open();
    expect(await writes).toEqual(['a', 'b']);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  it('pass on the error of a write, and go on', async () => {
    const alice = bench.contender();
    const lock = await alice.lock(newKey());
    await expect(lock.fence.exclusively(() => Promise.reject(new Error('refused')))).rejects.toThrow(
      'refused',
    );
    await alice.timer.advance(HEARTBEAT_MS);
    expect(alice.faults.calls('UpdateItemCommand')).toBe(1);
  });

  it('do not let a lease die silently behind a write that takes too long', async () => {
    const alice = bench.contender();
    const lock = await alice.lock(newKey());
    let finish = (): void => undefined;
    const writing = lock.fence.exclusively(() => new Promise<void>((resolve) => (finish = resolve)));
    const waiting = lock.fence.exclusively(async () => 'never');
    waiting.catch(() => undefined);
    await alice.timer.advance(WORKING_MS);
    await expect(waiting).rejects.toThrow(LockLostError);
    await expectLost(lock, /lease is nearly over/);
    await lock.release();
    finish();
    await writing;
  });

  it('have only one heartbeat in flight, and the next one a whole pause after the answer', async () => {
    const alice = bench.contender();
    const lock = await alice.lock(newKey());
    const slow = alice.faults.hold('UpdateItemCommand', { at: 'after-answer' });
    await alice.timer.advance(4 * HEARTBEAT_MS);
    expect(alice.faults.calls('UpdateItemCommand')).toBe(1);
    slow.open();
    await nextTurn();
    await alice.timer.advance(HEARTBEAT_MS - 1);
    expect(alice.faults.calls('UpdateItemCommand')).toBe(1);
    await alice.timer.advance(1);
    expect(alice.faults.calls('UpdateItemCommand')).toBe(2);
    expect(lock.signal.aborted).toBe(false);
  });
});
