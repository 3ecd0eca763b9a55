import { randomUUID } from 'node:crypto';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AccountId, RecurringId } from '../../../src/domain/recurring/recurring.ts';
import { recurringLockKey } from '../../../src/ports/lock.ts';
import type { Log } from '../../../src/ports/log.ts';
import type { ApiClient, CallOptions, Reply } from '../../support/api.ts';
import { api } from '../../support/api.ts';
import { day } from '../../support/floats.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';
import type { RecurringDesk } from '../../support/recurring-desk.ts';
import { recurringDesk } from '../../support/recurring-desk.ts';
import { at } from '../../support/records.ts';
import { debits } from '../../support/world.ts';

/** Today is Monday, 16 November 2026. */
let system: Pipeline;
let client: ApiClient;
let desk: RecurringDesk;
const lines: string[] = [];

beforeAll(async () => {
  system = await pipeline();
  desk = recurringDesk(system.here);
  const note = (fields: object, message: string): void =>
    void lines.push(JSON.stringify({ fields, message }));
  const log: Log = { debug: note, info: note, warn: note, error: note, child: () => log };
  client = await api({ ...system.environment, API_RATE_PER_MINUTE: '100000' }, log);
});
afterAll(async () => {
  await client.close();
  await system.close();
});
afterEach(async () => {
  system.here.now = at('2026-11-16T08:00:00Z');
  await system.here.faults([]);
});

const WISH = {
  sku: 'sku-1',
  email: 'someone@example.com',
  payment_amount: '9.99',
  payment_token: 'tok_9f3c2a10',
};

interface View {
  readonly subscription_id: RecurringId;
  readonly account_id: AccountId;
  readonly status: string;
  readonly next_payment_date: string | null;
  readonly next_reminder_date: string | null;
}
const viewOf = ({ body }: Reply): View => body as View;
const refOf = (reply: Reply) => {
  const { account_id: accountId, subscription_id: recurringId } = viewOf(reply);
  return { accountId, recurringId };
};

const path = (accountId: string, rest = ''): string => `/v1/accounts/${accountId}/recurring${rest}`;
const create = (accountId: string, body: unknown = WISH, options: CallOptions = {}): Promise<Reply> =>
  client.call('POST', path(accountId), { body, ...options });
const get = (accountId: string, rest = ''): Promise<Reply> =>
  client.call('GET', path(accountId, rest), { as: 'viewer' });
const change = (of: Reply, body: unknown): Promise<Reply> =>
  client.call('PATCH', path(viewOf(of).account_id, `/${viewOf(of).subscription_id}`), { body });
const cancel = (of: Reply): Promise<Reply> =>
  client.call('POST', path(viewOf(of).account_id, `/${viewOf(of).subscription_id}/cancel`));
const fieldsOf = ({ body }: Reply): string[] =>
  ((body as { errors?: { field: string }[] }).errors ?? []).map(({ field }) => field);

describe('a recurring payment', () => {
  it('begins with the days on which it is told of and paid', async () => {
    const accountId = await desk.account();
    const reply = await create(accountId, { ...WISH, payment_day: 31, payment_details: { brand: 'Visa' } });
    expect(reply).toMatchObject({ status: 201 });
    const { subscription_id: id, ...view } = viewOf(reply);
    expect(view).toEqual({
      account_id: accountId,
      sku: 'sku-1',
      status: 'ACTIVE',
      email: 'someone@example.com',
      payment_amount: '9.99',
      payment_day: 31,
      payment_token: '…2a10',
      payment_details: { brand: 'Visa' },
      period_date: '2026-11-30',
      next_payment_date: '2026-11-30',
      next_reminder_date: '2026-11-23',
      last_payment_date: '2026-11-16T08:00:00Z',
      last_reminder_date: '2026-11-16T08:00:00Z',
      failed_tries: 0,
      error: '',
      created_date: '2026-11-16T08:00:00Z',
    });
    expect(await get(accountId)).toMatchObject({
      status: 200,
      body: { subscriptions: [{ subscription_id: id }], unreadable: [] },
    });
    expect(await get(accountId, `/${id}`)).toMatchObject({ status: 200, body: view });
    expect((await desk.recurring.changesOf(refOf(reply))).map(({ cause, by }) => [cause, by])).toEqual([
      ['created', 'operator-name'],
    ]);
    expect(await desk.told({ accountId })).toEqual([]);
  });

  it('that is nearer than its reminder would be is told of at once, and then charged', async () => {
    const accountId = await desk.account();
    const reply = await create(accountId, { ...WISH, start_date: '2026-11-16' });
    expect(viewOf(reply)).toMatchObject({
      next_payment_date: '2026-11-16',
      next_reminder_date: null,
      payment_day: 16,
    });
    expect(await desk.told({ accountId })).toHaveLength(1);
    expect(await desk.collect(refOf(reply))).toMatchObject({ verdict: 'collected' });
  });

  it('begins also while nobody can be told; the next run of reminders does it', async () => {
    const accountId = await desk.account();
    await system.here.faults([{ id: 'down', service: 'notifications', fault: 'error-before' }]);
    const reply = await create(accountId);
    expect(reply).toMatchObject({ status: 201, body: { next_reminder_date: '2026-11-16' } });
    expect(await desk.collect(refOf(reply))).toMatchObject({ reason: 'reminder-not-sent' });
  });

  it('is the same one under the same key, and another under another', async () => {
    const accountId = await desk.account();
    const key = randomUUID();
    const send = (body: unknown = WISH) => create(accountId, body, { headers: { 'idempotency-key': key } });
    const [first, second] = [await send(), await send()];
    expect(viewOf(second)).toEqual(viewOf(first));
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await send({ ...WISH, sku: 'other' })).toMatchObject({
      status: 409,
      body: { code: 'idempotency-conflict' },
    });
    await create(accountId);
    const { body } = await get(accountId);
    expect((body as { subscriptions: unknown[] }).subscriptions).toHaveLength(2);
    expect(await desk.told({ accountId })).toHaveLength(2);
  });

  it('is not begun for an account that nobody knows or charges', async () => {
    expect(await create('nobody')).toMatchObject({ status: 404, body: { code: 'not-found' } });
    const banned = await desk.account({ status: 'BANNED' });
    expect(await create(banned)).toMatchObject({ status: 409, body: { code: 'user-not-eligible' } });
    expect(await get(banned)).toMatchObject({ body: { subscriptions: [] } });
  });

  it('is begun, changed and ended by nobody else than operators', async () => {
    const accountId = await desk.account();
    const reply = await create(accountId);
    const rest = `/${viewOf(reply).subscription_id}`;
    for (const as of ['viewer', 'service'] as const) {
      expect(await create(accountId, WISH, { as })).toMatchObject({ status: 403 });
      expect(await client.call('PATCH', path(accountId, rest), { as, body: { sku: 'x' } })).toMatchObject({
        status: 403,
      });
      expect(await client.call('POST', path(accountId, `${rest}/cancel`), { as })).toMatchObject({
        status: 403,
      });
    }
  });
});

describe('what is refused', () => {
  let accountId: AccountId;
  beforeAll(async () => {
    accountId = await desk.account();
  });

  it.each([
    ['payment_amount', '0.00'],
    ['payment_amount', '-1.00'],
    ['payment_amount', '1'],
    ['payment_amount', '1.999'],
    ['payment_amount', 9.99],
    ['payment_amount', '99999999.00'],
    ['payment_day', 0],
    ['payment_day', 32],
    ['payment_day', 1.5],
    ['payment_day', '1'],
    ['start_date', '2026-11-15'],
    ['start_date', '2027-11-18'],
    ['start_date', '2026-02-30'],
    ['start_date', '16.11.2026'],
    ['sku', ''],
    ['sku', 'a#b'],
    ['sku', 'x'.repeat(65)],
    ['email', 'nobody'],
    ['payment_token', ''],
    ['payment_token', 'two words'],
    ['payment_details', { token: 'x' }],
    ['payment_details', { Brand: 'x' }],
    ['colour', 'blue'],
  ])('%s as %j, with the name of the field', async (field, value) => {
    const reply = await create(accountId, { ...WISH, [field]: value });
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
    expect(fieldsOf(reply).map((name) => name.split('.')[0])).toEqual([field]);
  });

  it('a wish without what it needs', async () => {
    expect(fieldsOf(await create(accountId, {})).sort()).toEqual([
      'email',
      'payment_amount',
      'payment_token',
      'sku',
    ]);
  });

  it.each(['2026-11-16', '2027-11-17'])('but not a start on %s', async (start) => {
    expect(await create(accountId, { ...WISH, start_date: start })).toMatchObject({ status: 201 });
  });

  it.each([
    ['payment_token', '4111111111111111'],
    ['payment_token', 'tok_4242424242424242'],
    ['payment_token', '4242-4242-4242-4242'],
    ['payment_details', { number: '4111 1111 1111 1111' }],
    ['payment_details', { note: 'card 378282246310005, expires 12/27' }],
    ['payment_token', '4242.4242.4242.4242'],
    ['payment_details', { note: '\u0664\u0661\u0661\u0661 1111 1111 1111' }],
    ['payment_details', { card_4242424242424242: 'x' }],
  ])('a card number in %s: %j', async (field, value) => {
    const begun = await create(accountId, { ...WISH, [field]: value });
    const own = await create(accountId);
    for (const reply of [begun, await change(own, { [field]: value })]) {
      expect(reply).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
      expect(fieldsOf(reply)[0]).toMatch(new RegExp(`^${field}`));
      const told = JSON.stringify(reply.body);
      expect(told).toContain('card number');
      expect(told.replaceAll(/\D/g, '')).not.toMatch(/4111111111111111|4242424242424242|378282246310005/);
    }
  });

  it('and no card number is ever kept or written to a log, however it is written', async () => {
    const spaced = fc
      .array(fc.constantFrom('', '', '', '-'), { minLength: 15, maxLength: 15 })
      .map((gaps) => [...'4242424242424242'].map((digit, n) => `${digit}${gaps[n] ?? ''}`).join(''));
    const around = fc.constantFrom('', 'tok_', 'x.', 'a-1-');
    await fc.assert(
      fc.asyncProperty(around, spaced, around, async (before, card, behind) => {
        const reply = await create(accountId, { ...WISH, payment_token: `${before}${card}${behind}` });
        expect(reply.status).toBe(400);
      }),
      { numRuns: 40 },
    );
    const { Items = [] } = await system.here.store.client.send(
      new ScanCommand({ TableName: system.here.store.tables.recurring, ConsistentRead: true }),
    );
    const kept = `${JSON.stringify(Items)}${lines.join('')}`;
    expect(kept).not.toMatch(/4242[- ]?4242[- ]?4242[- ]?4242/);
    expect(lines.join('')).not.toContain('tok_9f3c2a10');
    expect(lines.join('')).not.toContain('someone@example.com');
  });
});

it('what others have stored is shown without what may be a card number', async () => {
  const one = await desk.subscription(
    {},
    { paymentDetails: { 'default-card': '4242424242424242', brand: 'Visa' } },
  );
  const { body } = await get(one.accountId, `/${one.recurringId}`);
  expect(body).toMatchObject({ payment_details: { 'default-card': '…4242', brand: 'Visa' } });
});

describe('a change', () => {
  const upcoming = { ...WISH, payment_day: 20, start_date: '2026-12-01' };

  it('takes amount, SKU, token and day, and says who asked for it', async () => {
    const reply = await create(await desk.account(), upcoming);
    const changed = await change(reply, {
      payment_amount: '19.99',
      sku: 'sku-2',
      payment_token: 'tok_another',
      payment_day: 31,
    });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        payment_amount: '19.99',
        sku: 'sku-2',
        payment_token: '…ther',
        payment_day: 31,
        next_payment_date: '2026-12-31',
        next_reminder_date: '2026-12-24',
      },
    });
    const { accountId } = refOf(reply);
    const { subscriptions } = await desk.recurring.getSubscriptionsByAccount(accountId);
    expect(subscriptions).toMatchObject([{ sku: 'sku-2', paymentToken: 'tok_another' }]);
    const changes = await desk.recurring.changesOf(refOf(reply));
    expect(changes.map(({ cause, by }) => [cause, by])).toEqual([
      ['created', 'operator-name'],
      ['changed', 'operator-name'],
    ]);
  });

  it('that brings the payment near is told of at once', async () => {
    const reply = await create(await desk.account(), { ...WISH, payment_day: 30 });
    expect(viewOf(reply).next_payment_date).toBe('2026-11-30');
    const changed = await change(reply, { payment_day: 18 });
    expect(viewOf(changed)).toMatchObject({ next_payment_date: '2026-11-18', next_reminder_date: null });
    expect(await desk.told(refOf(reply))).toMatchObject([
      { dedupe_key: expect.stringContaining('.2026-11-18.') as string },
    ]);
  });

  it('of what is charged is told of anew, and nobody is charged before', async () => {
    const reply = await create(await desk.account(), { ...WISH, payment_day: 16 });
    expect(await desk.told(refOf(reply))).toHaveLength(1);
    // More, less, as it was before, and for something else: on one day, by a clock that stands still.
    for (const [n, body] of [
      { payment_amount: '99.99' },
      { payment_amount: '1.00' },
      { payment_amount: '9.99' },
      { sku: 'sku-2' },
    ].entries()) {
      expect(viewOf(await change(reply, body))).toMatchObject({ ...body, next_reminder_date: null });
      const told = await desk.told(refOf(reply));
      expect(told.map(({ duplicate }) => duplicate)).toEqual(Array(n + 2).fill(false));
    }
    await system.here.faults([{ id: 'down', service: 'notifications', fault: 'error-before' }]);
    const untold = await change(reply, { payment_amount: '99.99' });
    expect(viewOf(untold)).toMatchObject({ next_reminder_date: '2026-11-16' });
    expect(await desk.collect(refOf(reply))).toMatchObject({ reason: 'reminder-not-sent' });
    await system.here.faults([]);
    await desk.remind(refOf(reply));
    expect(await desk.collect(refOf(reply))).toMatchObject({ verdict: 'collected', amount: 9_999 });
  });

  it('of what was put off is told of before it is charged, too: to ask for a reminder tells nobody', async () => {
    const overdue = { periodDate: day('2026-11-10'), nextPaymentDate: day('2026-11-10') };
    const { accountId, recurringId } = await desk.subscription({}, overdue);
    const reply = await get(accountId, `/${recurringId}`);
    await system.here.faults([{ id: 'down', service: 'notifications', fault: 'error-before' }]);
    for (const body of [{ payment_amount: '99.99' }, { sku: 'sku-2' }]) {
      expect(viewOf(await change(reply, body))).toMatchObject({
        next_payment_date: '2026-11-16',
        next_reminder_date: '2026-11-16',
      });
      expect(await desk.collect(refOf(reply))).toMatchObject({ reason: 'reminder-not-sent' });
    }
    await system.here.faults([]);
    await desk.remind(refOf(reply));
    expect(await desk.collect(refOf(reply))).toMatchObject({ verdict: 'collected', amount: 9_999 });
  });

  it('of what is charged is refused while a declined payment is owed; its token may change', async () => {
    const reply = await create(await desk.account({ pinless: { mode: 'decline', code: '05' } }));
    expect(await desk.collect(refOf(reply))).toMatchObject({ verdict: 'declined' });
    for (const body of [{ payment_amount: '99.99' }, { sku: 'sku-2' }])
      expect(await change(reply, body)).toMatchObject({ status: 409, body: { code: 'payment-owed' } });
    expect(await change(reply, { payment_token: 'tok_another' })).toMatchObject({
      status: 200,
      body: { payment_amount: '9.99', sku: 'sku-1', payment_token: '…ther' },
    });
  });

  it('of nothing, or of something else, is refused', async () => {
    const reply = await create(await desk.account(), upcoming);
    expect(await change(reply, {})).toMatchObject({ status: 400 });
    for (const body of [{ email: 'new@example.com' }, { status: 'ACTIVE' }, { start_date: '2026-12-24' }])
      expect(fieldsOf(await change(reply, body))).toContain(Object.keys(body)[0]);
  });

  it('waits while somebody works on the account, or a charge has no answer', async () => {
    const reply = await create(await desk.account());
    const { accountId } = refOf(reply);
    const acquired = await system.here.dependencies.locks.acquire(recurringLockKey(accountId));
    expect(await change(reply, { sku: 'x' })).toMatchObject({ status: 409, body: { code: 'user-busy' } });
    if ('lock' in acquired) await acquired.lock.release();
    await system.here.faults([{ id: 'lost', service: 'payments', fault: 'error-after' }]);
    expect(await desk.collect(refOf(reply))).toMatchObject({ verdict: 'unknown' });
    await system.here.faults([]);
    expect(await change(reply, { sku: 'x' })).toMatchObject({ status: 409, body: { code: 'attempt-open' } });
    // Whoever wants to leave leaves.
    expect(await cancel(reply)).toMatchObject({ status: 200, body: { status: 'CANCELLED' } });
    expect(debits(await desk.ledger(await desk.row(refOf(reply))))).toBe(1);
  });
});

describe('an end', () => {
  it('takes it out of both lists, and can be asked for again', async () => {
    const reply = await create(await desk.account());
    const ended = await cancel(reply);
    expect(ended).toMatchObject({
      status: 200,
      body: { status: 'CANCELLED', next_payment_date: null, next_reminder_date: null },
    });
    expect(await cancel(reply)).toMatchObject({ status: 200, body: viewOf(ended) });
    expect(await desk.collect(refOf(reply))).toMatchObject({ verdict: 'no-op' });
    expect(await change(reply, { sku: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'subscription-over' },
    });
  });
});

describe('receipts', () => {
  it('are listed newest first, page by page, and one by its number', async () => {
    const accountId = await desk.account();
    const replies = [];
    for (const sku of ['sku-1', 'sku-2', 'sku-3']) replies.push(await create(accountId, { ...WISH, sku }));
    for (const reply of replies) await desk.collect(refOf(reply));
    const page = async (rest: string) =>
      (await get(accountId, `/receipts${rest}`)).body as {
        receipts: { receipt_number: string; sku: string }[];
        next: string | null;
      };
    const first = await page('?limit=2');
    expect(first.receipts.map(({ receipt_number: number, sku }) => [number, sku])).toEqual([
      ['0000000003', 'sku-3'],
      ['0000000002', 'sku-2'],
    ]);
    const second = await page(`?limit=2&after=${first.next}`);
    expect(second.receipts.map(({ sku }) => sku)).toEqual(['sku-1']);
    const one = {
      receipt_number: '0000000001',
      account_id: accountId,
      subscription_id: viewOf(replies[0]!).subscription_id,
      sku: 'sku-1',
      email: 'someone@example.com',
      period_date: '2026-11-16',
      processed_date: '2026-11-16T08:00:00Z',
      processed_amount: '9.99',
      expires_at: '2028-11-15T08:00:00Z',
    };
    for (const number of ['1', '0000000001'])
      expect(await get(accountId, `/receipts/${number}`)).toMatchObject({ status: 200, body: one });
    expect(await get(accountId, '/receipts/4')).toMatchObject({ status: 404 });
    expect(await get(await desk.account(), '/receipts/1')).toMatchObject({ status: 404 });
    expect(fieldsOf(await get(accountId, '/receipts/x'))).toEqual(['receipt_number']);
    expect(fieldsOf(await get(accountId, '/receipts?limit=0'))).toEqual(['limit']);
    expect(fieldsOf(await get(accountId, '/receipts?after=nonsense'))).toEqual(['after']);
  });
});
