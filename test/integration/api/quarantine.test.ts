import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectRedis } from '../../../queues/connection.ts';
import { QueueSet } from '../../../queues/queue-set.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { ApiClient, CallOptions } from '../../support/api.ts';
import { NO_SERVICES, api, isReady } from '../../support/api.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { InboxDesk } from '../../support/inbox-desk.ts';
import { NOW, anEvent, inboxDesk, newUser } from '../../support/inbox-desk.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';
import { sharedStack } from '../../support/stack.ts';

let store: BillingStore;
let redis: PrivateRedis;
let desk: InboxDesk;
let client: ApiClient;
let user: UserId;
let id: string;

beforeAll(async () => {
  [store, redis] = await Promise.all([billingStore(), privateRedis()]);
  desk = inboxDesk(store.client, store.tables);
  client = await api({
    REDIS_URL: redis.url,
    AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
    BILLING_TABLE: store.tables.billing,
    HISTORY_TABLE: store.tables.history,
    LOCKS_TABLE: store.tables.locks,
    PIPELINE_TABLE: store.tables.pipeline,
    ...NO_SERVICES,
  });
  await isReady(client);
});
afterAll(async () => {
  await client.close();
  await redis.stop();
  await store.drop();
});
beforeEach(async () => {
  user = newUser();
  id = `users.${user}.1`;
  await quarantine(1);
});

async function quarantine(sequence: number): Promise<void> {
  const event = anEvent(user, sequence);
  await desk.inbox.store([event]);
  await desk.inbox.quarantine(event, 'broken', NOW);
}

interface Listed {
  readonly quarantined: readonly { readonly id: string }[];
  readonly next: string | null;
}

const list = async (after: string | null): Promise<Listed> => {
  const query = after === null ? '' : `?after=${encodeURIComponent(after)}`;
  const { status, body } = await client.call('GET', `/ops/quarantine${query}`, { as: 'viewer' });
  expect(status).toBe(200);
  return body as Listed;
};

const post = (verb: 'replay' | 'drop', body: unknown, options: CallOptions = {}) =>
  client.call('POST', `/ops/quarantine/${encodeURIComponent(id)}/${verb}`, { ...options, body });

describe('the quarantine over the API', () => {
  it('is listed page by page, each entry once, with what the event says', async () => {
    for (let sequence = 2; sequence <= 30; sequence += 1) await quarantine(sequence);
    const seen: { readonly id: string }[] = [];
    let after: string | null = null;
    do {
      const page = await list(after);
      seen.push(...page.quarantined);
      after = page.next;
    } while (after !== null);
    const mine = seen.filter((entry) => entry.id.includes(user));
    expect(mine).toHaveLength(30);
    expect(new Set(mine.map((entry) => entry.id)).size).toBe(30);
    expect(mine.find((entry) => entry.id === id)).toMatchObject({
      user_id: user,
      reason: 'broken',
      cut: false,
    });
  });

  it.each([
    'nonsense',
    Buffer.from('{"pk":{"S":"x"}}').toString('base64url'),
    Buffer.from('[]').toString('base64url'),
  ])('refuses the cursor %s by name', async (cursor) => {
    const reply = await client.call('GET', `/ops/quarantine?after=${cursor}`);
    expect(reply).toMatchObject({ status: 400, body: { errors: [{ in: 'query', field: 'after' }] } });
  });

  it('gives an event back to the inbox and to its queue', async () => {
    expect(await post('replay', {})).toMatchObject({
      status: 200,
      body: { replayed: id, handed_over: true, later: [] },
    });
    expect(await desk.inbox.earliest('users', user)).toMatchObject({ userId: user });
    const connection = connectRedis({ url: redis.url, whenDown: 'wait', onError: () => undefined });
    const queues = new QueueSet(connection);
    const jobs = await queues.get('membership-events').getJobs(['waiting']);
    expect(jobs.map(({ data }) => (data as { userId: string }).userId)).toContain(user);
    await queues.close();
    connection.disconnect();
    expect(await post('replay', {})).toMatchObject({ status: 404, body: { code: 'not-found' } });
  });

  it('says which later events stand against it, and goes on when told to', async () => {
    const later = anEvent(user, 2);
    await desk.inbox.store([later]);
    await desk.inbox.saveApplied(later, { result: 'no-op', reason: 'nothing to do', changed: [] }, NOW);
    const refused = await post('replay', {});
    expect(refused).toMatchObject({ status: 409, body: { code: 'overtaken' } });
    expect(JSON.stringify(refused.body)).toContain(later.type);
    expect(await post('replay', { force: true })).toMatchObject({
      status: 200,
      body: { later: [{ sequence: '2' }] },
    });
  });

  it('asks to come again while somebody works on the member', async () => {
    await store.takeLock(user);
    const reply = await post('replay', {});
    expect(reply).toMatchObject({ status: 409, body: { code: 'user-busy' } });
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    await store.releaseLock(user);
  });

  it('is given up with a reason, by whom the token names, once', async () => {
    expect(await post('drop', {})).toMatchObject({ status: 400, body: { errors: [{ field: 'reason' }] } });
    expect(await post('drop', { reason: '  ' })).toMatchObject({ status: 400 });
    expect(await post('drop', { reason: 'the member agreed' })).toMatchObject({
      status: 200,
      body: { dropped: id },
    });
    expect(await post('drop', { reason: 'again' })).toMatchObject({ status: 404 });
    expect(await desk.inbox.earliest('users', user)).toBeNull();
  });

  it('is for operators to decide', async () => {
    for (const as of ['viewer', 'service'] as const) {
      expect((await post('replay', {}, { as })).status).toBe(403);
      expect((await post('drop', { reason: 'x' }, { as })).status).toBe(403);
    }
  });
});
