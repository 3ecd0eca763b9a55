import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../src/embedded/free-port.ts';
import { formatInstant, plusMs } from '../../../src/domain/instant.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { ApiClient, Reply } from '../../support/api.ts';
import { api, isReady } from '../../support/api.ts';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';

let system: Pipeline;
let client: ApiClient;

beforeAll(async () => {
  system = await pipeline();
  client = await api(system.environment);
  await isReady(client);
});
afterAll(async () => {
  await client.close();
  await system.close();
});

const owing = async (): Promise<StoredSubscription> =>
  (await system.members(1, {}, { billingStatus: 'ERROR' }))[0]!;

interface Income {
  id?: string;
  amount?: string;
  date?: string;
}

const income = ({ userId }: Pick<StoredSubscription, 'userId'>, fields: Income = {}) => ({
  id: fields.id ?? randomUUID(),
  type: 'income_txn',
  source: 'bank-feed',
  data: { user_id: userId, amount: fields.amount ?? '1200.00', date: fields.date ?? '2026-11-16' },
});

const balance = ({ userId }: Pick<StoredSubscription, 'userId'>, isPrimary = true) => ({
  id: randomUUID(),
  type: 'new_account',
  source: 'bank-feed',
  data: { user_id: userId, account_id: 'account-1', is_primary: isPrimary },
});

const post = (kind: 'income' | 'balance', body: unknown): Promise<Reply> =>
  client.call('POST', `/events/${kind}`, { as: 'service', body });

interface Accepted {
  counts_as: string;
  requests: { job_id: string; subscription_id: string; status_url: string }[];
}

const requestsOf = (reply: Reply): Accepted['requests'] => {
  expect(reply.status).toBe(202);
  return (reply.body as Accepted).requests;
};

const done = (url: string): Promise<unknown> =>
  eventually('the request is answered', async () => {
    const { body } = await client.call('GET', url, { as: 'viewer' });
    return (body as { status: string }).status !== 'queued' && body;
  });

describe('a signal', () => {
  it('asks for what the member owes, and the worker of its queue collects it', async () => {
    await system.worker();
    for (const [kind, path] of [
      ['income', 'WEBHOOK'],
      ['balance', 'WEBHOOK_BALANCE'],
    ] as const) {
      const record = await owing();
      const [request] = requestsOf(await post(kind, kind === 'income' ? income(record) : balance(record)));
      expect(request).toMatchObject({ subscription_id: record.subscriptionId });
      expect(await done(request!.status_url)).toMatchObject({ status: 'done', outcome: 'collected' });
      expect(await system.here.row(record)).toMatchObject({ billingStatus: 'COMPLETED', process: path });
    }
  });

  it('of somebody who owes nothing is taken and asks for nothing', async () => {
    const [record] = await system.members(1);
    expect(requestsOf(await post('income', income(record!)))).toEqual([]);
    expect(requestsOf(await post('income', income({ userId: 'nobody' as never })))).toEqual([]);
  });

  it.each([
    ['income' as const, { amount: '75.00' }, 'amount-too-small'],
    ['income' as const, { date: '2026-11-15' }, 'not-today'],
  ])('that says too little is ignored, with the reason (%s %j)', async (kind, fields, reason) => {
    const record = await owing();
    const reply = await post(kind, income(record, fields));
    expect(reply).toMatchObject({ status: 202, body: { status: 'ignored', reason } });
    expect(await debitsOf(system.here, [record])).toEqual([0]);
  });

  it('of another account than the primary one is ignored', async () => {
    const reply = await post('balance', balance(await owing(), false));
    expect(reply.body).toMatchObject({ status: 'ignored', reason: 'not-primary-account' });
  });

  it('of somebody whom the other service still bills is ignored', async () => {
    const elsewhere = await api({ ...system.environment, OWNED_USERS: 'none' });
    const record = await owing();
    const reply = await elsewhere.call('POST', '/events/income', { body: income(record) });
    expect(reply.body).toMatchObject({ status: 'ignored', reason: 'not-owned' });
    await elsewhere.close();
  });
});

describe('signals that come again', () => {
  it('within a short time count as one, whoever sends them and however many at once', async () => {
    const record = await owing();
    const replies = await Promise.all(Array.from({ length: 10 }, () => post('income', income(record))));
    const requests = replies.flatMap(requestsOf);
    expect(new Set(requests.map(({ job_id: id }) => id)).size).toBe(1);
    await done(requests[0]!.status_url);
    expect(await debitsOf(system.here, [record])).toEqual([1]);
  });

  it('of another kind, or later, or of another member are signals of their own', async () => {
    const record = await owing();
    const [first] = requestsOf(await post('income', income(record, { id: 'a' })));
    await done(first!.status_url);
    await owedAgain(record);
    const [other] = requestsOf(await post('balance', balance(record)));
    expect(other!.job_id).not.toBe(first!.job_id);
    await done(other!.status_url);
    await owedAgain(record);
    await minutesPass(10);
    const [later] = requestsOf(await post('income', income(record, { id: 'b' })));
    expect(later!.job_id).not.toBe(first!.job_id);
  });

  it('delivered again much later, a signal gives the request that it gave', async () => {
    const record = await owing();
    const signal = income(record);
    const [first] = requestsOf(await post('income', signal));
    await done(first!.status_url);
    await owedAgain(record);
    await minutesPass(60);
    const [again] = requestsOf(await post('income', signal));
    expect(again).toEqual(first);
  });

  it('delivered again much later, a signal that counted as another still does', async () => {
    const record = await owing();
    const [signal, other] = [income(record), income(record)];
    const [first] = requestsOf(await post('income', signal));
    expect(requestsOf(await post('income', other))).toEqual([first]);
    await done(first!.status_url);
    await owedAgain(record);
    await minutesPass(60);
    expect(await post('income', other)).toMatchObject({ body: { counts_as: signal.id, requests: [first] } });
  });
});

/** The charge came back. */
async function owedAgain(record: StoredSubscription): Promise<void> {
  const { store } = system.here;
  const row = (await store.billingRow(record.userId, formatInstant(record.billingDate)))!;
  await store.putBillingRow({ ...row, billing_status: { S: 'ERROR' } });
}

let now = TICK;

/** Only ever onwards: a bank that has booked does not go back. Until the API, which follows the clock, knows it too. */
async function minutesPass(minutes: number): Promise<void> {
  now = plusMs(now, minutes * 60_000);
  await system.here.bank('PUT', '/clock', { now: formatInstant(now), frozen: true });
  const body = { target: 'user:nobody', reason: 'what time is it?' };
  await eventually('the API knows the time', async () => {
    const { body: freeze } = await client.call('POST', '/ops/freezes', { body });
    return (freeze as { at: string }).at === formatInstant(now);
  });
}

describe('a signal while Redis is away', () => {
  it('is stored before the answer, and collected when the sweep comes to it', async () => {
    const cutOff = await api({
      ...system.environment,
      REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
    });
    const record = await owing();
    const [request] = requestsOf(await cutOff.call('POST', '/events/income', { body: income(record) }));
    expect((await cutOff.call('GET', request!.status_url)).body).toMatchObject({ status: 'queued' });
    await eventually('only Redis is missed', async () => {
      const { body } = await cutOff.call('GET', '/health/ready', { as: null });
      return isDeepStrictEqual(body, { status: 'degraded', checks: { dynamodb: 'up', redis: 'down' } });
    });
    await cutOff.close();

    await minutesPass(5);
    await system.scheduler();
    expect(await done(request!.status_url)).toMatchObject({ outcome: 'collected' });
    expect(await debitsOf(system.here, [record])).toEqual([1]);
  });
});
