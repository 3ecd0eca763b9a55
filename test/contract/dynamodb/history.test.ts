import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant, plusNanos } from '../../../src/domain/instant.ts';
import type { SubscriptionId, UserId } from '../../../src/domain/subscription.ts';
import { LockLostError, RecordChangedError } from '../../../src/errors.ts';
import type { HistoryEntry } from '../../../src/ports/subscriptions.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
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
