import { randomUUID } from 'node:crypto';
import type { Job } from 'bullmq';
import { UnrecoverableError, Worker } from 'bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { KEY_PREFIX, connectRedis } from '../../../queues/connection.ts';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { DynamoIdempotencyKeys } from '../../../src/adapters/dynamodb/idempotency-keys.ts';
import { DynamoRequests } from '../../../src/adapters/dynamodb/requests.ts';
import { freePort } from '../../../src/embedded/free-port.ts';
import { formatInstant, plusMs } from '../../../src/domain/instant.ts';
import { requestIdOf } from '../../../src/domain/request-id.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { ApiClient, CallOptions, Reply } from '../../support/api.ts';
import { TOKENS, api, isReady } from '../../support/api.ts';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline, RunningProcess } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';
import { tcpGate } from '../../support/tcp-gate.ts';

let system: Pipeline;
let client: ApiClient;
let worker: RunningProcess;
let requests: DynamoRequests;

beforeAll(async () => {
  system = await pipeline();
  const { client: dynamo, tables } = system.here.store;
  requests = new DynamoRequests({ client: dynamo, table: tables.pipeline });
  client = await api({ ...system.environment, API_RATE_PER_MINUTE: '100000' });
  await isReady(client);
  worker = await system.worker();
});
afterAll(async () => {
  await client.close();
  await system.close();
});
afterEach(() => system.here.faults([]));

const owing = (settings: object = {}): Promise<StoredSubscription> =>
  system.here.member(settings, { billingStatus: 'ERROR' });

type Ids = Pick<StoredSubscription, 'userId' | 'subscriptionId'>;

const pathOf = ({ userId, subscriptionId }: Ids): string =>
  `/v1/${userId}/subscriptions/${subscriptionId}/pay`;

const pay = (record: Ids, query = '', options: CallOptions = {}, through = client): Promise<Reply> =>
  through.call('POST', pathOf(record) + query, { as: 'service', ...options });

const withKey = (key: string): CallOptions => ({ headers: { 'idempotency-key': key } });

interface Accepted {
  readonly job_id: string;
  readonly status_url: string;
}

function accepted(reply: Reply): Accepted {
  expect(reply).toMatchObject({ status: 202 });
  return reply.body as Accepted;
}

const done = (reply: Reply): Promise<object> =>
  eventually('the request is answered', async () => {
    const { body } = await client.call('GET', accepted(reply).status_url, { as: 'viewer' });
    return (body as { status: string }).status !== 'queued' && (body as object);
  });

const clockAt = (minutes: number): Promise<unknown> =>
  system.here.bank('PUT', '/clock', { now: formatInstant(plusMs(TICK, minutes * 60_000)), frozen: true });

describe('paying by hand', () => {
  it.each(['SCHEDULED', 'ERROR'] as const)('charges a record that is %s, once', async (billingStatus) => {
    const record = await system.here.member({}, { billingStatus });
    const reply = await pay(record);
    expect(reply.body).toEqual({
      job_id: expect.stringMatching(/^pay\./) as string,
      subscription_id: record.subscriptionId,
      status_url: expect.stringContaining(`/v1/${record.userId}/requests/pay.`) as string,
    });
    expect(await done(reply)).toMatchObject({ status: 'done', outcome: 'collected', reason: 'PINLESS' });
    expect(await system.here.row(record)).toMatchObject({
      billingStatus: 'COMPLETED',
      process: 'MANUAL_REPAYMENT',
    });
    expect(await debitsOf(system.here, [record])).toEqual([1]);
  });

  it('says who asked, on record', async () => {
    const record = await owing();
    const { job_id: id } = accepted(await pay(record));
    expect(await requests.get(id)).toMatchObject({ by: 'service-name', path: 'MANUAL_REPAYMENT' });
  });

  it('waits for the outcome when asked to', async () => {
    const record = await owing();
    expect(await pay(record, '?wait=30')).toMatchObject({
      status: 200,
      body: { status: 'done', outcome: 'collected', subscription_id: record.subscriptionId },
    });
  });

  it('tells of a decline, which leaves the status and opens no further period', async () => {
    const record = await owing({ pinless: { mode: 'decline', code: '14' } });
    expect(await pay(record, '?wait=30')).toMatchObject({
      status: 200,
      body: { status: 'done', outcome: 'declined', reason: 'PINLESS-14' },
    });
    const [row, ...more] = await system.here.partition(record.userId);
    expect(row).toMatchObject({
      billingStatus: 'ERROR',
      process: 'MANUAL_REPAYMENT',
      initialRunDate: null,
      usioError: expect.stringMatching(/^14/) as string,
    });
    expect(more).toEqual([]);
  });

  it('answers that it is under way when the time is over', async () => {
    const record = await owing();
    await system.here.store.takeLock(record.userId);
    const reply = await pay(record, '?wait=1');
    expect(reply.status).toBe(202);
    await system.here.store.releaseLock(record.userId);
    expect(await done(reply)).toMatchObject({ outcome: 'collected' });
  });

  it('is carried out although its caller does not wait to the end', async () => {
    const record = await owing();
    await system.here.store.takeLock(record.userId);
    const gone = new AbortController();
    const key = randomUUID();
    const hungUp = fetch(`${client.url}${pathOf(record)}?wait=30`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKENS.service}`, 'idempotency-key': key },
      signal: gone.signal,
    });
    await eventually('the request is stored', () => requests.get(requestIdOf('pay', 'service-name', key)));
    gone.abort();
    await expect(hungUp).rejects.toThrow('aborted');
    await system.here.store.releaseLock(record.userId);
    await eventually('it is charged', async () => (await debitsOf(system.here, [record]))[0] === 1);
  });

  it.each(['31', '-1', '1.5', '', 'ten', '1e1'])('does not wait for %j', async (wait) => {
    expect(await pay(await owing(), `?wait=${wait}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid-request', errors: [{ in: 'query', field: 'wait' }] },
    });
  });
});

describe('paying by hand is refused', () => {
  const refusal = async (record: Ids): Promise<unknown> => {
    const { status, body } = await pay(record);
    expect(await debitsOf(system.here, [record])).toEqual([0]);
    return [status, (body as { code: string }).code];
  };

  it('for a record that is not there, or is somebody else’s', async () => {
    const [mine, other] = [await owing(), await owing()];
    expect(await refusal({ ...mine, subscriptionId: randomUUID() as never })).toEqual([404, 'not-found']);
    expect(await refusal({ ...mine, userId: other.userId })).toEqual([404, 'not-found']);
    expect(await refusal({ ...mine, userId: 'nobody' as never })).toEqual([404, 'not-found']);
  });

  it.each(['COMPLETED', 'ACHSENT', 'CANCELLED', 'WAIVED', 'PAUSED', 'STALE', 'REFUNDED'] as const)(
    'for a record that is %s',
    async (billingStatus) => {
      const reply = await pay(await system.here.member({}, { billingStatus }));
      expect(reply).toMatchObject({ status: 409, body: { code: 'not-payable' } });
      expect((reply.body as { detail: string }).detail).toContain(billingStatus);
    },
  );

  it('when the member has cancelled', async () => {
    const record = await system.here.member({}, { updatedEvent: 'PENDING_CANCELLATION' });
    expect(await refusal(record)).toEqual([409, 'pending-cancellation']);
  });

  it('when the account was closed', async () => {
    const record = await system.here.member({}, { updatedEvent: 'account-closed' });
    expect(await refusal(record)).toEqual([409, 'account-closed']);
  });

  it('while a charge has no answer', async () => {
    const record = await owing();
    await system.here.faults([
      { id: 'lost', service: 'payments', fault: 'error-before', match: { user_id: record.userId } },
    ]);
    expect(await pay(record, '?wait=30')).toMatchObject({ status: 200, body: { outcome: 'unknown' } });
    expect(await refusal(record)).toEqual([409, 'attempt-open']);
  });

  it('while a freeze holds that concerns it, and the key can be used again after it', async () => {
    const { client: dynamo, tables } = system.here.store;
    const freezes = new DynamoFreezes({ client: dynamo, table: tables.pipeline, timer: systemTimer });
    const record = await owing();
    const order = { reason: 'a test', who: 'olga', at: TICK };
    const concerned = [
      { scope: 'global' },
      { scope: 'PINLESS' },
      { scope: 'user', userId: record.userId },
    ] as const;
    for (const target of concerned) {
      await freezes.freeze({ ...order, target, until: null });
      expect(await pay(record, '', withKey('thaw'))).toMatchObject({
        status: 409,
        body: { code: 'frozen' },
      });
      await freezes.unfreeze(target, order);
    }
    const elsewhere = [{ scope: 'ACH' }, { scope: 'user', userId: 'somebody' as never }] as const;
    for (const target of elsewhere) await freezes.freeze({ ...order, target, until: null });
    await freezes.freeze({ ...order, target: { scope: 'global' }, until: TICK });
    expect(await pay(record, '?wait=30', withKey('thaw'))).toMatchObject({ status: 200 });
    for (const target of [...elsewhere, { scope: 'global' } as const]) await freezes.unfreeze(target, order);
  });

  it('for somebody whom the other service still bills', async () => {
    const elsewhere = await api({ ...system.environment, OWNED_USERS: 'none' });
    const reply = await pay(await owing(), '', {}, elsewhere);
    expect(reply).toMatchObject({ status: 409, body: { code: 'not-owned' } });
    await elsewhere.close();
  });

  it('while a row of the member cannot be read', async () => {
    const record = await owing();
    const { store } = system.here;
    const row = (await store.billingRow(record.userId, formatInstant(record.billingDate)))!;
    await store.putBillingRow({ ...row, billing_amount: { S: 'much' } });
    expect(await refusal(record)).toEqual([409, 'malformed-record']);
  });
});

describe('asked for several times', () => {
  it('at once, a record is charged once', async () => {
    const record = await owing();
    const replies = await Promise.all(Array.from({ length: 3 }, () => pay(record)));
    // Who comes when the first is being charged, or has been, is refused at once.
    const late = replies.filter(({ status }) => status === 409);
    const promised = replies.filter((reply) => !late.includes(reply));
    const outcomes = await Promise.all(
      promised.map(async (reply) => ((await done(reply)) as { outcome: string }).outcome),
    );
    expect(outcomes.filter((outcome) => outcome === 'collected')).toHaveLength(1);
    expect(await debitsOf(system.here, [record])).toEqual([1]);
  });

  it('under the same key it is one request with one answer, at once and later', async () => {
    const record = await owing();
    const key = withKey(randomUUID());
    const replies = await Promise.all(Array.from({ length: 5 }, () => pay(record, '', key)));
    expect(new Set(replies.map((reply) => accepted(reply).job_id)).size).toBe(1);
    await done(replies[0]!);
    const again = await pay(record, '?wait=5', key);
    expect([again.status, again.body]).toEqual([202, replies[0]!.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await debitsOf(system.here, [record])).toEqual([1]);
  });

  it('under the same key for another record is refused; another caller’s key is another key', async () => {
    const [record, other] = [await owing(), await owing()];
    const key = withKey(randomUUID());
    const first = accepted(await pay(record, '', key));
    expect(await pay(other, '', key)).toMatchObject({
      status: 409,
      body: { code: 'idempotency-conflict' },
    });
    const theirs = accepted(await pay(other, '', { ...key, as: 'operator' }));
    expect(theirs.job_id).not.toBe(first.job_id);
  });

  it('after a crash between the promise and the answer it is the same request, although it was carried out', async () => {
    const record = await owing();
    const key = withKey(randomUUID());
    const keep = vi.spyOn(DynamoIdempotencyKeys.prototype, 'keep').mockRejectedValue(new Error('crashed'));
    expect((await pay(record, '?wait=30', key)).status).toBe(500);
    keep.mockRestore();
    expect(await system.here.row(record)).toMatchObject({ billingStatus: 'COMPLETED' });
    expect(await pay(record, '?wait=30', key)).toMatchObject({ status: 200, body: { outcome: 'collected' } });
    expect(await debitsOf(system.here, [record])).toEqual([1]);
  });
});

describe('while Redis is away', () => {
  it('the request is stored before the answer, and carried out after the sweep', async () => {
    const cutOff = await api({ ...system.environment, REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
    const record = await owing();
    const reply = await pay(record, '', withKey('cut-off'), cutOff);
    expect((await cutOff.call('GET', accepted(reply).status_url)).body).toMatchObject({ status: 'queued' });
    await cutOff.close();
    expect(await debitsOf(system.here, [record])).toEqual([0]);

    await clockAt(5);
    const scheduler = await system.scheduler();
    expect(await done(reply)).toMatchObject({ outcome: 'collected' });
    expect(await debitsOf(system.here, [record])).toEqual([1]);
    expect(await scheduler.stop()).toBe(0);
  });
});

describe('while Redis hangs', () => {
  it('everything is answered all the same, and what was promised is kept', async () => {
    const gate = await tcpGate(system.redis.url);
    const hung = await api({ ...system.environment, REDIS_URL: gate.url });
    const record = await owing();
    expect(await pay(record, '', withKey('before'), hung)).toMatchObject({ status: 202 });
    gate.hang();
    const other = await owing();
    expect(await pay(other, '', withKey('hung'), hung)).toMatchObject({ status: 202 });
    expect(await hung.call('GET', `/v1/${other.userId}/subscriptions/current`)).toMatchObject({
      status: 200,
    });
    expect((await hung.call('GET', '/health/ready', { as: null })).body).toMatchObject({
      checks: { redis: 'down' },
    });
    expect((await hung.call('GET', '/metrics')).status).toBe(200);
    await gate.cut();
    await hung.close();
  });
});

describe('while DynamoDB is away', () => {
  it('whoever asks is told that it is, and to come again', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const lost = await api({ ...system.environment, AWS_ENDPOINT_URL_DYNAMODB: nowhere });
    const record = await owing();
    for (const reply of [
      await pay(record, '', withKey('lost'), lost),
      await lost.call('GET', `/v1/${record.userId}/subscriptions/current`),
    ])
      expect(reply).toMatchObject({ status: 503, body: { code: 'service-down' } });
    await lost.close();
  });
});

describe('a job that failed', () => {
  it('is handed over anew under another name, and the record is charged once', async () => {
    await worker.stop();
    const record = await owing();
    const reply = await pay(record);
    const { job_id: id } = accepted(reply);
    const failed = await failJob(id);
    await clockAt(10);
    const scheduler = await system.scheduler();
    worker = await system.worker();
    expect(await done(reply)).toMatchObject({ outcome: 'collected' });
    const queue = system.queues.get('manual-repayments');
    expect(await (await queue.getJob(failed))!.getState()).toBe('failed');
    expect(await debitsOf(system.here, [record])).toEqual([1]);
    expect(await scheduler.stop()).toBe(0);
  });
});

/** A worker took it and could not even say what went wrong. */
async function failJob(requestId: string): Promise<string> {
  const connection = connectRedis({ url: system.redis.url, whenDown: 'wait', onError: () => undefined });
  const taker = new Worker('manual-repayments', null, { connection, prefix: KEY_PREFIX });
  try {
    for (;;) {
      const job = (await taker.getNextJob('token')) as Job | undefined;
      const { requestId: taken } = (job?.data ?? {}) as { requestId?: string };
      if (job === undefined || taken !== requestId) continue;
      await job.moveToFailed(new UnrecoverableError('killed'), 'token', false);
      return job.id!;
    }
  } finally {
    await taker.close();
    connection.disconnect();
  }
}

it('no money has moved twice, without an intent or against a rule', async () => {
  // The records were made as they are by hand: what the audit says about their past is true.
  expect((await system.audit()).filter((line) => /rule [1256]:/.test(line))).toEqual([]);
});
