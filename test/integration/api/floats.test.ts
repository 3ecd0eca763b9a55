import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { DynamoBypasses } from '../../../src/adapters/dynamodb/bypasses.ts';
import { writeLogEntry } from '../../../src/adapters/dynamodb/float-items.ts';
import { DynamoIdempotencyKeys } from '../../../src/adapters/dynamodb/idempotency-keys.ts';
import type { Float, FloatId, FloatStatus } from '../../../src/domain/floats/float.ts';
import { FLOAT_STATUSES } from '../../../src/domain/floats/float.ts';
import { SUPPORT_WISHES } from '../../../src/domain/floats/support.ts';
import { isLegalForFloat } from '../../../src/domain/floats/transitions.ts';
import type { Subscription, UserId } from '../../../src/domain/subscription.ts';
import { floatLockKey } from '../../../src/ports/lock.ts';
import type { Log } from '../../../src/ports/log.ts';
import type { ApiClient, CallOptions, Reply } from '../../support/api.ts';
import { API_TOKENS, api } from '../../support/api.ts';
import type { FloatDesk } from '../../support/float-desk.ts';
import { floatDesk } from '../../support/float-desk.ts';
import { day, logEntry } from '../../support/floats.ts';
import type { MembershipDesk } from '../../support/membership-desk.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';

/** Today is Monday, 16 November 2026. */
let system: Pipeline;
let client: ApiClient;
let desk: FloatDesk;
let memberships: MembershipDesk;
let bypasses: DynamoBypasses;
const SECOND_OPERATOR = 'second-token-of-tests';
const lines: { fields: Record<string, unknown>; message: string }[] = [];

beforeAll(async () => {
  system = await pipeline();
  const { here } = system;
  desk = floatDesk(here);
  memberships = membershipDesk(here);
  bypasses = new DynamoBypasses({ client: here.store.client, table: here.store.tables.bypass });
  const note = (fields: object, message: string): void =>
    void lines.push({ fields: fields as Record<string, unknown>, message });
  const log: Log = { debug: note, info: note, warn: note, error: note, child: () => log };
  const tokens = `${API_TOKENS},second-name:operator:${SECOND_OPERATOR}`;
  client = await api({ ...system.environment, API_TOKENS: tokens, API_RATE_PER_MINUTE: '100000' }, log);
});
afterAll(async () => {
  await client.close();
  await system.close();
});
afterEach(() => system.here.faults([]));

type Member = Pick<Subscription, 'userId'>;

const member = async (settings: object | null = {}, fields: Partial<Subscription> = {}): Promise<Member> =>
  (await memberships.member([fields], settings))[0]!;

const settingsOf = ({ userId }: Member, settings: object): Promise<unknown> =>
  system.here.bank('PUT', `/sandbox/users/${userId}`, settings);

const ADVANCE = { amount: '50.00', due_date: '2026-11-30' };
const NO_ACCOUNT = { account: null, has_debit_card: false };

const create = (who: Member, body: unknown = ADVANCE, options: CallOptions = {}): Promise<Reply> =>
  client.call('POST', `/v1/${who.userId}/floats`, { body, ...options });

const get = ({ userId }: Member, rest: string): Promise<Reply> =>
  client.call('GET', `/v1/${userId}/${rest}`, { as: 'viewer' });

const patch = ({ userId, floatId }: Pick<Float, 'userId' | 'floatId'>, body: unknown): Promise<Reply> =>
  client.call('PATCH', `/v1/${userId}/floats/${floatId}`, { body });

const bypass = ({ userId }: Member, method: string, body?: unknown): Promise<Reply> =>
  client.call(method, `/v1/${userId}/bypass`, { body });

const withKey = (key: string = randomUUID()): CallOptions => ({ headers: { 'idempotency-key': key } });
const refusal = (code: string, status = 409) => ({ status, body: { code, status } });
const codeOf = ({ body }: Reply): unknown => (body as { code?: unknown }).code;
const idOf = ({ body }: Reply): FloatId => (body as { float_id: FloatId }).float_id;
const openOf = ({ userId }: Member): Promise<readonly FloatId[]> => desk.floats.openOf(userId);

async function whileBusy<T>({ userId }: Member, work: () => Promise<T>): Promise<T> {
  const acquired = await system.here.dependencies.locks.acquire(floatLockKey(userId));
  if ('busy' in acquired) throw new Error('nobody else knows this member');
  try {
    return await work();
  } finally {
    await acquired.lock.release();
  }
}

describe('a float that was paid out', () => {
  it('is recorded, and is the one that the member has to pay back', async () => {
    const who = await member();
    const reply = await create(who);
    const { status, body } = reply;
    expect(status).toBe(201);
    expect(body).toEqual({
      float_id: expect.any(String) as string,
      user_id: who.userId,
      status: 'SCHEDULING',
      amount: '50.00',
      due_date: '2026-11-30',
      created_at: '2026-11-16T08:00:00Z',
      completed_at: null,
      credit_returned_at: null,
      last_run_time: '1794816000000000000',
      confirmation_id: '',
      error: '',
    });
    expect(await get(who, 'floats/active')).toMatchObject({ status: 200, body: body as object });
    expect(await get(who, `floats/${idOf(reply)}`)).toMatchObject({ status: 200, body: body as object });
    expect(await get(who, `floats/${idOf(reply)}/collection-history`)).toMatchObject({
      body: { collection_history: [] },
    });
    expect(await get(who, 'floats')).toMatchObject({ body: { floats: [body], unreadable: [] } });
    expect(lines).toContainEqual({
      message: 'a float was recorded',
      fields: expect.objectContaining({
        by: 'operator-name',
        userId: who.userId,
        floatId: idOf(reply),
      }) as object,
    });
  });

  it.each([
    ['the most that anybody gets', { ...ADVANCE, amount: '250.00' }],
    ['the least', { ...ADVANCE, amount: '0.01' }],
    ['for as long as anybody gets it', { ...ADVANCE, due_date: '2026-12-31' }],
    ['due today', { ...ADVANCE, due_date: '2026-11-16' }],
    ['by the name under which it was paid out', { ...ADVANCE, float_id: `paid/out~${randomUUID()}` }],
  ])('is taken: %s', async (_what, body) => {
    const reply = await create(await member(), body);
    expect(reply).toMatchObject({ status: 201, body });
  });

  it('is taken again when the one before is paid back', async () => {
    const who = await member();
    const first = idOf(await create(who));
    expect(await patch({ ...who, floatId: first }, { status: 'COMPLETED' })).toMatchObject({ status: 200 });
    const second = idOf(await create(who));
    expect(await openOf(who)).toEqual([second]);
    await eventually('both are listed', async () => {
      const { floats } = (await get(who, 'floats')).body as { floats: { float_id: string }[] };
      return new Set(floats.map(({ float_id: id }) => id)).size === 2;
    });
  });
});

describe('a float is refused', () => {
  const nothingMade = async (who: Member): Promise<void> => expect(await openOf(who)).toEqual([]);

  it.each([
    ['paused', { billingStatus: 'PAUSED' as const }],
    ['ending', { updatedEvent: 'PENDING_CANCELLATION' }],
    ['ended', { billingStatus: 'CANCELLED' as const }],
  ])('for a membership that is %s', async (membership, fields) => {
    const who = await member({}, fields);
    const reply = await create(who);
    expect(reply).toMatchObject(refusal('no-active-subscription'));
    expect((reply.body as { detail: string }).detail).toContain(membership);
    await nothingMade(who);
  });

  it.each(['PROCESSING', 'PAUSED', 'INVESTIGATE', 'BANNED'])('for a user who is %s', async (status) => {
    const who = await member({ status });
    const reply = await create(who);
    expect(reply).toMatchObject(refusal('no-active-subscription'));
    expect((reply.body as { detail: string }).detail).toContain(status);
    await nothingMade(who);
  });

  it('for somebody whom the user service does not know, or who never was a member', async () => {
    for (const who of [await member(null), { userId: 'nobody' as UserId }]) {
      expect(await create(who)).toMatchObject(refusal('no-active-subscription'));
      await nothingMade(who);
    }
  });

  it.each([
    [{ ...ADVANCE, amount: '250.01' }, 'amount'],
    [{ ...ADVANCE, due_date: '2027-01-01' }, 'due_date'],
  ])('beyond the limits: %j', async (body, field) => {
    const who = await member();
    const reply = await create(who, body);
    expect(reply).toMatchObject(refusal('over-limit'));
    expect((reply.body as { detail: string }).detail).toContain(field);
    await nothingMade(who);
  });

  it('beside one that is not paid back, whatever its status', async () => {
    for (const status of ['SCHEDULING', 'ACHSENT', 'RETRY', 'UNCOLLECTABLE'] as const) {
      const who = await member();
      const float = await desk.standing(status, {}, who);
      expect(await create(who), status).toMatchObject(refusal('open-float'));
      expect(await openOf(who)).toEqual([float.floatId]);
    }
  });

  it('without a primary account', async () => {
    const who = await member(NO_ACCOUNT);
    expect(await create(who)).toMatchObject(refusal('requirements-not-met'));
    await nothingMade(who);
  });

  it('to somebody who did not pay another one back', async () => {
    const who = await member();
    const lost = await desk.float({}, who);
    expect(await patch(lost, { status: 'DEFAULTED' })).toMatchObject({ status: 200 });
    const reply = await create(who);
    expect(reply).toMatchObject(refusal('requirements-not-met'));
    expect((reply.body as { detail: string }).detail).toContain(lost.floatId);
  });

  it('for the first of several reasons, in their order', async () => {
    const who = await member();
    const open = idOf(await create(who));
    const tooMuch = { ...ADVANCE, amount: '999.00' };
    await settingsOf(who, { status: 'BANNED', ...NO_ACCOUNT });
    expect(await create(who, { ...tooMuch, due_date: '2026-11-15' })).toMatchObject(
      refusal('invalid-request', 400),
    );
    expect(codeOf(await create(who, tooMuch))).toBe('no-active-subscription');
    await settingsOf(who, NO_ACCOUNT);
    expect(codeOf(await create(who, tooMuch))).toBe('over-limit');
    expect(codeOf(await create(who))).toBe('open-float');
    expect(await patch({ ...who, floatId: open }, { status: 'COMPLETED' })).toMatchObject({ status: 200 });
    expect(codeOf(await create(who))).toBe('requirements-not-met');
    expect(await bypass(who, 'POST', { expiration_date: '2026-11-16', reason: 'vouched for' })).toMatchObject(
      {
        status: 201,
      },
    );
    expect(await create(who)).toMatchObject({ status: 201 });
  });

  it('while somebody else works on the member’s floats; the key is not used up', async () => {
    const who = await member();
    const key = withKey();
    const reply = await whileBusy(who, () => create(who, ADVANCE, key));
    expect(reply).toMatchObject(refusal('user-busy'));
    expect(reply.headers.get('retry-after')).toBe('5');
    await nothingMade(who);
    expect(await create(who, ADVANCE, key)).toMatchObject({ status: 201 });
  });

  it('while nobody can be asked about the member', async () => {
    const who = await member();
    await system.here.faults([{ id: 'down', service: 'users', fault: 'error-before', match: {} }]);
    expect(await create(who)).toMatchObject(refusal('service-down', 503));
    await nothingMade(who);
  });

  it.each([
    ['amount', { due_date: '2026-11-30' }],
    ['due_date', { amount: '50.00' }],
    ['amount', { ...ADVANCE, amount: '0.00' }],
    ['amount', { ...ADVANCE, amount: '-5.00' }],
    ['amount', { ...ADVANCE, amount: 50 }],
    ['amount', { ...ADVANCE, amount: '50' }],
    ['amount', { ...ADVANCE, amount: '1e2' }],
    ['amount', { ...ADVANCE, amount: null }],
    ['due_date', { ...ADVANCE, due_date: '2026-11-31' }],
    ['due_date', { ...ADVANCE, due_date: '2026-11-30T00:00:00Z' }],
    ['due_date', { ...ADVANCE, due_date: 20261130 }],
    ['due_date', { ...ADVANCE, due_date: '2026-11-15' }],
    ['due_date', { ...ADVANCE, due_date: '0001-01-01' }],
    ['float_id', { ...ADVANCE, float_id: '' }],
    ['float_id', { ...ADVANCE, float_id: 'a b' }],
    ['float_id', { ...ADVANCE, float_id: 'x'.repeat(129) }],
    ['float_id', { ...ADVANCE, float_id: 'active' }],
    ['float_id', { ...ADVANCE, float_id: 7 }],
    ['status', { ...ADVANCE, status: 'COMPLETED' }],
  ])('for what is wrong with its %s: %j', async (field, body) => {
    const who = await member();
    const reply = await create(who, body);
    expect(reply).toMatchObject(refusal('invalid-request', 400));
    expect(reply.body).toMatchObject({ errors: [{ in: 'body', field }] });
    await nothingMade(who);
  });
});

describe('a float that is recorded several times', () => {
  it('at once is one float', async () => {
    const who = await member();
    const replies = await Promise.all(Array.from({ length: 5 }, () => create(who)));
    const made = replies.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    for (const reply of replies) expect([undefined, 'user-busy', 'open-float']).toContain(codeOf(reply));
    expect(await openOf(who)).toEqual([idOf(made[0]!)]);
  });

  it('under the same key has the same answer, also after it was paid back', async () => {
    const who = await member();
    const key = withKey();
    const first = await create(who, ADVANCE, key);
    expect(await patch({ ...who, floatId: idOf(first) }, { status: 'COMPLETED' })).toMatchObject({
      status: 200,
    });
    const again = await create(who, ADVANCE, key);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await create(who, { ...ADVANCE, amount: '60.00' }, key)).toMatchObject(
      refusal('idempotency-conflict'),
    );
  });

  it('after a crash between record and answer is the same float, whatever the member may have now', async () => {
    const who = await member();
    const key = withKey();
    const keep = vi.spyOn(DynamoIdempotencyKeys.prototype, 'keep').mockRejectedValue(new Error('crashed'));
    expect((await create(who, ADVANCE, key)).status).toBe(500);
    keep.mockRestore();
    await settingsOf(who, { status: 'BANNED' });
    const again = await create(who, ADVANCE, key);
    expect(again).toMatchObject({ status: 201, body: ADVANCE });
    expect(await openOf(who)).toEqual([idOf(again)]);
  });

  it('under the same name with the same contents is the same float, with others it is refused', async () => {
    const [who, other] = [await member(), await member()];
    const body = { ...ADVANCE, float_id: randomUUID() };
    expect(await create(who, body)).toMatchObject({ status: 201 });
    expect(await create(who, body)).toMatchObject({ status: 201, body });
    for (const change of [{ amount: '50.01' }, { due_date: '2026-11-29' }])
      expect(await create(who, { ...body, ...change })).toMatchObject(refusal('request-conflict'));
    expect(await create(other, body)).toMatchObject(refusal('request-conflict'));
    expect(await openOf(other)).toEqual([]);
  });

  it('by two callers under the same key is refused for the second', async () => {
    const who = await member();
    const headers = { 'idempotency-key': randomUUID() };
    expect(await create(who, ADVANCE, { headers })).toMatchObject({ status: 201 });
    const bySecond = { headers: { ...headers, authorization: `Bearer ${SECOND_OPERATOR}` } };
    expect(await create(who, ADVANCE, bySecond)).toMatchObject(refusal('open-float'));
  });
});

describe('the floats of a member', () => {
  it('are none for somebody who has none', async () => {
    const nobody = { userId: 'nobody' as UserId };
    expect(await get(nobody, 'floats')).toMatchObject({ status: 200, body: { floats: [], unreadable: [] } });
    expect(await get(nobody, 'floats/active')).toMatchObject(refusal('not-found', 404));
  });

  it('are shown to who knows whose they are', async () => {
    const [float, other] = [await desk.float(), await desk.float()];
    for (const rest of ['', '/collection-history']) {
      expect(await get(float, `floats/${float.floatId}${rest}`)).toMatchObject({ status: 200 });
      for (const path of [`floats/${other.floatId}`, `floats/${randomUUID()}`])
        expect(await get(float, path + rest)).toMatchObject(refusal('not-found', 404));
    }
  });

  it('name the row that cannot be read, to nobody else', async () => {
    const [float, other] = [await desk.float(), await desk.float()];
    await desk.rewrite(float, { due_date: { S: 'soon' } });
    await eventually('it is listed so', async () => {
      const { floats, unreadable } = (await get(float, 'floats')).body as Record<string, unknown[]>;
      return floats!.length === 0 && String(unreadable![0]).includes('due_date');
    });
    const reply = await get(float, `floats/${float.floatId}`);
    expect(reply).toMatchObject(refusal('malformed-record'));
    expect((reply.body as { detail: string }).detail).toContain('due_date');
    expect(await get(float, 'floats/active')).toMatchObject(refusal('malformed-record'));
    expect(await get(other, `floats/${float.floatId}`)).toMatchObject(refusal('not-found', 404));
  });

  it('that are to be paid back: the one that has been due longest', async () => {
    const who = await member();
    const later = await desk.float({}, { ...who, dueDate: day('2026-11-20') });
    expect(await patch(later, { status: 'DEFAULTED' })).toMatchObject({ status: 200 });
    const sooner = await desk.float({}, { ...who, dueDate: day('2026-11-18') });
    expect(await patch(later, { status: 'RETRY' })).toMatchObject({ status: 200 });
    expect(await get(who, 'floats/active')).toMatchObject({ body: { float_id: sooner.floatId } });
  });
});

describe('the collection history', () => {
  it('has every attempt, with stamps as text and what decided for ACH', async () => {
    const float = await desk.float({ pinless: { mode: 'decline', code: '62' } });
    expect(await desk.collect('TODAY6AM', float)).toMatchObject({ verdict: 'sent' });
    const { body } = await get(float, `floats/${float.floatId}/collection-history`);
    const { collection_history: rows } = body as { collection_history: Record<string, unknown>[] };
    const none = {
      ach_model_override: null,
      ach_model_version: null,
      ach_model_features: null,
      ach_model_probability: null,
    };
    const whose = {
      loan_id: float.floatId,
      user_id: float.userId,
      due_date: '2026-11-16',
      run_date: '2026-11-16',
    };
    expect(rows).toMatchObject([
      { ...whose, process: 'TODAY6AM', outcome: 'RETURNED', method: 'PINLESS', ...none },
      {
        ...whose,
        process: 'TODAY6AM',
        outcome: 'ACHSENT',
        method: 'ACH',
        ach_model_override: false,
        ach_model_version: 'rule-1',
        ach_model_features: { failed_ach: 0, balance_cents: 100_000, amount_cents: 6_000, days_past_due: 0 },
        ach_model_probability: 0.95,
        support_who: null,
      },
    ]);
    const stamps = rows.map(({ run_time: stamp }) => stamp);
    expect(stamps).toEqual((await desk.log(float)).map(({ runTime }) => String(runTime)));
    expect(BigInt(stamps[0] as string)).toBeGreaterThan(BigInt(Number.MAX_SAFE_INTEGER));
    const { body: now } = await get(float, `floats/${float.floatId}`);
    expect(now).toMatchObject({ status: 'ACHSENT', last_run_time: stamps[1] });
  });

  it('with a row that cannot be read is not told', async () => {
    const float = await desk.float();
    const { store } = system.here;
    const Item = { ...writeLogEntry(logEntry(float)), outcome: { S: 'MAYBE' } };
    await store.client.send(new PutItemCommand({ TableName: store.tables.collectionHistory, Item }));
    const reply = await get(float, `floats/${float.floatId}/collection-history`);
    expect(reply).toMatchObject(refusal('malformed-record'));
    expect((reply.body as { detail: string }).detail).toContain('outcome');
  });
});

describe('support', () => {
  it.each(FLOAT_STATUSES)(
    'changes a float that is %s as the table allows, and the log says who and why',
    async (from) => {
      for (const status of SUPPORT_WISHES) {
        const float = await desk.standing(from);
        const reply = await patch(float, { status, reason: 'the member called' });
        if (!isLegalForFloat(from, status, 'support-changed')) {
          expect(reply, `${from} → ${status}`).toMatchObject(refusal('illegal-transition'));
          expect(await desk.row(float)).toEqual(float);
          expect(await desk.log(float)).toEqual([]);
          continue;
        }
        const { lastRunTime } = await desk.row(float);
        expect(reply, `${from} → ${status}`).toMatchObject({
          status: 200,
          body: { float_id: float.floatId, status, last_run_time: String(lastRunTime) },
        });
        expect((await get(float, `floats/${float.floatId}/collection-history`)).body).toMatchObject({
          collection_history: [
            {
              process: 'SUPPORT',
              outcome: { COMPLETED: 'COMPLETED', DEFAULTED: 'DEFAULTED', RETRY: 'RETURNED' }[status],
              run_time: String(lastRunTime),
              method: null,
              attempt_id: null,
              support_who: 'operator-name',
              support_reason: 'the member called',
            },
          ],
        });
      }
    },
  );

  it('need not say why, and who it was is in the log of the process', async () => {
    const float = await desk.float();
    expect(await patch(float, { status: 'RETRY' })).toMatchObject({ status: 200 });
    expect(await desk.log(float)).toMatchObject([{ said: { who: 'operator-name', reason: null } }]);
    expect(lines).toContainEqual({
      message: 'support changed a float',
      fields: expect.objectContaining({
        by: 'operator-name',
        floatId: float.floatId,
        status: 'RETRY',
      }) as object,
    });
  });

  it('opens and closes what the member has to pay back', async () => {
    const float = await desk.float();
    for (const [status, open] of [
      ['DEFAULTED', []],
      ['RETRY', [float.floatId]],
      ['COMPLETED', []],
    ] as const) {
      expect(await patch(float, { status })).toMatchObject({ status: 200 });
      expect(await openOf(float)).toEqual(open);
    }
    expect(await get(float, 'floats/active')).toMatchObject(refusal('not-found', 404));
    expect((await desk.log(float)).map(({ outcome }) => outcome)).toEqual([
      'DEFAULTED',
      'RETURNED',
      'COMPLETED',
    ]);
  });

  it('never while a charge has no answer', async () => {
    const float = await desk.float();
    const match = { user_id: float.userId };
    await system.here.faults([{ id: 'lost', service: 'payments', fault: 'error-before', match }]);
    expect(await desk.collect('TODAY6AM', float)).toMatchObject({ verdict: 'unknown' });
    const before = await desk.row(float);
    for (const status of SUPPORT_WISHES) {
      expect(await patch(float, { status })).toMatchObject(refusal('attempt-open'));
    }
    expect(await desk.row(float)).toEqual(before);
    expect(await desk.log(float)).toEqual([]);
  });

  it('not while somebody else works on the member’s floats', async () => {
    const float = await desk.float();
    const reply = await whileBusy(float, () => patch(float, { status: 'COMPLETED' }));
    expect(reply).toMatchObject(refusal('user-busy'));
    expect(reply.headers.get('retry-after')).toBe('5');
    expect(await desk.row(float)).toEqual(float);
  });

  it('not what is somebody else’s, or nowhere', async () => {
    const [float, other] = [await desk.float(), await desk.float()];
    for (const ref of [
      { ...float, userId: other.userId },
      { ...float, floatId: randomUUID() as FloatId },
    ])
      expect(await patch(ref, { status: 'COMPLETED' })).toMatchObject(refusal('not-found', 404));
    expect(await desk.row(float)).toEqual(float);
  });

  it.each([
    ['status', {}],
    ['status', { status: 'SCHEDULING' satisfies FloatStatus }],
    ['status', { status: 'ACHSENT' satisfies FloatStatus }],
    ['status', { status: 'completed' }],
    ['status', { status: null }],
    ['reason', { status: 'RETRY', reason: ' ' }],
    ['reason', { status: 'RETRY', reason: 7 }],
    ['reason', { status: 'RETRY', reason: 'x'.repeat(501) }],
    ['amount', { status: 'RETRY', amount: '1.00' }],
  ])('not with this %s: %j', async (field, body) => {
    const float = await desk.float();
    const reply = await patch(float, body);
    expect(reply).toMatchObject(refusal('invalid-request', 400));
    expect(reply.body).toMatchObject({ errors: [{ in: 'body', field }] });
    expect(await desk.row(float)).toEqual(float);
  });
});

describe('a bypass', () => {
  const until = (expiration_date: string) => ({ expiration_date, reason: 'vouched for' });

  it('is given, shown, replaced and taken back; who did it is in the log', async () => {
    const who = await member();
    expect(await bypass(who, 'GET')).toMatchObject(refusal('not-found', 404));
    expect(await bypass(who, 'POST', until('2026-12-31'))).toMatchObject({ status: 201 });
    const body = { user_id: who.userId, expiration_date: '2026-11-20', reason: 'vouched for', active: true };
    expect(await bypass(who, 'POST', until('2026-11-20'))).toMatchObject({ status: 201, body });
    expect((await get(who, 'bypass')).body).toEqual(body);
    expect(await bypass(who, 'DELETE')).toMatchObject({ status: 200, body: { removed: who.userId } });
    expect(await bypass(who, 'DELETE')).toMatchObject(refusal('not-found', 404));
    expect(await bypass(who, 'GET')).toMatchObject(refusal('not-found', 404));
    const told = lines.filter(({ fields }) => fields['userId'] === who.userId);
    expect(told.map(({ message, fields }) => [message, fields['by']])).toEqual([
      ['a bypass was given', 'operator-name'],
      ['a bypass was given', 'operator-name'],
      ['a bypass was taken back', 'operator-name'],
    ]);
    expect(JSON.stringify(told)).not.toContain('vouched');
  });

  it('counts on its last day', async () => {
    const who = await member(NO_ACCOUNT);
    expect(await bypass(who, 'POST', until('2026-11-16'))).toMatchObject({
      status: 201,
      body: { active: true },
    });
    expect(await create(who)).toMatchObject({ status: 201 });
  });

  it('does not count on the day after, and is shown as inactive', async () => {
    const who = await member(NO_ACCOUNT);
    await bypasses.save({ userId: who.userId, expirationDate: day('2026-11-15'), reason: 'vouched for' });
    expect(await get(who, 'bypass')).toMatchObject({
      status: 200,
      body: { expiration_date: '2026-11-15', active: false },
    });
    expect(await create(who)).toMatchObject(refusal('requirements-not-met'));
  });

  it('skips nothing but the requirements', async () => {
    const [inactive, owing] = [await member({ status: 'PAUSED' }), await member()];
    await desk.float({}, owing);
    for (const who of [inactive, owing]) await bypass(who, 'POST', until('2026-11-16'));
    expect(codeOf(await create(inactive))).toBe('no-active-subscription');
    expect(codeOf(await create(owing, { ...ADVANCE, amount: '250.01' }))).toBe('over-limit');
    expect(codeOf(await create(owing))).toBe('open-float');
  });

  it.each([
    ['expiration_date', until('2026-11-15')],
    ['expiration_date', until('2026-02-30')],
    ['expiration_date', until('tomorrow')],
    ['expiration_date', { ...until(''), expiration_date: 20261231 }],
    ['expiration_date', { reason: 'vouched for' }],
    ['reason', { expiration_date: '2026-12-31' }],
    ['reason', { expiration_date: '2026-12-31', reason: '' }],
    ['reason', { expiration_date: '2026-12-31', reason: { why: 'not' } }],
    ['active', { ...until('2026-12-31'), active: true }],
  ])('is refused for its %s: %j', async (field, body) => {
    const who = await member();
    const reply = await bypass(who, 'POST', body);
    expect(reply).toMatchObject(refusal('invalid-request', 400));
    expect(reply.body).toMatchObject({ errors: [{ in: 'body', field }] });
    expect(await bypasses.get(who.userId)).toBeNull();
  });
});

describe('who may do what', () => {
  const EVERYBODY = ['viewer', 'service', 'operator'] as const;

  it.each([
    ['GET', 'floats', 0],
    ['GET', 'floats/active', 0],
    ['GET', 'floats/FLOAT', 0],
    ['GET', 'floats/FLOAT/collection-history', 0],
    ['GET', 'bypass', 0],
    ['POST', 'floats/FLOAT/payback', 1],
    ['POST', 'floats', 2],
    ['PATCH', 'floats/FLOAT', 2],
    ['POST', 'bypass', 2],
    ['DELETE', 'bypass', 2],
  ])('%s %s', async (method, rest, least) => {
    const { userId, floatId } = await desk.standing('ACHSENT');
    const path = `/v1/${userId}/${rest.replace('FLOAT', floatId)}`;
    const body = method === 'GET' ? {} : { body: { surprise: true } };
    const statuses = await Promise.all(
      EVERYBODY.map(async (as) => (await client.call(method, path, { as, ...body })).status),
    );
    expect(statuses.map((status) => status !== 403)).toEqual(EVERYBODY.map((_, i) => i >= least));
    expect(await client.call(method, path, { as: null, ...body })).toMatchObject(
      refusal('unauthenticated', 401),
    );
  });
});
