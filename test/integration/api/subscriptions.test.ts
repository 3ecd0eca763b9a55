import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant, plusDays } from '../../../src/domain/instant.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { ApiClient, Reply } from '../../support/api.ts';
import { api } from '../../support/api.ts';
import { tellsMask } from '../../support/masks.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';

let system: Pipeline;
let client: ApiClient;

beforeAll(async () => {
  system = await pipeline();
  client = await api(system.environment);
});
afterAll(async () => {
  await client.close();
  await system.close();
});
afterEach(() => {
  system.here.now = TICK;
});

const get = (userId: string, rest = ''): Promise<Reply> =>
  client.call('GET', `/v1/${userId}/subscriptions${rest}`, { as: 'viewer' });

async function breakRow(record: StoredSubscription): Promise<void> {
  const { store } = system.here;
  const row = (await store.billingRow(record.userId, formatInstant(record.billingDate)))!;
  await store.putBillingRow({ ...row, billing_amount: { S: 'much' } });
}

describe('the records of a member', () => {
  it('are listed newest first, with money as text, unset times as null and no mask of the account', async () => {
    const record = await system.here.member();
    await system.here.collect('INITIAL', record);
    const { status, body } = await get(record.userId);
    expect(status).toBe(200);
    const { subscriptions } = body as { subscriptions: object[] };
    expect(subscriptions).toMatchObject([
      { billing_date: '2026-12-16T06:00:00Z', billing_status: 'SCHEDULED', initial_run_date: null },
      { billing_date: '2026-11-16T06:00:00Z', billing_status: 'COMPLETED', billing_amount: '4.99' },
    ]);
    const { receiptAccountMask } = await system.here.row(record);
    expect(receiptAccountMask).toMatch(/\d{2}/);
    expect(tellsMask(JSON.stringify(body), receiptAccountMask)).toBe(false);
    expect(JSON.stringify(body)).not.toContain('mask');
  });

  it('are none for somebody who has none', async () => {
    expect(await get('nobody')).toMatchObject({ status: 200, body: { subscriptions: [], unreadable: [] } });
  });

  it('name the row that cannot be read and show the others', async () => {
    const record = await system.here.member();
    await system.here.collect('INITIAL', record);
    await breakRow(await system.here.row(record));
    const { subscriptions, unreadable } = (await get(record.userId)).body as {
      subscriptions: object[];
      unreadable: string[];
    };
    expect(subscriptions).toHaveLength(1);
    expect(unreadable).toEqual([expect.stringContaining('billing_amount')]);
    expect(await get(record.userId, `/${record.subscriptionId}`)).toMatchObject({
      status: 409,
      body: { code: 'malformed-record' },
    });
    expect(await get(record.userId, '/current')).toMatchObject({ status: 409 });
  });
});

describe('one record', () => {
  it('is shown to who knows whose it is', async () => {
    const [record, other] = [await system.here.member(), await system.here.member()];
    expect(await get(record.userId, `/${record.subscriptionId}`)).toMatchObject({
      status: 200,
      body: { subscription_id: record.subscriptionId, user_id: record.userId, term: 'MONTHLY' },
    });
    for (const rest of ['', '/history', '/explain']) {
      for (const [userId, id] of [
        [other.userId, record.subscriptionId],
        [record.userId, randomUUID()],
      ] as const) {
        expect(await get(userId, `/${id}${rest}`)).toMatchObject({
          status: 404,
          body: { code: 'not-found' },
        });
      }
    }
  });

  it('has every change, oldest first, with who made it', async () => {
    const record = await system.here.member();
    const { attemptId } = await system.here.collect('INITIAL', record, 'scheduled-20261116T080000Z');
    const { body } = await get(record.userId, `/${record.subscriptionId}/history`);
    const { history } = body as { history: { at: string; record: object; data: object }[] };
    expect(history.map(({ record: then }) => then)).toMatchObject([
      { billing_status: 'SCHEDULED', process: null },
      { billing_status: 'SCHEDULED', process: 'INITIAL' },
      { billing_status: 'COMPLETED', process: 'INITIAL' },
    ]);
    expect(history.map(({ data }) => data)).toMatchObject([
      { cause: 'plan-changed' },
      { cause: 'attempt-opened', trigger_id: 'scheduled-20261116T080000Z', attempt_id: attemptId },
      { cause: 'attempt-succeeded', attempt_id: attemptId },
    ]);
    expect([...history.map(({ at }) => at)].sort()).toEqual(history.map(({ at }) => at));
  });

  it('does not hide its history when a row of that cannot be read', async () => {
    const record = await system.here.member();
    await system.here.collect('INITIAL', record);
    const { store } = system.here;
    const [row] = await store.historyRows(record.userId);
    const Item = { ...row, billing_amount: { S: 'much' } };
    await store.client.send(new PutItemCommand({ TableName: store.tables.history, Item }));
    const { body } = await get(record.userId, `/${record.subscriptionId}/history`);
    expect(body).toMatchObject({
      history: [{}, {}],
      unreadable: [expect.stringContaining('billing_amount')],
    });
  });
});

describe('where a member stands', () => {
  const current = async ({ userId }: StoredSubscription): Promise<unknown> =>
    (await get(userId, '/current')).body;

  it('before the first charge: that period is in force and billed next', async () => {
    const record = await system.here.member({}, { billingDate: plusDays(TICK, 3) });
    expect(await current(record)).toMatchObject({
      membership: 'active',
      record: { subscription_id: record.subscriptionId },
      next_billing: { subscription_id: record.subscriptionId, billing_amount: '4.99' },
      owed: { amount: '0.00', subscription_ids: [] },
    });
  });

  it('after it: the paid period is in force, and the next one is billed next', async () => {
    const record = await system.here.member();
    await system.here.collect('INITIAL', record);
    expect(await current(record)).toMatchObject({
      membership: 'active',
      record: { subscription_id: record.subscriptionId, billing_status: 'COMPLETED' },
      next_billing: { billing_date: '2026-12-16T06:00:00Z' },
    });
  });

  it('with a charge that failed: it is owed', async () => {
    const record = await system.here.member({ pinless: { mode: 'decline', code: '14' } });
    await system.here.collect('INITIAL', record);
    expect(await current(record)).toMatchObject({
      membership: 'active',
      owed: { amount: '4.99', subscription_ids: [record.subscriptionId] },
    });
  });

  it.each([
    ['paused', { billingStatus: 'PAUSED' }],
    ['ending', { updatedEvent: 'PENDING_CANCELLATION' }],
    ['ended', { billingStatus: 'CANCELLED' }],
  ] as const)('%s: nothing is billed next', async (membership, fields) => {
    const record = await system.here.member({}, fields);
    expect(await current(record)).toMatchObject({
      membership,
      record: { subscription_id: record.subscriptionId },
      next_billing: null,
    });
  });

  it('is nowhere for somebody who never had a subscription', async () => {
    expect(await get('nobody', '/current')).toMatchObject({ status: 404, body: { code: 'not-found' } });
  });
});
