import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatInstant, plusNanos } from '../../../src/domain/instant.ts';
import type { SubscriptionId, UserId } from '../../../src/domain/subscription.ts';
import { LockLostError, RecordChangedError, WriteUnknownError } from '../../../src/errors.ts';
import type { Fence } from '../../../src/ports/lock.ts';
import type { HistoryEntry } from '../../../src/ports/subscriptions.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Fault, Faults } from '../../support/dynamo-faults.ts';
import {
  cancelled,
  fail,
  inTurn,
  injectFaults,
  loseAnswer,
  pass,
  serverFailed,
  throttled,
  timedOut,
} from '../../support/dynamo-faults.ts';
import { at, subscription } from '../../support/records.ts';

let store: BillingStore;

beforeAll(async () => {
  store = await billingStore();
});
afterAll(() => store.drop());

const id = () => randomUUID() as SubscriptionId;

function entries(userId: string, subscriptionId: SubscriptionId, count: number): HistoryEntry[] {
  return Array.from({ length: count }, (_, i) => ({
    subscription: subscription({
      userId: userId as UserId,
      subscriptionId,
      lastRunDate: plusNanos(at('2026-11-16T08:00:00.000000001Z'), BigInt(i) * 10n),
      usioError: `change ${i}`,
    }),
    data: { event_id: `event-${i}` },
  }));
}

describe('history', () => {
  it('GetByID gives every change of a record, oldest first by instant, over more than one page', async () => {
    const subscriptionId = id();
    const userId = `user-${subscriptionId}`;
    // Text order would be .5Z before Z, and .12Z after .119Z.
    const stamps = [
      '2026-11-16T08:00:00Z',
      '2026-11-16T08:00:00.119Z',
      '2026-11-16T08:00:00.12Z',
      '2026-11-16T08:00:00.5Z',
    ];
    for (let i = 0; i < 30; i += 1) stamps.push(`2026-11-16T09:00:${String(i).padStart(2, '0')}Z`);
    for (const stamp of [...stamps].reverse()) {
      await store.client.send(
        new PutItemCommand({
          TableName: store.tables.history,
          Item: {
            user_id: { S: userId },
            last_run_date: { S: stamp },
            billing_date: { S: '2026-11-16T06:00:00Z' },
            subscription_id: { S: subscriptionId },
            billing_amount: { S: '4.99' },
            billing_status: { S: 'ERROR' },
            usio_error: { S: 'x'.repeat(40_000) },
            data_actor: { S: 'go' },
            data_score: { N: '7' },
          },
        }),
      );
    }
    const found = await store.history.getByID(subscriptionId);
    expect(found.malformed).toEqual([]);
    expect(found.entries.map((entry) => formatInstant(entry.subscription.lastRunDate!))).toEqual(stamps);
    expect(found.entries[0]!.data).toEqual({ actor: 'go', score: '{"N":"7"}' });
  });

  it('reports rows that cannot be read and gives the others', async () => {
    const subscriptionId = id();
    await store.client.send(
      new PutItemCommand({
        TableName: store.tables.history,
        Item: {
          user_id: { S: `user-${subscriptionId}` },
          last_run_date: { S: '2026-11-16T08:00:00Z' },
          billing_date: { S: 'some day' },
          subscription_id: { S: subscriptionId },
          billing_amount: { S: '4.99' },
          billing_status: { S: 'ERROR' },
        },
      }),
    );
    const found = await store.history.getByID(subscriptionId);
    expect(found.entries).toEqual([]);
    expect(found.malformed.map(({ message }) => message)).toEqual([
      expect.stringContaining('billing_date is "some day"'),
    ]);
  });

  it('Add keeps what it does not know of a record that was read, and refuses one without a stamp', async () => {
    const userId = `user-${id()}` as UserId;
    const fence = await store.takeLock(userId);
    const context = await store.context(userId, { cause: 'plan-changed' });
    const written = await store.subscriptions.add(fence, subscription({ userId }), context);
    await store.putBillingRow({
      ...(await store.billingRow(userId, '2026-11-16T06:00:00Z'))!,
      loyalty: { N: '7' },
    });
    const [read] = (await store.subscriptions.listByUserID(userId)).subscriptions;
    const later = { ...read!, lastRunDate: plusNanos(written.lastRunDate!, 1n) };
    await store.history.add(fence, { subscription: later, data: {} });
    expect((await store.historyRows(userId)).at(-1)).toMatchObject({ loyalty: { N: '7' } });
    const unstamped = { subscription: subscription({ userId }), data: {} };
    await expect(store.history.add(fence, unstamped)).rejects.toThrow(/stamp/);
  });

  it('Add and AddAll append, never overwrite, and need the lock', async () => {
    const subscriptionId = id();
    const userId = `user-${subscriptionId}`;
    const fence = await store.takeLock(userId);
    const all = entries(userId, subscriptionId, 120);
    await store.history.add(fence, all[0]!);
    await store.history.addAll(fence, all.slice(1));
    const found = await store.history.getByID(subscriptionId);
    expect(found.entries.map(({ subscription: { usioError } }) => usioError)).toEqual(
      all.map(({ subscription: { usioError } }) => usioError),
    );
    expect(found.entries[7]!.data).toMatchObject({ event_id: 'event-7' });

    await expect(store.history.add(fence, all[3]!)).rejects.toThrow(RecordChangedError);
    await store.stealLock(userId);
    const late = {
      ...all[0]!,
      subscription: { ...all[0]!.subscription, lastRunDate: at('2026-11-17T08:00:00.1Z') },
    };
    await expect(store.history.add(fence, late)).rejects.toThrow(LockLostError);
    expect((await store.history.getByID(subscriptionId)).entries).toHaveLength(120);
  });
});

it('Add and AddAll refuse entries that the fence does not protect, of two users, and one without a stamp', async () => {
  const [ours, theirs] = [`user-${id()}`, `user-${id()}`];
  const fence = await store.takeLock(ours);
  const [foreign] = entries(theirs, id(), 1);
  const mine = entries(ours, id(), 100);
  await expect(store.history.add(fence, foreign!)).rejects.toThrow(/does not protect/);
  await expect(store.history.addAll(fence, [mine[0]!, foreign!])).rejects.toThrow(/one user/);
  await expect(store.history.addAll('unlocked', [mine[0]!, foreign!])).rejects.toThrow(/one user/);
  const unstamped = { subscription: { ...mine[0]!.subscription, lastRunDate: null }, data: {} };
  await expect(store.history.addAll(fence, [...mine, unstamped])).rejects.toThrow(/stamp/);
  expect(await store.historyRows(ours)).toEqual([]);

  await store.history.add('unlocked', foreign!);
  expect(await store.historyRows(theirs)).toHaveLength(1);
});

describe('when the store stumbles', () => {
  const TRANSACTION = 'TransactWriteItemsCommand';
  let faults: Faults;
  let userId: UserId;
  let fence: Fence;
  let two: HistoryEntry[];

  beforeEach(async () => {
    userId = `user-${id()}` as UserId;
    fence = await store.takeLock(userId);
    two = entries(userId, id(), 2);
    faults = injectFaults(store.client);
  });
  afterEach(() => {
    faults.remove();
  });

  const texts = async () => (await store.historyRows(userId)).map((row) => row['usio_error']?.S);

  const stumbles: [string, Fault][] = [
    ['is throttled', fail(throttled())],
    ['is cancelled for capacity', fail(cancelled('None', 'ThrottlingError', 'None'))],
    [
      'conflicts with another request on the lock row',
      fail(cancelled('TransactionConflict', 'None', 'None')),
    ],
    ['conflicts with another request on its row', fail(cancelled('None', 'TransactionConflict', 'None'))],
    ['gets a server error before it is made', fail(serverFailed())],
    ['gets a server error after it was made', loseAnswer(serverFailed())],
    ['times out before it is made', fail(timedOut())],
    ['times out after it was made', loseAnswer(timedOut())],
  ];
  it.each(stumbles)('what %s is added once', async (_, fault) => {
    faults.script(TRANSACTION, fault);
    await store.history.addAll(fence, two);
    expect(faults.calls(TRANSACTION)).toBe(2);
    expect(await texts()).toEqual(['change 0', 'change 1']);
  });

  it('and the answer stays away for good, it finds its own row and knows that it was made', async () => {
    faults.script(TRANSACTION, inTurn(loseAnswer(timedOut()), fail(timedOut())), { times: Infinity });
    await store.history.addAll(fence, two);
    expect(await texts()).toEqual(['change 0', 'change 1']);
  });

  it('and the answer stays away for good, it says that it does not know when its row is not there', async () => {
    faults.script(TRANSACTION, fail(timedOut()), { times: Infinity });
    await expect(store.history.addAll(fence, two)).rejects.toThrow(WriteUnknownError);
    expect(await texts()).toEqual([]);
  });

  it('it does not take the row of another for its own', async () => {
    await store.history.add(fence, two[0]!);
    faults.script(TRANSACTION, fail(timedOut()));
    await expect(store.history.addAll(fence, two)).rejects.toThrow(RecordChangedError);
    expect(await texts()).toEqual(['change 0']);
  });

  it('in the midst of more than 99, whole transactions are there, in the order given', async () => {
    const many = entries(userId, id(), 120);
    faults.script(TRANSACTION, inTurn(pass, fail(new Error('crash'))), { times: 2 });
    await expect(store.history.addAll(fence, many)).rejects.toThrow('crash');
    expect(await store.historyRows(userId)).toHaveLength(99);
    await store.history.addAll(fence, many.slice(99));
    expect(await texts()).toEqual(many.map(({ subscription: { usioError } }) => usioError));
  });
});
