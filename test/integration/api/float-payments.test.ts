import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { writeLogEntry } from '../../../src/adapters/dynamodb/float-items.ts';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { DynamoIdempotencyKeys } from '../../../src/adapters/dynamodb/idempotency-keys.ts';
import { DynamoRequests } from '../../../src/adapters/dynamodb/requests.ts';
import { freePort } from '../../../src/embedded/free-port.ts';
import type { Float, FloatStatus } from '../../../src/domain/floats/float.ts';
import { formatInstant, plusMs } from '../../../src/domain/instant.ts';
import type { ApiClient, CallOptions, Reply } from '../../support/api.ts';
import { api, isReady } from '../../support/api.ts';
import type { FloatDesk } from '../../support/float-desk.ts';
import { floatDesk } from '../../support/float-desk.ts';
import { logEntry } from '../../support/floats.ts';
import type { MembershipDesk } from '../../support/membership-desk.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';
import { debits } from '../../support/world.ts';

/** What is asked for by hand and by signals, through real queues and a real worker. Today is 16 November 2026. */
let system: Pipeline;
let client: ApiClient;
let desk: FloatDesk;
let memberships: MembershipDesk;
let requests: DynamoRequests;

beforeAll(async () => {
  system = await pipeline();
  const { client: dynamo, tables } = system.here.store;
  desk = floatDesk(system.here);
  memberships = membershipDesk(system.here);
  requests = new DynamoRequests({ client: dynamo, table: tables.pipeline });
  client = await api({ ...system.environment, API_RATE_PER_MINUTE: '100000' });
  await isReady(client);
  await system.worker();
});
afterAll(async () => {
  await client.close();
  await system.close();
});
afterEach(() => system.here.faults([]));

type Ids = Pick<Float, 'userId' | 'floatId'>;

const payback = ({ userId, floatId }: Ids, query = '', options: CallOptions = {}, through = client) =>
  through.call('POST', `/v1/${userId}/floats/${floatId}/payback${query}`, { as: 'service', ...options });

const withKey = (key: string = randomUUID()): CallOptions => ({ headers: { 'idempotency-key': key } });

const done = (url: string): Promise<object> =>
  eventually('the request is answered', async () => {
    const { body } = await client.call('GET', url, { as: 'viewer' });
    return (body as { status: string }).status !== 'queued' && (body as object);
  });

interface Accepted {
  readonly job_id: string;
  readonly status_url: string;
}

function accepted(reply: Reply): Accepted {
  expect(reply).toMatchObject({ status: 202 });
  return reply.body as Accepted;
}

/** The worker has begun with another, or is through with it. */
const isTooLate = ({ status, body }: Reply): boolean =>
  status === 409 && ['attempt-open', 'not-payable'].includes((body as { code: string }).code);

const outcomes = async (float: Float) =>
  (await desk.log(float)).map(({ process, outcome, method }) => [process, outcome, method]);
const debitsOn = async (float: Float): Promise<number> => debits(await desk.ledger(float));
const CLOSED_CARD = { pinless: { mode: 'decline', code: '14' } };

describe('a payback', () => {
  it.each(['SCHEDULING', 'RETRY', 'UNCOLLECTABLE'] as const)(
    'charges the card for a float that is %s, once',
    async (status) => {
      const float = await desk.standing(status);
      const reply = await payback(float);
      expect(reply.body).toEqual({
        job_id: expect.stringMatching(/^payback\./) as string,
        float_id: float.floatId,
        status_url: expect.stringContaining(`/v1/${float.userId}/requests/payback.`) as string,
      });
      const { job_id: id, status_url: url } = accepted(reply);
      expect(await requests.get(id)).toMatchObject({ path: 'FLOAT_PAYBACK', by: 'service-name' });
      expect(await done(url)).toEqual({
        job_id: id,
        float_id: float.floatId,
        status: 'done',
        outcome: 'collected',
        reason: 'PINLESS',
      });
      expect(await desk.row(float)).toMatchObject({ status: 'COMPLETED', completedAt: TICK });
      expect(await outcomes(float)).toEqual([['SUPPORT', 'COMPLETED', 'PINLESS']]);
      expect(await desk.floats.openOf(float.userId)).toEqual([]);
      expect(await debitsOn(float)).toBe(1);
    },
  );

  it('waits for the outcome when asked to, and tells of a decline, which leaves the status', async () => {
    const float = await desk.standing('RETRY', CLOSED_CARD);
    expect(await payback(float, '?wait=30')).toMatchObject({
      status: 200,
      body: { float_id: float.floatId, status: 'done', outcome: 'declined', reason: 'PINLESS-14' },
    });
    expect(await desk.row(float)).toMatchObject({ status: 'RETRY' });
    expect(await outcomes(float)).toEqual([['SUPPORT', 'RETURNED', 'PINLESS']]);
  });

  it('that is asked for several times at once is one charge', async () => {
    const float = await desk.float();
    const replies = await Promise.all([payback(float), payback(float)]);
    const [taken, refused] = [replies.filter(({ status }) => status === 202), replies.filter(isTooLate)];
    expect(taken.length + refused.length).toBe(2);
    const ends = await Promise.all(taken.map((reply) => done(accepted(reply).status_url)));
    const collected = ends.filter((end) => (end as { outcome: string }).outcome === 'collected');
    expect(collected).toHaveLength(1);
    expect(await debitsOn(float)).toBe(1);
    expect(await outcomes(float)).toEqual([['SUPPORT', 'COMPLETED', 'PINLESS']]);
  });

  it('under the same key is one request with one answer, at once and later', async () => {
    const [float, other] = [await desk.float(), await desk.float()];
    const key = withKey();
    const replies = await Promise.all(Array.from({ length: 3 }, () => payback(float, '', key)));
    expect(new Set(replies.map((reply) => accepted(reply).job_id)).size).toBe(1);
    await done(accepted(replies[0]!).status_url);
    const again = await payback(float, '?wait=5', key);
    expect([again.status, again.body]).toEqual([202, replies[0]!.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await payback(other, '', key)).toMatchObject({
      status: 409,
      body: { code: 'idempotency-conflict' },
    });
    expect([await debitsOn(float), await debitsOn(other)]).toEqual([1, 0]);
  });

  it('is the same after a crash between the promise and the answer, although it was carried out', async () => {
    const float = await desk.float();
    const key = withKey();
    const keep = vi.spyOn(DynamoIdempotencyKeys.prototype, 'keep').mockRejectedValue(new Error('crashed'));
    expect((await payback(float, '?wait=30', key)).status).toBe(500);
    keep.mockRestore();
    expect(await desk.row(float)).toMatchObject({ status: 'COMPLETED' });
    expect(await payback(float, '?wait=30', key)).toMatchObject({
      status: 200,
      body: { outcome: 'collected' },
    });
    expect(await debitsOn(float)).toBe(1);
  });

  it.each(['31', '-1', '', 'ten'])('does not wait for %j', async (wait) => {
    expect(await payback(await desk.float(), `?wait=${wait}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid-request', errors: [{ in: 'query', field: 'wait' }] },
    });
  });
});

describe('a payback is refused', () => {
  async function refusal(float: Float, ids: Partial<Ids> = {}, through = client): Promise<unknown> {
    const { status, body } = await payback({ ...float, ...ids }, '', {}, through);
    expect(await debitsOn(float)).toBe(0);
    return [status, (body as { code: string }).code];
  }

  it('for what is not there, or is somebody else’s', async () => {
    const [mine, other] = [await desk.float(), await desk.float()];
    expect(await refusal(mine, { floatId: randomUUID() as never })).toEqual([404, 'not-found']);
    expect(await refusal(mine, { userId: other.userId })).toEqual([404, 'not-found']);
  });

  it.each(['ACHSENT', 'COMPLETED', 'DEFAULTED'] satisfies FloatStatus[])(
    'for one that is %s',
    async (status) => {
      const float = await desk.standing(status);
      expect(await refusal(float)).toEqual([409, 'not-payable']);
      expect(((await payback(float)).body as { detail: string }).detail).toContain(status);
    },
  );

  it('while a charge has no answer', async () => {
    const float = await desk.float();
    const match = { user_id: float.userId };
    await system.here.faults([{ id: 'lost', service: 'payments', fault: 'error-before', match }]);
    expect(await payback(float, '?wait=30')).toMatchObject({ status: 200, body: { outcome: 'unknown' } });
    expect(await refusal(float)).toEqual([409, 'attempt-open']);
    await system.here.faults([]);
    // The worker’s breaker hears an answer again.
    expect(await payback(await desk.float(), '?wait=30')).toMatchObject({ status: 200 });
  });

  it('while a freeze holds that concerns it, and the key can be used again after it', async () => {
    const { client: dynamo, tables } = system.here.store;
    const freezes = new DynamoFreezes({ client: dynamo, table: tables.pipeline, timer: systemTimer });
    const float = await desk.float();
    const key = withKey();
    const order = { reason: 'a test', who: 'olga', at: TICK };
    for (const target of [
      { scope: 'global' },
      { scope: 'PINLESS' },
      { scope: 'user', userId: float.userId },
    ] as const) {
      await freezes.freeze({ ...order, target, until: null });
      expect(await payback(float, '', key)).toMatchObject({ status: 409, body: { code: 'frozen' } });
      await freezes.unfreeze(target, order);
    }
    expect(await payback(float, '?wait=30', key)).toMatchObject({ status: 200 });
  });

  it('without a debit card', async () => {
    for (const settings of [{ has_debit_card: false }, { account: null, has_debit_card: false }])
      expect(await refusal(await desk.float(settings))).toEqual([409, 'no-debit-card']);
  });

  it('while nobody can be asked about the card', async () => {
    const float = await desk.float();
    await system.here.faults([{ id: 'down', service: 'transactions', fault: 'error-before', match: {} }]);
    expect(await refusal(float)).toEqual([503, 'service-down']);
  });

  it('for somebody whom the other service still bills', async () => {
    const elsewhere = await api({ ...system.environment, OWNED_USERS: 'none' });
    expect(await refusal(await desk.float(), {}, elsewhere)).toEqual([409, 'not-owned']);
    await elsewhere.close();
  });

  it('while the float, or a row of its log, cannot be read', async () => {
    const [float, other] = [await desk.float(), await desk.float()];
    await desk.rewrite(float, { amount: { S: 'much' } });
    expect(await refusal(float)).toEqual([409, 'malformed-record']);
    const Item = { ...writeLogEntry(logEntry(other)), process: { S: 'SOMETIMES' } };
    const { client: dynamo, tables } = system.here.store;
    await dynamo.send(new PutItemCommand({ TableName: tables.collectionHistory, Item }));
    expect(await refusal(other)).toEqual([409, 'malformed-record']);
  });
});

describe('a signal of income', () => {
  const signal = (kind: 'income' | 'balance', { userId }: Pick<Ids, 'userId'>, through = client) => {
    const data =
      kind === 'income'
        ? { amount: '1200.00', date: '2026-11-16' }
        : { account_id: 'account-1', is_primary: true };
    const type = kind === 'income' ? 'income_txn' : 'new_account';
    const body = { id: randomUUID(), type, source: 'bank-feed', data: { user_id: userId, ...data } };
    return through.call('POST', `/events/${kind}`, { as: 'service', body });
  };

  const asked = (reply: Reply): (Accepted & { float_id?: string; subscription_id?: string })[] => {
    expect(reply).toMatchObject({ status: 202, body: { status: 'accepted' } });
    return (reply.body as { requests: (Accepted & { float_id?: string })[] }).requests;
  };

  it.each(['RETRY', 'UNCOLLECTABLE'] as const)('asks for a float that is %s, once', async (status) => {
    const float = await desk.standing(status);
    const replies = await Promise.all(Array.from({ length: 4 }, () => signal('income', float)));
    const all = replies.flatMap(asked);
    expect(new Set(all.map(({ job_id: id }) => id)).size).toBe(1);
    const { job_id: id, status_url: url, float_id: floatId } = all[0]!;
    expect(floatId).toBe(float.floatId);
    expect(await requests.get(id)).toMatchObject({ path: 'FLOAT_WEBHOOK' });
    expect(await done(url)).toMatchObject({ status: 'done', outcome: 'collected' });
    expect(await outcomes(float)).toEqual([['WEBHOOK', 'COMPLETED', 'PINLESS']]);
    expect(await debitsOn(float)).toBe(1);
  });

  it.each(['SCHEDULING', 'ACHSENT', 'COMPLETED', 'DEFAULTED'] satisfies FloatStatus[])(
    'asks for nothing where the float is %s',
    async (status) => {
      expect(asked(await signal('income', await desk.standing(status)))).toEqual([]);
    },
  );

  it('asks for the periods that are owed as well; one of a new account asks for these only', async () => {
    // Asked for in vain, both stay owed.
    const [record] = await memberships.member([{ billingStatus: 'ERROR' }], CLOSED_CARD);
    const float = await desk.standing('RETRY', {}, { userId: record!.userId });
    const period = { subscription_id: record!.subscriptionId };
    expect(asked(await signal('balance', record!))).toMatchObject([period]);
    expect(asked(await signal('income', record!))).toMatchObject([period, { float_id: float.floatId }]);
  });

  it('asks for the others where one float cannot be read', async () => {
    const [record] = await memberships.member([{ billingStatus: 'ERROR' }]);
    const float = await desk.standing('RETRY', {}, { userId: record!.userId });
    await desk.rewrite(float, { amount: { S: 'much' } });
    expect(asked(await signal('income', record!))).toMatchObject([
      { subscription_id: record!.subscriptionId },
    ]);
  });

  it('asks for nothing of somebody whom the other service still bills', async () => {
    const elsewhere = await api({ ...system.environment, OWNED_USERS: 'none' });
    const reply = await signal('income', await desk.standing('RETRY'), elsewhere);
    expect(reply.body).toMatchObject({ status: 'ignored', reason: 'not-owned' });
    await elsewhere.close();
  });
});

describe('while Redis is away', () => {
  it('a payback is stored before the answer, and carried out after the sweep, once', async () => {
    const cutOff = await api({ ...system.environment, REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
    const float = await desk.float();
    const reply = await payback(float, '', withKey(), cutOff);
    const { job_id: id, status_url: url } = accepted(reply);
    expect((await cutOff.call('GET', url)).body).toMatchObject({ status: 'queued' });
    await cutOff.close();
    expect(await debitsOn(float)).toBe(0);

    const now = formatInstant(plusMs(TICK, 5 * 60_000));
    await system.here.bank('PUT', '/clock', { now, frozen: true });
    const scheduler = await system.scheduler();
    expect(await done(url)).toMatchObject({ outcome: 'collected' });
    expect(await requests.get(id)).toMatchObject({ generation: 1 });
    expect(await debitsOn(float)).toBe(1);
    expect(await scheduler.stop()).toBe(0);
  });
});
