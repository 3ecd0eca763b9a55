import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NO_LOG } from '../../src/adapters/logging/logger.ts';
import { createLockClient } from '../../src/adapters/lock/lock-client.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import type { ReplayDependencies } from '../../src/app/quarantine.ts';
import { dropQuarantined, listQuarantine, replayQuarantined } from '../../src/app/quarantine.ts';
import { readAgain } from '../../src/app/read-again.ts';
import { whileLocked } from '../../src/app/while-locked.ts';
import type { UserId } from '../../src/domain/subscription.ts';
import type { InboxEvent } from '../../src/ports/inbox.ts';
import type { LockClient } from '../../src/ports/lock.ts';
import { floatLockKey, subscriptionLockKey } from '../../src/ports/lock.ts';
import type { BillingStore } from '../support/billing-store.ts';
import { billingStore } from '../support/billing-store.ts';
import type { Faults } from '../support/dynamo-faults.ts';
import { injectFaults } from '../support/dynamo-faults.ts';
import type { InboxDesk } from '../support/inbox-desk.ts';
import { NOW, anEvent, inboxDesk, newUser } from '../support/inbox-desk.ts';

/* What the command and the API both call: every end of it is an answer, also when two decide at once. */

let store: BillingStore;
let desk: InboxDesk;
let locks: LockClient & { close(): Promise<void> };
let faults: Faults;
let user: UserId;
let event: InboxEvent;
let id: string;
let enqueued: InboxEvent[];

beforeAll(async () => {
  store = await billingStore();
  desk = inboxDesk(store.client, store.tables);
  const { client, tables } = store;
  locks = createLockClient({ client, table: tables.locks, clock, timer: systemTimer });
});
afterAll(async () => {
  await locks.close();
  await store.drop();
});
beforeEach(async () => {
  faults = injectFaults(store.client);
  enqueued = [];
  user = newUser();
  event = anEvent(user, 1);
  id = `users.${user}.1`;
  await desk.inbox.store([event]);
  await desk.inbox.quarantine(event, 'broken', NOW);
});
afterEach(() => faults.remove());

const clock = { now: () => NOW };
const BY = { who: 'olga', reason: 'the member agreed' };

const dependencies = (): ReplayDependencies => ({
  quarantine: desk.quarantine,
  locks,
  clock,
  log: NO_LOG,
  readAgain: (item) => readAgain(item, { owned: { kind: 'all' }, receivedAt: NOW }),
  enqueue: async (one) => void enqueued.push(one),
});
const replay = (more: Partial<ReplayDependencies> = {}) =>
  replayQuarantined({ ...dependencies(), ...more }, id, { force: false });
const drop = () => dropQuarantined(dependencies(), id, BY);
const inInbox = () => desk.inbox.earliest('users', user);

/** What happens just before the first decision is written. */
async function overtakenBy<T>(decision: () => Promise<T>, other: () => Promise<unknown>): Promise<T> {
  const gate = faults.hold('TransactWriteItemsCommand');
  const first = decision();
  await gate.reached;
  await other();
  gate.open();
  return first;
}
const dropsIt = async (): Promise<void> => {
  const item = await desk.quarantine.get(id);
  await desk.quarantine.drop(item!, { ...BY, at: NOW });
};

describe('a replay', () => {
  it('gives the event to the inbox and then to the workers', async () => {
    const answer = await replay();
    expect(answer).toEqual({ result: 'replayed', event, later: [], handedOver: true });
    expect([await inInbox(), enqueued]).toEqual([event, [event]]);
  });

  it('of which the workers cannot be told is one all the same, and says so', async () => {
    const enqueue = () => Promise.reject(new Error('Redis is away'));
    expect(await replay({ enqueue })).toMatchObject({ result: 'replayed', handedOver: false });
    expect([await inInbox(), await desk.membershipEvent(user)]).toEqual([event, 'unapplied']);
  });

  it('comes too late for what somebody else has just dropped, and tells no worker', async () => {
    expect(await overtakenBy(replay, dropsIt)).toEqual({ result: 'unknown' });
    expect([await inInbox(), enqueued]).toEqual([null, []]);
  });

  it('gives the member’s lock back, whatever came of it', async () => {
    await overtakenBy(replay, dropsIt);
    const acquired = await locks.acquire(subscriptionLockKey(user));
    expect(acquired).toHaveProperty('lock');
    if ('lock' in acquired) await acquired.lock.release();
  });

  it('of what was said about a float waits for whoever works on the floats, and for nobody else', async () => {
    const told = anEvent(user, 2, { stream: 'payments', type: 'FLOAT_DEBIT_RETURNED' });
    await desk.inbox.store([told]);
    await desk.inbox.quarantine(told, 'broken', NOW);
    const replayWhileLocked = (key: string) =>
      whileLocked(locks, { key }, () =>
        replayQuarantined(dependencies(), `payments.${user}.2`, { force: false }),
      );
    expect(await replayWhileLocked(floatLockKey(user))).toEqual({ result: 'busy' });
    expect(await replayWhileLocked(subscriptionLockKey(user))).toMatchObject({ result: 'replayed' });
  });

  it('of something that is not there is unknown', async () => {
    expect(await replayQuarantined(dependencies(), 'users.shard.9', { force: true })).toEqual({
      result: 'unknown',
    });
  });
});

describe('a drop', () => {
  it('is made once: whoever comes second finds nothing', async () => {
    expect(await drop()).toEqual({ result: 'dropped' });
    expect(await drop()).toEqual({ result: 'unknown' });
  });

  it('comes too late for what somebody else has just decided about', async () => {
    expect(await overtakenBy(drop, dropsIt)).toEqual({ result: 'unknown' });
  });
});

it.each([
  ['nested too deeply', `{"user_id":"u","x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
  ['not an event: data.user_id', '{"user_id":"\\ud800"}'],
])('what is %s cannot be replayed, and says so', async (reason, data) => {
  const record = { stream: 'users', shardId: user, sequence: '200', userId: user } as const;
  const raw = Buffer.from(`{"id":"x","type":"CANCEL","source":"s","data":${data}}`);
  await desk.inbox.quarantineRaw(record, raw, 'older', NOW);
  const answer = await replayQuarantined(dependencies(), `users.${user}.200`, { force: false });
  expect(answer).toEqual({ result: 'unreadable', reason });
});

it('everything is listed, page by page', async () => {
  const position = (sequence: number) =>
    ({ stream: 'users', shardId: user, sequence: String(sequence), userId: null }) as const;
  for (let n = 100; n < 130; n += 1)
    await desk.inbox.quarantineRaw(position(n), Uint8Array.of(1), 'not JSON', NOW);
  const pages = [];
  for await (const page of listQuarantine(dependencies())) pages.push(page.items);
  expect(pages.length).toBeGreaterThan(1);
  expect(pages.flat().filter(({ shardId }) => shardId === user)).toHaveLength(31);
});
