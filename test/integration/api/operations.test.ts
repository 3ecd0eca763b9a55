import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DynamoIdempotencyKeys } from '../../../src/adapters/dynamodb/idempotency-keys.ts';
import type { RawItem } from '../../../src/adapters/dynamodb/raw-item.ts';
import { viewOfAccepted } from '../../../src/api/request-view.ts';
import { MOST_IDS } from '../../../src/api/routes/batch.ts';
import { formatInstant, plusMs } from '../../../src/domain/instant.ts';
import { requestIdOf } from '../../../src/domain/request-id.ts';
import { freePort } from '../../../src/embedded/free-port.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { ApiClient, Reply } from '../../support/api.ts';
import { api, isReady } from '../../support/api.ts';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';
import { at } from '../../support/records.ts';

let system: Pipeline;
let client: ApiClient;

beforeAll(async () => {
  system = await pipeline();
  [client] = await Promise.all([api(system.environment), system.worker()]);
  await isReady(client);
});
afterAll(async () => {
  await client.close();
  await system.close();
});

const post = (path: string, body: unknown, headers = {}): Promise<Reply> =>
  client.call('POST', path, { body, headers });
const get = async (path: string): Promise<Record<string, unknown>> => {
  const { status, body } = await client.call('GET', path, { as: 'viewer' });
  expect(status).toBe(200);
  return body as Record<string, unknown>;
};
const refusedField = (reply: Reply): unknown => {
  expect(reply.status).toBe(400);
  return (reply.body as { errors: { field: string }[] }).errors[0]!.field;
};

async function rewritten(record: StoredSubscription, change: RawItem): Promise<void> {
  const { store } = system.here;
  const row = await store.billingRow(record.userId, formatInstant(record.billingDate));
  await store.putBillingRow({ ...row, ...change });
}

describe('a run', () => {
  it('is foretold, started once, watched, and reported with every record', async () => {
    await system.members(4);
    const [poor] = await system.members(1, { balance: { amount: '0.00' } });
    const as_of = '2026-11-16T08:00:00Z';
    const foretold = await post('/ops/forecast', { process: 'scheduled', as_of });
    expect(foretold).toMatchObject({ status: 200, body: { run: 'scheduled-20261116T080000Z', records: 5 } });

    const [first, second] = await Promise.all([
      post('/ops/runs', { process: 'scheduled', as_of }),
      post('/ops/runs', { process: 'scheduled', as_of }),
    ]);
    expect(first).toMatchObject({
      status: 202,
      body: { run_id: 'scheduled-20261116T080000Z', process: 'scheduled', status: 'running' },
    });
    expect((second.body as { run_id: string }).run_id).toBe('scheduled-20261116T080000Z');

    const url = '/ops/runs/scheduled-20261116T080000Z';
    const report = await eventually('the run is over', async () => {
      const found = await get(url);
      return found['status'] === 'complete' && found;
    });
    expect(report).toMatchObject({
      records: 5,
      by_verdict: { collected: { count: 4 } },
      forecast: { records: 5 },
      differences: [],
    });
    const { verdicts, next } = (await verdictsOf(url)) as {
      verdicts: { user_id: string; verdict: string }[];
      next: null;
    };
    expect(next).toBeNull();
    expect(verdicts).toHaveLength(5);
    expect(verdicts.find(({ user_id: id }) => id === poor!.userId)!.verdict).not.toBe('collected');
    const { runs } = (await get('/ops/runs?limit=1')) as { runs: { run_id: string }[] };
    expect(runs.map(({ run_id: id }) => id)).toEqual(['scheduled-20261116T080000Z']);
  });

  it('is not foretold for a day of which nobody can tell anything', async () => {
    for (const as_of of ['2027-02-16T08:00:01Z', '9999-12-31T00:00:00Z'])
      expect(refusedField(await post('/ops/forecast', { process: 'scheduled', as_of }))).toBe('as_of');
    expect(
      await post('/ops/forecast', { process: 'scheduled', as_of: '2027-02-16T08:00:00Z' }),
    ).toMatchObject({ status: 200 });
  });

  it('is neither foretold nor started for a day of which nothing is kept', async () => {
    for (const as_of of ['0000-01-01T00:00:00Z', '1999-12-31T23:59:59Z'])
      for (const path of ['/ops/forecast', '/ops/runs'])
        expect(refusedField(await post(path, { process: 'scheduled', as_of }))).toBe('as_of');
    const body = { process: 'scheduled', as_of: '2000-01-01T00:00:00Z' };
    expect(await post('/ops/forecast', body)).toMatchObject({ status: 200 });
  });

  it('is refused ahead of the clock, by an unknown name, and not found by another id', async () => {
    expect(
      refusedField(await post('/ops/runs', { process: 'scheduled', as_of: '2026-11-16T08:00:01Z' })),
    ).toBe('as_of');
    expect(refusedField(await post('/ops/runs', { process: 'nothing' }))).toBe('process');
    expect(refusedField(await post('/ops/runs', {}))).toBe('process');
    expect(refusedField(await client.call('GET', '/ops/runs/nothing'))).toBe('run_id');
    expect(refusedField(await client.call('GET', '/ops/runs?limit=0'))).toBe('limit');
    expect(await client.call('GET', '/ops/runs/retry-20200101T000000Z')).toMatchObject({ status: 404 });
    expect(await client.call('GET', '/ops/runs/retry-20200101T000000Z/verdicts')).toMatchObject({
      status: 404,
    });
  });

  it('is stored although Redis is away', async () => {
    const cutOff = await api({ ...system.environment, REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
    const body = { process: 'stale', as_of: '2026-11-16T07:00:00Z' };
    expect(await cutOff.call('POST', '/ops/runs', { body })).toMatchObject({
      status: 202,
      body: { handed_over: false },
    });
    await cutOff.close();
    expect(await get('/ops/runs/stale-20261116T070000Z')).toMatchObject({ status: 'running' });
  });

  it('of notices is no forecast', async () => {
    expect(refusedField(await post('/ops/forecast', { process: 'notify' }))).toBe('process');
  });
});

/** All of them, over as many pages as there are. */
async function verdictsOf(url: string): Promise<unknown> {
  const all: unknown[] = [];
  let next: string | null = null;
  do {
    const page = (await get(
      `${url}/verdicts${next === null ? '' : `?after=${encodeURIComponent(next)}`}`,
    )) as {
      verdicts: unknown[];
      next: string | null;
    };
    all.push(...page.verdicts);
    next = page.next;
  } while (next !== null);
  return { verdicts: all, next };
}

describe('a batch', () => {
  const order = (records: readonly StoredSubscription[], more: readonly string[] = [], key?: string) =>
    post(
      '/ops/batch',
      { subscription_ids: [...records.map(({ subscriptionId }) => subscriptionId), ...more] },
      key === undefined ? {} : { 'idempotency-key': key },
    );

  it('is collected record by record, and names the ids that nobody has', async () => {
    const records = await system.members(3, {}, { billingStatus: 'ERROR' });
    const reply = await order(records, ['no-such-record', records[0]!.subscriptionId]);
    const { requests, unknown } = reply.body as { requests: { status_url: string }[]; unknown: string[] };
    expect(reply.status).toBe(202);
    expect(requests).toHaveLength(3);
    expect(unknown).toEqual(['no-such-record']);
    for (const { status_url: url } of requests) {
      await eventually('it is collected', async () => (await get(url))['outcome'] === 'collected');
    }
    expect(await debitsOf(system.here, records)).toEqual([1, 1, 1]);
  });

  it('ordered again under its key is the same; with other ids it is refused', async () => {
    const records = await system.members(2, {}, { billingStatus: 'ERROR' });
    const key = randomUUID();
    const [first, second] = await Promise.all([order(records, [], key), order(records, [], key)]);
    const third = await order(records, [], key);
    expect(second.body).toEqual(first.body);
    expect(third.body).toEqual(first.body);
    expect(third.headers.get('idempotency-replayed')).toBe('true');
    expect(await order(records.slice(1), [], key)).toMatchObject({
      status: 409,
      body: { code: 'idempotency-conflict' },
    });
    await eventually('all are collected', async () =>
      (await debitsOf(system.here, records)).every((count) => count === 1),
    );
  });

  it('names what cannot be read, and collects the others', async () => {
    const [broken, record] = await system.members(2, {}, { billingStatus: 'ERROR' });
    await rewritten(broken!, { billing_amount: { S: 'much' } });
    const reply = await order([broken!, record!]);
    expect(reply).toMatchObject({
      status: 202,
      body: {
        requests: [{ subscription_id: record!.subscriptionId }],
        unknown: [],
        unreadable: [broken!.subscriptionId],
      },
    });
  });

  it('leaves alone whom the other service still bills', async () => {
    const [record] = await system.members(1, {}, { billingStatus: 'ERROR' });
    const elsewhere = await api({ ...system.environment, OWNED_USERS: 'none' });
    const body = { subscription_ids: [record!.subscriptionId] };
    const reply = await elsewhere.call('POST', '/ops/batch', { body });
    expect(reply.body).toMatchObject({ requests: [], unknown: [], not_owned: [record!.subscriptionId] });
    await elsewhere.close();
  });

  it('of as many of the longest ids as are taken has an answer that can be kept', async () => {
    const { client: db, tables } = system.here.store;
    const keys = new DynamoIdempotencyKeys({ client: db, table: tables.pipeline });
    // Each sign is two in JSON, and three in an address.
    const longest = '"'.repeat(128);
    const request = viewOfAccepted({
      requestId: requestIdOf('batch', 'x'),
      userId: longest as StoredSubscription['userId'],
      subscriptionId: longest as StoredSubscription['subscriptionId'],
    });
    const body = { batch_id: request.job_id, requests: Array(MOST_IDS).fill(request) };
    const answer = { status: 202, contentType: 'application/json', body: JSON.stringify(body) };
    const keyed = { caller: 'operator-name', key: randomUUID(), hash: 'x' };
    const now = at('2026-11-16T08:00:00Z');
    await keys.claim(keyed, now);
    await keys.keep(keyed, answer, now);
    expect(await keys.claim(keyed, now)).toEqual({ state: 'answered', answer });
    const tooMany = await order([], Array<string>(MOST_IDS + 1).fill('x'));
    expect(refusedField(tooMany)).toBe('subscription_ids');
  });

  it('that cannot be one uses no key up', async () => {
    const records = await system.members(1, {}, { billingStatus: 'ERROR' });
    const key = randomUUID();
    const refused = await post('/ops/batch', { subscription_ids: [] }, { 'idempotency-key': key });
    expect(refusedField(refused)).toBe('subscription_ids');
    expect((await order(records, [], key)).status).toBe(202);
    const long = await post(
      '/ops/batch',
      { subscription_ids: ['x'] },
      { 'idempotency-key': 'x'.repeat(201) },
    );
    expect(refusedField(long)).toBe('Idempotency-Key');
  });
});

describe('a freeze', () => {
  it('is ordered with a reason and an end, listed, and lifted once', async () => {
    const body = { target: 'ach', reason: 'too many returns', until: '2026-11-17T00:00:00Z' };
    expect(await post('/ops/freezes', body)).toMatchObject({
      status: 201,
      body: { ...body, who: 'operator-name', at: '2026-11-16T08:00:00Z' },
    });
    expect(await get('/ops/freezes')).toMatchObject({ freezes: [{ target: 'ach' }] });
    expect(await client.call('DELETE', '/ops/freezes/ach')).toMatchObject({ status: 200 });
    expect(await client.call('DELETE', '/ops/freezes/ach')).toMatchObject({ status: 404 });
    expect(await get('/ops/freezes')).toEqual({ freezes: [] });
  });

  it('of a member holds for what is asked afterwards', async () => {
    const [record] = await system.members(1, {}, { billingStatus: 'ERROR' });
    const target = `user:${record!.userId}`;
    expect((await post('/ops/freezes', { target, reason: 'a dispute' })).status).toBe(201);
    const reply = await post('/ops/batch', { subscription_ids: [record!.subscriptionId] });
    const [{ status_url: url }] = (reply.body as { requests: [{ status_url: string }] }).requests;
    await eventually('it is answered', async () => (await get(url))['status'] === 'done');
    expect(await get(url)).toMatchObject({ outcome: 'deferred' });
    expect(await debitsOf(system.here, [record!])).toEqual([0]);
    expect((await client.call('DELETE', `/ops/freezes/${encodeURIComponent(target)}`)).status).toBe(200);
  });

  it.each([
    [{ target: 'everything', reason: 'x' }, 'target'],
    [{ target: 'ach' }, 'reason'],
    [{ target: 'ach', reason: 'x', until: '2026-11-16T08:00:00Z' }, 'until'],
    [{ target: 'ach', reason: 'x', until: 'tomorrow' }, 'until'],
  ])('is refused for %j', async (body, field) => {
    expect(refusedField(await post('/ops/freezes', body))).toBe(field);
  });
});

/* The last ones: they move the clock. */
describe('a run under a key', () => {
  let seconds = 0;
  /** Until the API has heard of it: a run without a key is one of another moment. */
  async function timePasses(): Promise<void> {
    seconds += 2;
    const now = formatInstant(plusMs(TICK, seconds * 1_000));
    await system.here.bank('PUT', '/clock', { now, frozen: true });
    await eventually('the API has the new time', async () => {
      const { body } = await post('/ops/runs', { process: 'pause' });
      return (body as { run_id: string }).run_id.endsWith(`T08000${seconds}Z`);
    });
  }
  const start = (key: string, process = 'stale') =>
    post('/ops/runs', { process }, { 'idempotency-key': key });

  it('is the same when the key comes again later; with another process it is refused', async () => {
    const key = randomUUID();
    const first = await start(key);
    expect(first.status).toBe(202);
    await timePasses();
    const again = await start(key);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await start(key, 'retry')).toMatchObject({ status: 409, body: { code: 'idempotency-conflict' } });
  });

  it('is the same although the answer was lost in a crash', async () => {
    const key = randomUUID();
    const keep = vi.spyOn(DynamoIdempotencyKeys.prototype, 'keep').mockRejectedValue(new Error('crashed'));
    expect((await start(key)).status).toBe(500);
    keep.mockRestore();
    const runId = `stale-20261116T08000${seconds}Z`;
    await timePasses();
    expect(await start(key)).toMatchObject({ status: 202, body: { run_id: runId } });
  });
});
