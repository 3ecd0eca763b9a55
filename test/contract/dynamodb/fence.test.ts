import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLockClient } from '../../../src/adapters/lock/lock-client.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { instantFromMs } from '../../../src/domain/instant.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import { LockLostError } from '../../../src/errors.ts';
import type { Lock, LockClient, Sighting } from '../../../src/ports/lock.ts';
import { subscriptionLockKey } from '../../../src/ports/lock.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import { injectFaults } from '../../support/dynamo-faults.ts';
import { subscription } from '../../support/records.ts';

/** The real lock and the real repository together: what a stale worker can and cannot do. */
let store: BillingStore;
let clients: LockClient[];
let userId: UserId;

beforeAll(async () => {
  store = await billingStore();
});
afterAll(() => store.drop());
beforeEach(() => {
  clients = [];
  userId = `user-${randomUUID()}` as UserId;
});
afterEach(() => Promise.all(clients.map((client) => client.close())));

function lockClient(options: { heartbeatMs?: number; leaseMs?: number } = {}): LockClient {
  const client = createLockClient({
    client: store.client,
    table: store.tables.locks,
    clock: { now: () => instantFromMs(Date.now()) },
    timer: systemTimer,
    takeoverGraceMs: 0,
    ...options,
  });
  clients.push(client);
  return client;
}

async function acquire(client = lockClient()): Promise<Lock> {
  const outcome = await client.acquire(subscriptionLockKey(userId));
  if (!('lock' in outcome)) throw new Error('the lock is busy');
  return outcome.lock;
}

const context = () => store.context(userId, { cause: 'plan-changed' });

const add = async (lock: Lock): Promise<StoredSubscription> =>
  store.subscriptions.add(lock.fence, subscription({ userId }), await context());

const change = async (
  lock: Lock,
  record: StoredSubscription,
  updatedEvent: string,
): Promise<StoredSubscription> =>
  store.subscriptions.add(lock.fence, { ...record, updatedEvent }, await context());

describe('a worker that holds the lock', () => {
  it('writes until it has released, and not after', async () => {
    const lock = await acquire();
    const record = await add(lock);
    await lock.release();
    await expect(change(lock, record, 'late')).rejects.toThrow(LockLostError);
    expect(await store.historyRows(userId)).toHaveLength(1);
  });

  it('that was taken over while it slept cannot write, though it never heard of it', async () => {
    const sleeper = await acquire(lockClient({ heartbeatMs: 30_000 }));
    const record = await add(sleeper);
    const observed = await lockClient().acquire(subscriptionLockKey(userId));
    const { version, leaseMs } = (observed as { busy: Sighting }).busy;
    const takeover = await lockClient().acquire(subscriptionLockKey(userId), {
      version,
      elapsedMs: leaseMs + 1,
    });
    const winner = (takeover as { lock: Lock }).lock;

    expect(sleeper.signal.aborted).toBe(false);
    await expect(change(sleeper, record, 'late')).rejects.toThrow(LockLostError);
    expect((await change(winner, record, 'on time')).updatedEvent).toBe('on time');
    expect(await store.historyRows(userId)).toHaveLength(2);
  });

  it('never has a heartbeat and a transaction under way at the same time', async () => {
    const inFlight = new Set<string>();
    const overlaps: string[] = [];
    const watch =
      (name: string) =>
      async (send: () => Promise<unknown>): Promise<unknown> => {
        if (inFlight.size > 0) overlaps.push(`${name} during ${[...inFlight].join()}`);
        inFlight.add(name);
        try {
          return await send();
        } finally {
          inFlight.delete(name);
        }
      };
    const lock = await acquire(lockClient({ heartbeatMs: 10, leaseMs: 5_000 }));
    let record = await add(lock);
    const faults = injectFaults(store.client);
    for (const name of ['UpdateItemCommand', 'TransactWriteItemsCommand'])
      faults.script(name, watch(name), { times: Infinity });
    for (let i = 0; i < 40 || faults.calls('UpdateItemCommand') < 10; i += 1)
      record = await change(lock, record, `change ${i}`);
    faults.remove();
    expect(overlaps).toEqual([]);
    expect(record.updatedEvent).toMatch(/^change/);
  });
});
