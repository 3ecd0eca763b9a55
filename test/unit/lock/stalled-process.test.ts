import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it } from 'vitest';
import { createLockClient } from '../../../src/adapters/lock/lock-client.ts';
import { instantFromMs } from '../../../src/domain/instant.ts';
import { LockLostError } from '../../../src/errors.ts';
import type { Lock, LockClient } from '../../../src/ports/lock.ts';
import { injectFaults, type Fault, type Faults } from '../../support/dynamo-faults.ts';
import { ManualTimer, nextTurn } from './manual-timer.ts';

/** No server: every request is taken, whatever it says. */
const taken: Fault = () => Promise.resolve({ response: {}, output: { $metadata: {} } });

const LEASE_MS = 60_000;
const HEARTBEAT_MS = 1_000;
const WORKING_MS = LEASE_MS * 0.9;
const open: LockClient[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((locks) => locks.close()));
});

interface Held {
  readonly lock: Lock;
  readonly timer: ManualTimer;
  readonly faults: Faults;
  readonly heartbeats: () => number;
}

async function heldLock(): Promise<Held> {
  const timer = new ManualTimer();
  const client = new DynamoDBClient({ region: 'us-east-1' });
  const faults = injectFaults(client);
  faults.script('PutItemCommand', taken, { times: Infinity });
  const locks = createLockClient({ client, table: 'locks', timer, clock: { now: () => instantFromMs(0) } });
  open.push(locks);
  const outcome = await locks.acquire('k');
  if (!('lock' in outcome)) throw new Error('busy');
  return { lock: outcome.lock, timer, faults, heartbeats: () => faults.calls('UpdateItemCommand') };
}

const takeUpdates = ({ faults }: Held): void =>
  void faults.script('UpdateItemCommand', taken, { times: Infinity });

describe('a process that was stopped for longer than its lease', () => {
  it('has no time left at its first look, before any timer has fired', async () => {
    const held = await heldLock();
    takeUpdates(held);
    held.timer.stall(LEASE_MS + 1);
    expect(held.lock.remainingMs()).toBe(-1);
  });

  it('sees the signal aborted at its first look', async () => {
    const held = await heldLock();
    takeUpdates(held);
    const { signal } = held.lock;
    held.timer.stall(LEASE_MS + 1);
    expect(held.lock.signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(LockLostError);
  });

  it('does not begin a write', async () => {
    const held = await heldLock();
    takeUpdates(held);
    held.timer.stall(LEASE_MS + 1);
    let ran = false;
    await expect(held.lock.fence.exclusively(async () => (ran = true))).rejects.toThrow(LockLostError);
    expect(ran).toBe(false);
  });

  it('does not send the heartbeat that was due, nor any other', async () => {
    const held = await heldLock();
    takeUpdates(held);
    held.timer.stall(LEASE_MS + 1);
    await held.timer.catchUp();
    await held.timer.advance(10 * HEARTBEAT_MS);
    expect(held.heartbeats()).toBe(0);
    expect(held.lock.signal.aborted).toBe(true);
  });

  it('does not come back to life by the answer to a heartbeat from before', async () => {
    const held = await heldLock();
    let answer = (): void => undefined;
    const late: Fault = (send) => new Promise<void>((resolve) => (answer = resolve)).then(() => taken(send));
    held.faults.script('UpdateItemCommand', late);
    takeUpdates(held);
    await held.timer.advance(HEARTBEAT_MS);
    expect(held.heartbeats()).toBe(1);
    held.timer.stall(LEASE_MS);
    answer();
    await nextTurn();
    expect(held.lock.remainingMs()).toBeLessThan(0);
    expect(held.lock.signal.aborted).toBe(true);
  });

  it('wakes up in the middle of waiting for its turn, and does not write', async () => {
    const held = await heldLock();
    takeUpdates(held);
    let finish = (): void => undefined;
    const first = held.lock.fence.exclusively(() => new Promise<void>((resolve) => (finish = resolve)));
    let ran = false;
    const second = held.lock.fence.exclusively(async () => (ran = true));
    const refused = expect(second).rejects.toThrow(LockLostError);
    await nextTurn();
    held.timer.stall(LEASE_MS);
    finish();
    await Promise.all([first, refused]);
    expect(ran).toBe(false);
  });
});

describe('a process that was stopped for less than its lease', () => {
  it('goes on: the late heartbeat renews the lease', async () => {
    const held = await heldLock();
    takeUpdates(held);
    held.timer.stall(WORKING_MS - 1);
    expect(held.lock.remainingMs()).toBe(LEASE_MS - WORKING_MS + 1);
    await held.timer.catchUp();
    expect(held.heartbeats()).toBe(1);
    expect(held.lock.remainingMs()).toBe(LEASE_MS);
    expect(held.lock.signal.aborted).toBe(false);
  });

  it('is told to stop within the last tenth, when there is no time for more work', async () => {
    const held = await heldLock();
    takeUpdates(held);
    held.timer.stall(WORKING_MS);
    expect(held.lock.signal.aborted).toBe(true);
    expect(held.lock.remainingMs()).toBe(-1);
    expect(held.heartbeats()).toBe(0);
  });
});

describe('a lock', () => {
  it('keeps no timer after its release', async () => {
    const held = await heldLock();
    takeUpdates(held);
    expect(held.timer.sleeping).toBe(2);
    await held.lock.release();
    expect(held.timer.sleeping).toBe(0);
  });

  it('can be given back from within a write without waiting for itself beyond its lease', async () => {
    const held = await heldLock();
    takeUpdates(held);
    const writing = held.lock.fence.exclusively(() => held.lock.release());
    await held.timer.advance(WORKING_MS);
    await writing;
    expect(held.timer.sleeping).toBe(0);
  });
});
