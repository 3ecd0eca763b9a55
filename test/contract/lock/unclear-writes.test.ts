import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import {
  connectionReset,
  fail,
  inTurn,
  loseAnswer,
  serverFailed,
  throttled,
  timedOut,
  transactionConflict,
} from '../../support/dynamo-faults.ts';
import {
  GRACE_MS,
  HEARTBEAT_MS,
  LEASE_MS,
  lockBench,
  newKey,
  versionOf,
  type Contender,
} from './lock-bench.ts';

const bench = lockBench();

const errors = [
  ['throttling', throttled],
  ['a 5xx', serverFailed],
  ['a time-out', timedOut],
  ['a lost connection', connectionReset],
  ['a conflict with a transaction', transactionConflict],
] as const;

/** Lets the pauses between tries pass until `work` is done. */
async function withTime<T>(contender: Contender, work: Promise<T>): Promise<T> {
  const progress = { done: false };
  const watched = work.finally(() => (progress.done = true));
  watched.catch(() => undefined);
  while (!progress.done) await contender.timer.advance(10);
  return watched;
}

describe('when the answer to an acquire is', () => {
  it.each(errors)('%s and nothing was written, it is sent again', async (_what, error) => {
    const key = newKey();
    const alice = bench.contender();
    alice.faults.script('PutItemCommand', fail(error()));
    const lock = await withTime(alice, alice.lock(key));
    expect(alice.faults.calls('PutItemCommand')).toBe(2);
    expect((await bench.row(key))?.['ownerName']?.S).toBe(lock.fence.ownerName);
  });

  it.each(errors)(
    '%s and the row was written, it is ours, with the lease of the first sending',
    async (_what, error) => {
      const key = newKey();
      const alice = bench.contender();
      alice.faults.script('PutItemCommand', loseAnswer(error()));
      const startMs = alice.timer.elapsedMs();
      const lock = await withTime(alice, alice.lock(key));
      expect((await bench.row(key))?.['ownerName']?.S).toBe(lock.fence.ownerName);
      expect(lock.remainingMs()).toBe(LEASE_MS - (alice.timer.elapsedMs() - startMs));
      await alice.timer.advance(HEARTBEAT_MS);
      expect(lock.remainingMs()).toBe(LEASE_MS);
    },
  );

  it('lost below the SDK, whose silent retry is refused by our own row, it is ours', async () => {
    const key = newKey();
    const alice = bench.contender({ faultsAt: 'attempt' });
    alice.faults.script('PutItemCommand', loseAnswer(timedOut()));
    const lock = await alice.lock(key);
    expect(alice.faults.calls('PutItemCommand')).toBe(2);
    expect((await bench.row(key))?.['ownerName']?.S).toBe(lock.fence.ownerName);
    await alice.timer.advance(HEARTBEAT_MS);
    expect(lock.signal.aborted).toBe(false);
  });

  it('lost and every further write throttled, a read finds that it is ours', async () => {
    const key = newKey();
    const alice = bench.contender();
    alice.faults.script('PutItemCommand', inTurn(loseAnswer(timedOut()), fail(throttled())), {
      times: Infinity,
    });
    const lock = await withTime(alice, alice.lock(key));
    expect((await bench.row(key))?.['ownerName']?.S).toBe(lock.fence.ownerName);
  });

  it('a time-out and somebody else was faster, it is busy', async () => {
    const key = newKey();
    const alice = bench.contender();
    const bob = bench.contender();
    const gate = alice.faults.hold('PutItemCommand');
    const trying = alice.busy(key);
    await gate.reached;
    await bob.lock(key);
    alice.faults.script('PutItemCommand', fail(timedOut()));
    gate.open();
    expect((await withTime(alice, trying)).version).toBe(versionOf(await bench.row(key)));
  });

  it('nothing at all, it gives up, says why, and leaves no timer behind', async () => {
    const key = newKey();
    const alice = bench.contender();
    const offline = serverFailed();
    alice.faults.script('PutItemCommand', fail(offline), { times: Infinity });
    alice.faults.script('GetItemCommand', fail(offline), { times: Infinity });
    await expect(withTime(alice, alice.locks.acquire(key))).rejects.toMatchObject({
      code: 'service-down',
      cause: offline,
    });
    expect(alice.faults.calls('PutItemCommand')).toBe(3);
    expect(alice.timer.sleeping).toBe(0);
    expect(await bench.row(key)).toBeUndefined();
  });

  it('lost at a takeover, it is ours all the same', async () => {
    const key = newKey();
    const dead = bench.contender();
    const bob = bench.contender();
    await dead.lock(key);
    const { version } = await bob.busy(key);
    bob.faults.script('PutItemCommand', loseAnswer(timedOut()), {
      when: (input) => input['ConditionExpression'] === '#version = :seen',
    });
    const lock = await withTime(bob, bob.lock(key, { version, elapsedMs: LEASE_MS + GRACE_MS + 1 }));
    expect((await bench.row(key))?.['ownerName']?.S).toBe(lock.fence.ownerName);
    expect(bob.count('taken-over')).toBe(1);
  });

  it('so late that the lease is over, the lock is lost when it arrives', async () => {
    const key = newKey();
    const alice = bench.contender();
    const gate = alice.faults.hold('PutItemCommand', { at: 'after-answer' });
    const locking = alice.lock(key);
    await gate.reached;
    alice.timer.stall(LEASE_MS + 1);
    gate.open();
    const lock = await locking;
    expect(lock.signal.aborted).toBe(true);
    await lock.release();
    expect((await bench.row(key))?.['isReleased']).toEqual({ S: '1' });
  });
});

describe('when the answer to a heartbeat is', () => {
  it.each(errors)(
    '%s and nothing was written, it is sent again before the next is due',
    async (_what, error) => {
      const alice = bench.contender();
      const lock = await alice.lock(newKey());
      alice.faults.script('UpdateItemCommand', fail(error()));
      await alice.timer.advance(2 * HEARTBEAT_MS - 1);
      expect(alice.faults.calls('UpdateItemCommand')).toBe(2);
      expect(lock.remainingMs()).toBeGreaterThan(LEASE_MS - HEARTBEAT_MS);
    },
  );

  it.each(errors)('%s and the row was renewed, it is known by its version', async (_what, error) => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    alice.faults.script('UpdateItemCommand', loseAnswer(error()));
    await alice.timer.advance(HEARTBEAT_MS);
    const renewed = versionOf(await bench.row(key));
    const sentMs = alice.timer.elapsedMs();
    await alice.timer.advance(HEARTBEAT_MS / 2);
    expect(versionOf(await bench.row(key))).toBe(renewed);
    expect(lock.remainingMs()).toBe(LEASE_MS - (alice.timer.elapsedMs() - sentMs));
    await alice.timer.advance(HEARTBEAT_MS);
    expect(versionOf(await bench.row(key))).not.toBe(renewed);
    expect(lock.signal.aborted).toBe(false);
  });

  it('lost below the SDK, the silent retry does not lose the lock', async () => {
    const alice = bench.contender({ faultsAt: 'attempt' });
    const lock = await alice.lock(newKey());
    alice.faults.script('UpdateItemCommand', loseAnswer(connectionReset()), { times: 3 });
    await alice.timer.advance(4 * HEARTBEAT_MS);
    expect(lock.signal.aborted).toBe(false);
    expect(lock.remainingMs()).toBeGreaterThan(LEASE_MS - HEARTBEAT_MS);
  });

  it('lost again and again, the lock lives on', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    alice.faults.script('UpdateItemCommand', loseAnswer(timedOut()), { times: 10 });
    await alice.timer.advance(15 * HEARTBEAT_MS);
    expect(lock.remainingMs()).toBeGreaterThan(LEASE_MS - HEARTBEAT_MS);
    await bench.fencedWrite(key, lock.fence.ownerName);
  });
});

describe('when the answer to a release is', () => {
  it.each(errors)('%s and nothing was written, it is sent again', async (_what, error) => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    alice.faults.script('UpdateItemCommand', fail(error()), { times: 2 });
    await withTime(alice, lock.release());
    expect((await bench.row(key))?.['isReleased']).toEqual({ S: '1' });
    expect(alice.count('released')).toBe(1);
  });

  it.each(errors)('%s and it was done, that is seen', async (_what, error) => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    alice.faults.script('UpdateItemCommand', loseAnswer(error()));
    await withTime(alice, lock.release());
    expect(alice.events.map(({ type }) => type)).toEqual(['acquired', 'released']);
    await bench.contender().lock(key);
  });

  it('lost below the SDK, that is seen too', async () => {
    const alice = bench.contender({ faultsAt: 'attempt' });
    const lock = await alice.lock(newKey());
    alice.faults.script('UpdateItemCommand', loseAnswer(timedOut()));
    await lock.release();
    expect(alice.count('released')).toBe(1);
    expect(alice.count('lost')).toBe(0);
  });

  it('lost and the next holder is there already, it takes nothing away', async () => {
    const key = newKey();
    const alice = bench.contender();
    const bob = bench.contender();
    const lock = await alice.lock(key);
    alice.faults.script('UpdateItemCommand', loseAnswer(timedOut()));
    const releasing = lock.release();
    await alice.timer.advance(0);
    const next = await bob.lock(key);
    await withTime(alice, releasing);
    await bench.fencedWrite(key, next.fence.ownerName);
  });

  it('refused because an unanswered heartbeat had been applied, it goes by the new version', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    alice.faults.script('UpdateItemCommand', loseAnswer(timedOut()));
    await alice.timer.advance(HEARTBEAT_MS);
    await withTime(alice, lock.release());
    expect((await bench.row(key))?.['isReleased']).toEqual({ S: '1' });
    expect(alice.count('lost')).toBe(0);
  });

  it('nothing at all, it gives up without an error: the lease ends by itself', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    alice.faults.script('UpdateItemCommand', fail(serverFailed()), { times: Infinity });
    await withTime(alice, lock.release());
    expect(alice.count('release-failed')).toBe(1);
    expect(alice.timer.sleeping).toBe(0);
  });

  it('good, a heartbeat that arrives after it changes nothing', async () => {
    const key = newKey();
    const alice = bench.contender();
    const lock = await alice.lock(key);
    const onItsWay: UpdateItemCommandInput[] = [];
    alice.faults.script('UpdateItemCommand', fail(timedOut()), {
      when: (input) => onItsWay.push(input as unknown as UpdateItemCommandInput) > 0,
    });
    await alice.timer.advance(HEARTBEAT_MS);
    await withTime(alice, lock.release());
    const released = await bench.row(key);
    await expect(bench.client().send(new UpdateItemCommand(onItsWay[0]!))).rejects.toThrow(
      'conditional request failed',
    );
    expect(await bench.row(key)).toEqual(released);
    expect(released?.['deleteOn']).toBeUndefined();
  });
});
