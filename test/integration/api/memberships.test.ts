import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoBans } from '../../../src/adapters/dynamodb/bans.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import { cents } from '../../../src/domain/money.ts';
import type { BillingStatus, Subscription, UserId } from '../../../src/domain/subscription.ts';
import { BILLING_STATUSES } from '../../../src/domain/subscription.ts';
import type { MembershipApi } from '../../support/membership-api.ts';
import { membershipApi } from '../../support/membership-api.ts';
import { TICK } from '../../support/pipeline.ts';
import { at } from '../../support/records.ts';

let on: MembershipApi;

beforeAll(async () => {
  on = await membershipApi({ OWNED_USERS: 'all' });
});
afterAll(() => on.close());

const STATUSES = BILLING_STATUSES.filter((status) => status !== 'INACTIVE');
const DECEMBER = at('2026-12-16T06:00:00Z');

const member = async (fields: Partial<Subscription> = {}, settings: object = {}) =>
  (await on.desk.member([fields], settings))[0]!;

const patch = ({ userId, subscriptionId }: Subscription, body: unknown) =>
  on.send('PATCH', { userId }, `subscriptions/${subscriptionId}`, body);

const refusal = (code: string, status = 409) => ({ status, body: { code, status } });

describe('support changes the status of a record', () => {
  const ALLOWED = new Set([
    'SCHEDULED → SCHEDULED',
    'SCHEDULED → PAUSED',
    'SCHEDULED → CANCELLED',
    'SCHEDULED → WAIVED',
    'PAUSED → PAUSED',
    'PAUSED → SCHEDULED',
    'PAUSED → CANCELLED',
    'PAUSED → WAIVED',
    'ERROR → ERROR',
    'ERROR → SCHEDULED',
    'ERROR → CANCELLED',
    'ERROR → WAIVED',
  ]);

  it.each(STATUSES)('from %s only as the table allows', async (from) => {
    for (const to of STATUSES) {
      const record = await member({ billingStatus: from });
      const reply = await patch(record, { billing_status: to, reason: 'asked for' });
      const row = await on.here.row(record);
      if (ALLOWED.has(`${from} → ${to}`)) {
        expect(reply, `${from} → ${to}`).toMatchObject({ status: 200, body: { billing_status: to } });
        expect(row.billingStatus).toBe(to);
      } else {
        expect(reply, `${from} → ${to}`).toMatchObject(refusal('illegal-transition'));
        expect(row).toEqual(record);
      }
    }
  });

  it('and another date, in one transaction, as the history tells', async () => {
    const record = await on.here.member({ pinless: { mode: 'decline', code: '14' } });
    await on.here.collect('INITIAL', record);
    const reply = await patch(record, {
      billing_status: 'SCHEDULED',
      billing_date: '2026-11-20',
      reason: 'payday',
    });
    expect(reply).toMatchObject({
      status: 200,
      body: { billing_status: 'SCHEDULED', billing_date: '2026-11-20T06:00:00Z', billing_period: '11/2026' },
    });
    expect((await on.here.partition(record.userId)).map(({ subscriptionId }) => subscriptionId)).toHaveLength(
      2,
    );
    expect((await on.history(record)).at(-1)).toMatchObject({
      data_cause: 'support-changed',
      data_who: 'operator-name',
      data_reason: 'payday',
      billing_date: '2026-11-20T06:00:00Z',
    });
    expect(await on.violations(record)).toEqual([]);
  });

  it.each<[BillingStatus, string]>([
    ['SCHEDULED', '2026-12-01T23:00:00Z'],
    ['PAUSED', '2026-12-01'],
    ['ERROR', '2026-11-14'],
  ])('the due date of one that is %s', async (billingStatus, billing_date) => {
    const record = await member({ billingStatus });
    const day = billing_date.slice(0, 10);
    expect(await patch(record, { billing_date })).toMatchObject({
      status: 200,
      body: { billing_status: billingStatus, billing_date: `${day}T06:00:00Z` },
    });
    expect(await on.here.partition(record.userId)).toHaveLength(1);
  });

  it('but not to a date on which, or behind which, another period stands', async () => {
    const [first] = await on.desk.member([{}, { billingDate: DECEMBER }]);
    for (const billing_date of ['2026-12-16', '2027-01-04']) {
      expect(await patch(first!, { billing_date })).toMatchObject(refusal('period-taken'));
    }
    expect(await on.here.row(first!)).toEqual(first);
  });

  it.each<[BillingStatus]>([['ACHSENT'], ['COMPLETED'], ['WAIVED'], ['CANCELLED'], ['STALE'], ['REFUNDED']])(
    'never the date of one that is %s',
    async (billingStatus) => {
      const record = await member({ billingStatus });
      expect(await patch(record, { billing_date: '2026-12-01' })).toMatchObject(
        refusal('illegal-transition'),
      );
      expect(await on.here.row(record)).toEqual(record);
    },
  );

  it('pauses it for one to three months, or without an end', async () => {
    for (const [asked, kept] of [
      [1, 1],
      [3, 3],
      [0, -1],
      [-5, -1],
    ]) {
      const record = await member();
      expect(await patch(record, { billing_status: 'PAUSED', pause_duration_months: asked })).toMatchObject({
        status: 200,
        body: { pause_duration_months: kept, updated_event: 'SUB_PAUSED' },
      });
      expect(await patch(record, { billing_status: 'SCHEDULED' })).toMatchObject({
        body: { pause_duration_months: 0, updated_event: 'pause-resume' },
      });
    }
  });

  it('what is so already is answered, and leaves no trace', async () => {
    const record = await member();
    expect(await patch(record, { billing_status: 'SCHEDULED' })).toMatchObject({ status: 200 });
    expect(await on.history(record)).toHaveLength(1);
  });

  it('never while a charge has no answer', async () => {
    const record = await on.here.member();
    await on.loseAnswers(record, 'payments');
    expect(await on.here.collect('INITIAL', record)).toMatchObject({ verdict: 'unknown' });
    const before = await on.here.row(record);
    for (const body of [{ billing_status: 'CANCELLED' }, { billing_date: '2026-12-01' }]) {
      expect(await patch(record, body)).toMatchObject(refusal('attempt-open'));
    }
    expect(await on.send('POST', record, `subscriptions/${record.subscriptionId}/waive`, {})).toMatchObject(
      refusal('attempt-open'),
    );
    expect(await on.here.row(record)).toEqual(before);
    await on.settle(record);
    expect(await on.violations(record)).toEqual([]);
  });

  it('not while somebody else works on the member', async () => {
    const record = await member();
    await on.here.store.takeLock(record.userId);
    const reply = await patch(record, { billing_status: 'CANCELLED' });
    expect(reply).toMatchObject(refusal('user-busy'));
    expect(reply.headers.get('retry-after')).toBe('5');
    await on.here.store.releaseLock(record.userId);
    expect(await patch(record, { billing_status: 'CANCELLED' })).toMatchObject({ status: 200 });
  });

  it.each([
    [{}],
    [{ billing_status: 'INACTIVE' }],
    [{ billing_status: 'PAUSED', pause_duration_months: 4 }],
    [{ billing_status: 'PAUSED', pause_duration_months: 1.5 }],
    [{ billing_status: 'CANCELLED', billing_date: '2026-12-01' }],
    [{ billing_date: '2026-02-30' }],
    [{ billing_date: 17 }],
    // Thirty days back to four hundred ahead: beyond, it is a slip of the pen.
    [{ billing_date: '2026-10-16' }],
    [{ billing_date: '2027-12-22' }],
    [{ billing_date: '9999-12-31' }],
    [{ billing_status: 'CANCELLED', amount: '0.00' }],
    [{ billing_status: 'CANCELLED', reason: ' ' }],
  ])('not with %j', async (body) => {
    expect(await patch(await member(), body)).toMatchObject(refusal('invalid-request', 400));
  });

  it('of nobody else, and only by an operator', async () => {
    const [record, other] = [await member(), await member()];
    const path = `subscriptions/${record.subscriptionId}`;
    const body = { billing_status: 'CANCELLED' };
    expect(await on.send('PATCH', other, path, body)).toMatchObject(refusal('not-found', 404));
    const url = `/v1/${record.userId}/${path}`;
    expect(await on.call('PATCH', url, { as: 'service', body })).toMatchObject(refusal('forbidden', 403));
    expect(await on.call('PATCH', url, { as: null, body })).toMatchObject(refusal('unauthenticated', 401));
    expect(await on.here.row(record)).toEqual(record);
  });
});

describe('a waiver', () => {
  const waive = ({ userId, subscriptionId }: Subscription, body: unknown = {}) =>
    on.send('POST', { userId }, `subscriptions/${subscriptionId}/waive`, body);

  it('lets the member off one period, and the next one comes', async () => {
    const record = await on.here.member();
    expect(await waive(record, { reason: 'goodwill' })).toMatchObject({
      status: 200,
      body: { billing_status: 'WAIVED', completion_date: expect.any(String) as string },
    });
    const [, next] = await on.here.partition(record.userId);
    expect(next).toMatchObject({ billingStatus: 'SCHEDULED', billingDate: DECEMBER });
    expect((await on.history(record)).at(-1)).toMatchObject({
      data_who: 'operator-name',
      data_reason: 'goodwill',
    });
    expect(await on.violations(record)).toEqual([]);
    expect(await waive(record)).toMatchObject(refusal('illegal-transition'));
  });

  it('of a period that was tried opens no second one', async () => {
    const record = await on.here.member({ pinless: { mode: 'decline', code: '14' } });
    await on.here.collect('INITIAL', record);
    expect(await waive(record)).toMatchObject({ status: 200 });
    expect(await on.here.partition(record.userId)).toHaveLength(2);
    expect(await on.violations(record)).toEqual([]);
  });
});

describe('activation', () => {
  const activate = (user: { readonly userId: UserId }, body?: unknown) =>
    on.send('PUT', user, 'subscriptions/activate', body);

  it('schedules the first period after the trial, once, however often and at once it is asked for', async () => {
    const user = await on.user();
    const replies = await Promise.all([1, 2, 3].map(() => activate(user)));
    expect(replies.map(({ status }) => status)).toContain(200);
    const again = await activate(user);
    expect(again).toMatchObject({
      status: 200,
      body: {
        billing_status: 'SCHEDULED',
        billing_date: '2026-11-30T06:00:00Z',
        billing_amount: '4.99',
        term: 'MONTHLY',
        billing_week: null,
        receipt_tier_name: '',
      },
    });
    expect(await on.here.partition(user.userId)).toHaveLength(1);
    const { subscription_id } = again.body as { subscription_id: string };
    for (const { status, body } of replies) {
      expect(status === 200 ? (body as { subscription_id: string }).subscription_id : subscription_id).toBe(
        subscription_id,
      );
    }
    expect(await on.violations(user)).toEqual([]);
  });

  it('takes tier and version, term and Friday billing', async () => {
    expect(await activate(await on.user(), { tier: 'Plus', version: 'v1' })).toMatchObject({
      body: { billing_amount: '9.99', receipt_tier_name: 'Plus:v1' },
    });
    expect(await activate(await on.user(), { term: 'YEARLY', friday_billing: true })).toMatchObject({
      body: {
        billing_amount: '39.99',
        term: 'YEARLY',
        billing_week: 4,
        billing_date: '2026-11-27T06:00:00Z',
      },
    });
  });

  it('answers with the period to come of somebody who is a member', async () => {
    const record = await member();
    expect(await activate(record)).toMatchObject({
      status: 200,
      body: { subscription_id: record.subscriptionId },
    });
  });

  it.each([
    ['no such user', refusal('not-found', 404), { userId: 'nobody' as UserId }],
    ['half a tier', refusal('invalid-request', 400), {}, { tier: 'Plus' }],
    ['the other half', refusal('invalid-request', 400), {}, { version: 'v1' }],
    [
      'a tier that is not sold by the year',
      refusal('unpriced-tier'),
      {},
      { tier: 'Plus', version: 'v1', term: 'YEARLY' },
    ],
    ['a tier that nobody sells', refusal('unpriced-tier'), {}, { tier: 'constructor', version: 'name' }],
    ['somebody who is banned', refusal('user-not-eligible'), { status: 'BANNED' }],
  ] as [string, object, object, object?][])('is refused for %s', async (_, expected, user, body = {}) => {
    const who = 'userId' in user ? (user as { userId: UserId }) : await on.user(user);
    expect(await activate(who, body)).toMatchObject(expected);
    expect(await on.here.partition(who.userId)).toEqual([]);
  });

  it('does not bring back a membership that has ended', async () => {
    const record = await member({ billingStatus: 'CANCELLED' });
    expect(await activate(record)).toMatchObject(refusal('membership-ended'));
  });
});

describe('a downgrade', () => {
  const BASE = { tier: 'Base', version: 'v0' };
  const plus = { billingAmount: cents(999), receiptTierName: 'Plus:v1', billingDate: DECEMBER };
  const downgrade = (record: Pick<Subscription, 'userId'>, body: unknown = BASE) =>
    on.send('POST', record, 'subscriptions/downgrade', body);

  it('rewrites the period to come now; the flag goes with its first attempt', async () => {
    const record = await on.here.member({}, plus);
    expect(await downgrade(record)).toMatchObject({
      status: 200,
      body: {
        subscription_id: record.subscriptionId,
        billing_amount: '4.99',
        receipt_tier_name: 'Base:v0',
        is_pending_downgrade: true,
      },
    });
    expect((await on.history(record)).at(-1)).toMatchObject({
      data_cause: 'plan-changed',
      data_who: 'operator-name',
    });
    expect(await downgrade(record)).toMatchObject({ status: 200 });
    expect(await on.history(record)).toHaveLength(2);
    expect(await on.here.collect('BATCH', { ...record })).toMatchObject({ verdict: 'no-op' });
    expect(await on.here.collect('MANUAL_REPAYMENT', record)).toMatchObject({
      verdict: 'collected',
      amount: 499,
    });
    expect(await on.here.row(record)).toMatchObject({ isPendingDowngrade: false });
    expect(await on.violations(record)).toEqual([]);
  });

  it.each([
    ['to the same price', 'not-a-downgrade', [{}], BASE],
    ['to a higher price', 'not-a-downgrade', [{}], { tier: 'Plus', version: 'v1' }],
    ['to what nobody sells', 'unpriced-tier', [plus], { tier: 'Gold', version: 'v1' }],
    [
      'to what is not sold by the year',
      'unpriced-tier',
      [{ term: 'YEARLY' }],
      { tier: 'Plus', version: 'v1' },
    ],
    ['of what was tried', 'no-upcoming-period', [{ ...plus, initialRunDate: TICK }], BASE],
    ['of what is paused', 'no-upcoming-period', [{ ...plus, billingStatus: 'PAUSED' }], BASE],
    ['of what is over', 'no-upcoming-period', [{ ...plus, billingStatus: 'CANCELLED' }], BASE],
    [
      'of what is to be cancelled',
      'pending-cancellation',
      [{ ...plus, updatedEvent: 'PENDING_CANCELLATION' }],
      BASE,
    ],
    ['of nothing', 'no-upcoming-period', [], BASE],
  ] as [string, string, Partial<Subscription>[], object][])(
    '%s is refused',
    async (_, code, records, body) => {
      const [record] = await on.desk.member(records.length === 0 ? [{ billingStatus: 'STALE' }] : records);
      expect(await downgrade(record!, body)).toMatchObject(refusal(code));
      expect(await on.here.row(record!)).toEqual(record);
    },
  );

  it('waits while a charge has no answer', async () => {
    const record = await on.here.member({}, plus);
    await on.loseAnswers(record, 'payments');
    await on.here.collect('MANUAL_REPAYMENT', record);
    expect(await downgrade(record)).toMatchObject(refusal('attempt-open'));
  });
});

describe('billing details and the active term', () => {
  const details = (user: Pick<Subscription, 'userId'>) => on.send('GET', user, 'billing-details');
  const term = (user: Pick<Subscription, 'userId'>) => on.send('GET', user, 'active-term');

  it('tell what is billed next and what was paid last', async () => {
    const record = await on.here.member();
    await on.here.collect('INITIAL', record);
    expect(await details(record)).toMatchObject({
      status: 200,
      body: {
        membership: 'active',
        tier: null,
        term: 'MONTHLY',
        billing_amount: '4.99',
        next_billing_date: '2026-12-16T06:00:00Z',
        is_friday_billing: false,
        owed_amount: '0.00',
        last_payment: { subscription_id: record.subscriptionId, amount: '4.99', payment_type: 'PINLESS' },
      },
    });
    expect(await term(record)).toMatchObject({
      status: 200,
      body: { membership: 'active', term: 'MONTHLY' },
    });
  });

  it('tell of tier, year, Fridays and what is owed', async () => {
    const [record] = await on.desk.member([
      { billingStatus: 'ERROR' },
      { billingDate: DECEMBER, term: 'YEARLY', receiptTierName: 'Plus:v1', billingWeek: 3 },
    ]);
    expect(await details(record!)).toMatchObject({
      body: {
        tier: 'Plus',
        version: 'v1',
        term: 'YEARLY',
        billing_week: 3,
        is_friday_billing: true,
        owed_amount: '4.99',
      },
    });
  });

  it('of a membership that has ended has no term', async () => {
    const record = await member({ billingStatus: 'CANCELLED' });
    expect(await term(record)).toMatchObject({ status: 200, body: { membership: 'ended', term: null } });
    expect(await details(record)).toMatchObject({ body: { next_billing_date: null } });
  });

  it('of somebody who never had one are not there', async () => {
    const user = await on.user();
    expect(await details(user)).toMatchObject(refusal('not-found', 404));
    expect(await term(user)).toMatchObject(refusal('not-found', 404));
  });
});

describe('a ban', () => {
  const ban = (user: { readonly userId: UserId }, body: unknown) => on.send('POST', user, 'ban', body);

  it('is the user service’s; it may be repeated, and who asked for it is noted', async () => {
    const user = await on.user();
    for (const reason of ['fraud', 'fraud again']) {
      expect(await ban(user, { reason })).toMatchObject({ status: 200, body: { banned: user.userId } });
    }
    expect(await on.here.dependencies.users.get(user.userId)).toMatchObject({ status: 'BANNED' });
    const { client, tables } = on.here.store;
    const notes = await new DynamoBans({ client, table: tables.pipeline }).of(user.userId);
    expect(notes.at(-1)).toMatchObject({ who: 'operator-name', reason: 'fraud again', at: TICK });
  });

  it('of nobody, or without a reason, is refused', async () => {
    expect(await ban({ userId: 'nobody' as UserId }, { reason: 'x' })).toMatchObject(
      refusal('not-found', 404),
    );
    expect(await ban(await on.user(), {})).toMatchObject(refusal('invalid-request', 400));
  });

  it('leads to a cancellation by the next run, and nothing is charged', async () => {
    const record = await on.here.member();
    await ban(record, { reason: 'fraud' });
    expect(await on.here.collect('INITIAL', record)).toMatchObject({ verdict: 'cancelled' });
    expect(await on.violations(record)).toEqual([]);
  });
});

describe('a member whom the other service bills', () => {
  it('is changed there, not here', async () => {
    const theirs = await membershipApi({ OWNED_USERS: 'none' });
    try {
      const record = await theirs.here.member({}, { billingDate: plusDays(TICK, 30) });
      const body = { tier: 'Plus', version: 'v1' };
      const id = record.subscriptionId;
      for (const [method, what, sent] of [
        ['PATCH', `subscriptions/${id}`, { billing_status: 'CANCELLED' }],
        ['POST', `subscriptions/${id}/waive`, {}],
        ['POST', `subscriptions/${id}/refund`, {}],
        ['PUT', 'subscriptions/activate', {}],
        ['POST', 'subscriptions/reactivate', {}],
        ['POST', 'subscriptions/downgrade', body],
        ['POST', 'subscriptions/upgrade', { ...body, amount: '5.00' }],
      ] as const) {
        expect(await theirs.send(method, record, what, sent), what).toMatchObject(refusal('not-owned'));
      }
      expect(await theirs.here.row(record)).toEqual(record);
    } finally {
      await theirs.close();
    }
  });
});
