import { randomUUID } from 'node:crypto';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { refundPayment } from '../../../src/app/desk/refund-payment.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import type { MembershipEventType } from '../../../src/domain/memberships/membership-event.ts';
import { cents } from '../../../src/domain/money.ts';
import type { Subscription, UserId } from '../../../src/domain/subscription.ts';
import { BILLING_STATUSES } from '../../../src/domain/subscription.ts';
import type { Attempt, BackgroundQuery } from '../../../src/ports/pipeline.ts';
import type { Payment } from '../../../src/ports/services.ts';
import type { CollectionStep } from '../../../src/ports/steps.ts';
import type { PageKey, StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Reply } from '../../support/api.ts';
import type { MembershipApi } from '../../support/membership-api.ts';
import { membershipApi } from '../../support/membership-api.ts';
import type { PaymentDesk } from '../../support/payment-desk.ts';
import { paymentDesk } from '../../support/payment-desk.ts';
import { eventually } from '../../support/processes.ts';
import { at } from '../../support/records.ts';

let on: MembershipApi;
let payments: PaymentDesk;

beforeAll(async () => {
  on = await membershipApi({ TIERS });
  payments = paymentDesk(on.here);
});
afterAll(async () => {
  await payments.close();
  await on.close();
});
afterEach(() => {
  on.here.now = NOW;
  return on.calmDown();
});

/** As it is by default, and one more tier that is sold for a year as well. */
const TIERS = JSON.stringify({
  Base: { v0: { MONTHLY: '4.99', YEARLY: '39.99' } },
  Plus: { v1: { MONTHLY: '9.99' } },
  Best: { v1: { MONTHLY: '19.99', YEARLY: '159.99' } },
});
const NOW = at('2026-11-16T08:00:00Z');
const LEAVING = 'PENDING_CANCELLATION';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DECEMBER = at('2026-12-16T06:00:00Z');
const STEPS: readonly CollectionStep[] = ['intent-written', 'charged', 'outcome-written'];

const refusal = (code: string, status = 409) => ({ status, body: { code, status } });

const credits = async (record: Subscription): Promise<number> =>
  (await on.here.ledger(record)).filter(({ effect }) => effect === 'credit').length;

/** What moved for all records of a member: debits and credits. */
async function moved({ userId }: Pick<Subscription, 'userId'>): Promise<[number, number]> {
  const page = (await on.here.bank('GET', `/ledger?limit=5000&user_id=${userId}`)) as {
    entries: { user_id?: string; effect?: string }[];
  };
  const own = page.entries.filter(({ user_id }) => user_id === userId);
  return [
    own.filter(({ effect }) => effect === 'debit').length,
    own.filter(({ effect }) => effect === 'credit').length,
  ];
}

async function frozen(target: string, work: () => Promise<unknown>): Promise<void> {
  const body = { target, reason: 'a test' };
  expect(await on.call('POST', '/ops/freezes', { body })).toMatchObject({ status: 201 });
  try {
    await work();
  } finally {
    await on.call('DELETE', `/ops/freezes/${encodeURIComponent(target)}`);
  }
}

/** What stands about a record on the list of refunds that operators have to see to. */
async function refusedRefund({ subscriptionId }: Subscription) {
  const { refusedRefunds } = on.here.dependencies.pipeline;
  let key: PageKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof refusedRefunds.list>> = await refusedRefunds.list(
      plusDays(on.here.now, 7),
      key,
    );
    const found = page.items.find((item) => item.subscriptionId === subscriptionId);
    if (found !== undefined) return found;
    key = page.nextKey;
  } while (key !== null);
  return null;
}

const isListed = (record: Subscription, code: string) =>
  eventually('it is on the list', async () => (await refusedRefund(record))?.code === code);

const isOffTheList = (record: Subscription) =>
  eventually('it is off the list', async () => (await refusedRefund(record)) === null);

const REFUSED: Payment = {
  confirmationId: 'x',
  status: 'FAILED',
  errorCode: 'not_refundable',
  errorMessage: 'no',
  accountMask: null,
  cardMask: null,
};

describe('a refund', () => {
  const refund = ({ userId, subscriptionId }: Subscription, key?: string): Promise<Reply> =>
    on.send('POST', { userId }, `subscriptions/${subscriptionId}/refund`, { reason: 'sorry' }, key);

  async function paid(settings: object = {}): Promise<StoredSubscription> {
    const record = await on.here.member(settings);
    expect(await on.here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });
    return on.here.row(record);
  }

  /** What the bank tells about it. */
  async function hearFromBank(record: Subscription): Promise<void> {
    for (const event of await payments.receiveFromBank(record)) await payments.apply(event);
  }

  it('goes out at once; the record is REFUNDED when the payments service says so', async () => {
    const record = await paid();
    expect(await refund(record)).toMatchObject({
      status: 202,
      body: {
        status: 'sent',
        subscription: { billing_status: 'COMPLETED', transaction_id: record.transactionId },
      },
    });
    expect(await on.here.row(record)).toMatchObject({ billingStatus: 'COMPLETED', process: 'INITIAL' });
    const history = await on.history(record);
    expect(history.slice(-2)).toMatchObject([
      { data_cause: 'refund-opened', data_who: 'operator-name', data_reason: 'sorry' },
      { data_cause: 'refund-accepted' },
    ]);
    expect(await on.violations(record)).toEqual([]);
    await hearFromBank(record);
    expect(await on.here.row(record)).toMatchObject({ billingStatus: 'REFUNDED' });
    expect(await credits(record)).toBe(1);
    expect(await on.violations(record)).toEqual([]);
  });

  it('of an entry that the bank has not paid yet is refused', async () => {
    const record = await on.here.member({ has_debit_card: false });
    expect(await on.here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
    expect(await refund(record)).toMatchObject(refusal('not-refundable'));
  });

  it('asked for twice, and again afterwards, is one refund', async () => {
    const record = await paid();
    const replies = await Promise.all([1, 2, 3, 4].map(() => refund(record, randomUUID())));
    expect(replies.filter(({ status }) => status !== 202).every(({ status }) => status === 409)).toBe(true);
    const first = await refund(record);
    await hearFromBank(record);
    const later = await refund(record, randomUUID());
    const idOf = ({ body }: Reply) => (body as { refund_id: string }).refund_id;
    expect(later.status).toBe(202);
    expect(idOf(later)).toBe(idOf(first));
    expect(await credits(record)).toBe(1);
    expect(await on.violations(record)).toEqual([]);
  });

  it.each(BILLING_STATUSES.filter((status) => status !== 'COMPLETED' && status !== 'INACTIVE'))(
    'of a record that is %s is refused',
    async (billingStatus) => {
      const [record] = await on.desk.member([{ billingStatus, transactionId: 'x' }]);
      expect(await refund(record!)).toMatchObject(refusal('not-refundable'));
      expect(await on.here.row(record!)).toEqual(record);
    },
  );

  it('is refused for somebody else’s record, a busy member, and while frozen', async () => {
    const record = await paid();
    expect(await refund({ ...record, userId: 'nobody' as UserId })).toMatchObject(refusal('not-found', 404));
    await on.here.store.takeLock(record.userId);
    expect(await refund(record)).toMatchObject(refusal('user-busy'));
    await on.here.store.releaseLock(record.userId);
    await frozen(`user:${record.userId}`, async () =>
      expect(await refund(record)).toMatchObject(refusal('frozen')),
    );
    expect(await credits(record)).toBe(0);
    expect(await refund(record)).toMatchObject({ status: 202 });
  });

  it('that the processor refuses is told so, leaves the record, and may be asked for again', async () => {
    const record = await paid();
    const { processor, ...rest } = on.here.dependencies;
    const refusing: typeof processor = {
      charge: (key, request) => processor.charge(key, request),
      findByKey: (key) => processor.findByKey(key),
      findByConfirmation: (id) => processor.findByConfirmation(id),
      refund: () => Promise.resolve({ kind: 'answered', payment: REFUSED }),
    };
    const dependencies = { ...rest, processor: refusing, users: payments.dependencies.users };
    const wish = { ...record, triggerId: 'refund.refused', by: { who: 'a test' } };
    const ask = () => refundPayment({ ...dependencies, tiers: {}, owned: { kind: 'all' } }, wish);
    await expect(ask()).rejects.toMatchObject({ refused: 'refund-declined' });
    // Whoever asks under the same key did not hear it.
    await expect(ask()).rejects.toMatchObject({ refused: 'refund-declined' });
    expect((await on.history(record)).at(-1)).toMatchObject({ data_cause: 'refund-declined' });
    expect(await on.here.row(record)).toMatchObject({ billingStatus: 'COMPLETED', usioError: '' });
    await isListed(record, 'not_refundable');
    expect(await refund(record)).toMatchObject({ status: 202, body: { status: 'sent' } });
    expect(await credits(record)).toBe(1);
    await hearFromBank(record);
    await isOffTheList(record);
    expect(await on.violations(record)).toEqual([]);
  });

  async function openRefund({ subscriptionId }: Subscription): Promise<Attempt> {
    const { open } = await on.here.dependencies.pipeline.storyOf(subscriptionId);
    if (open === null) throw new Error('no attempt is open');
    return open.attempt;
  }

  /** It was sent three times, and the processor has never heard of it. */
  async function neverArrived(): Promise<StoredSubscription> {
    const record = await paid();
    await on.loseAnswers(record, 'refunds', 'error-before');
    expect(await refund(record)).toMatchObject({ status: 202, body: { status: 'unknown' } });
    expect(await credits(record)).toBe(0);
    await on.calmDown();
    return record;
  }

  it('that the processor never heard of is sent again by the janitor, under its key', async () => {
    const record = await neverArrived();
    const { attemptId } = await openRefund(record);
    expect(await on.settle(record)).toMatchObject({ settled: { verdict: 'refund-sent' } });
    expect(await credits(record)).toBe(1);
    const keys = (await on.here.ledger(record)).flatMap(({ refund_key }) => refund_key ?? []);
    expect(new Set(keys)).toEqual(new Set([attemptId]));
    expect(await on.violations(record)).toEqual([]);
  });

  it('that has begun goes on while frozen, by the janitor and by who asks again', async () => {
    for (const goOn of [
      (record: Subscription) => on.settle(record),
      (record: Subscription) => refund(record),
    ]) {
      const record = await neverArrived();
      await frozen(`user:${record.userId}`, () => goOn(record));
      expect(await credits(record)).toBe(1);
      expect(await on.violations(record)).toEqual([]);
    }
  });

  it('goes again also if the processor takes long to say that it does not know it', async () => {
    const record = await neverArrived();
    const { processor, pipeline, timer } = on.here.dependencies;
    // What is read after the answer is new.
    let tookMs = 0;
    const readBackground = (query: BackgroundQuery) => {
      tookMs = 0;
      return pipeline.readBackground(query);
    };
    const slow: typeof processor = {
      charge: (key, request) => processor.charge(key, request),
      refund: (key, id) => processor.refund(key, id),
      findByConfirmation: (id) => processor.findByConfirmation(id),
      findByKey(key) {
        tookMs = 10_000;
        return processor.findByKey(key);
      },
    };
    const { attemptId } = await openRefund(record);
    const settled = await settleAttempt(
      {
        ...on.here.dependencies,
        processor: slow,
        pipeline: Object.assign(Object.create(pipeline) as typeof pipeline, { readBackground }),
        timer: { ...timer, elapsedMs: () => timer.elapsedMs() + tookMs },
      },
      { abandonAfterMs: 24 * HOUR },
      { ...record, attemptId },
    );
    expect(settled).toMatchObject({ settled: { verdict: 'refund-sent' } });
    expect(await credits(record)).toBe(1);
  });

  it('is not sent again once the member’s bank has taken the payment back', async () => {
    const record = await neverArrived();
    await payments.tell('CHARGED_BACK', record);
    expect(await on.here.row(record)).toMatchObject({ billingStatus: 'ERROR' });
    expect(await on.settle(record)).toEqual({ left: 'no-word-yet' });
    expect(await credits(record)).toBe(0);
    expect(await on.settle(record, 0)).toMatchObject({ settled: { verdict: 'refund-declined' } });
    expect(await refusedRefund(record)).toBeNull();
  });

  it('that never arrives is sent again for two days, given up a day later, and listed until it went back', async () => {
    const record = await neverArrived();
    const sent = async () =>
      (await on.here.ledger(record)).filter(({ type }) => type === 'refund.requested').length;
    expect(await sent()).toBe(3);
    const settledAfter = async (ms: number) => {
      on.here.now = plusMs(NOW, ms);
      await on.loseAnswers(record, 'refunds', 'error-before');
      return on.settle(record);
    };
    const asksNext = async () =>
      (await on.here.dependencies.pipeline.storyOf(record.subscriptionId)).open?.askedNextAt;
    expect(await settledAfter(5 * MINUTE)).toEqual({ left: 'no-word-yet' });
    expect(await asksNext()).toBe(plusMs(NOW, 10 * MINUTE));
    expect(await settledAfter(47 * HOUR)).toEqual({ left: 'no-word-yet' });
    expect(await asksNext()).toBe(plusMs(NOW, 47 * HOUR + 5 * MINUTE));
    expect(await sent()).toBe(9);
    for (const later of [48 * HOUR, 71 * HOUR - 1])
      expect(await settledAfter(later)).toEqual({ left: 'no-word-yet' });
    expect(await settledAfter(71 * HOUR)).toMatchObject({
      settled: { verdict: 'refund-declined', reason: 'PINLESS-abandoned' },
    });
    expect(await sent()).toBe(9);
    const { userId, subscriptionId, transactionId: confirmationId, billingAmount: amount } = record;
    await isListed(record, 'abandoned');
    expect(await refusedRefund(record)).toEqual({
      userId,
      subscriptionId,
      confirmationId,
      code: 'abandoned',
      amount,
      at: on.here.now,
    });
    await on.here.faults([]);
    expect(await refund(record)).toMatchObject({ status: 202, body: { status: 'sent' } });
    await hearFromBank(record);
    await isOffTheList(record);
    expect(await credits(record)).toBe(1);
    expect(await on.violations(record)).toEqual([]);
  });

  it('of what somebody gave back at the bank itself is not made twice', async () => {
    const record = await paid();
    const { processor } = on.here.dependencies;
    expect(await processor.refund(randomUUID(), record.transactionId)).toMatchObject({ kind: 'answered' });
    expect(await refund(record)).toMatchObject(refusal('refund-declined'));
    expect((await on.here.dependencies.pipeline.storyOf(record.subscriptionId)).open).toBeNull();
    // Nobody has to look for money that is not here.
    expect(await refusedRefund(record)).toBeNull();
    await hearFromBank(record);
    expect(await on.here.row(record)).toMatchObject({ billingStatus: 'REFUNDED' });
    expect(await refund(record)).toMatchObject(refusal('not-refundable'));
    expect(await credits(record)).toBe(1);
    expect(await on.violations(record)).toEqual([]);
  });

  it('without an answer goes on when somebody asks again', async () => {
    const record = await paid();
    await on.loseAnswers(record, 'refunds');
    const lost = await refund(record, randomUUID());
    expect(lost).toMatchObject({ status: 202, body: { status: 'unknown' } });
    const again = await refund(record, randomUUID());
    expect(again).toMatchObject({ status: 202, body: { status: 'sent' } });
    expect((again.body as { refund_id: string }).refund_id).toBe(
      (lost.body as { refund_id: string }).refund_id,
    );
    expect(await credits(record)).toBe(1);
    expect(await on.violations(record)).toEqual([]);
  });

  it('without an answer is settled by the janitor, also after the bank told of it', async () => {
    const record = await paid();
    await on.loseAnswers(record, 'refunds');
    expect(await refund(record)).toMatchObject({ status: 202, body: { status: 'unknown' } });
    await hearFromBank(record);
    expect(await on.here.row(record)).toMatchObject({ billingStatus: 'REFUNDED' });
    expect(await on.settle(record)).toMatchObject({ settled: { verdict: 'refund-sent' } });
    expect(await on.here.row(record)).toMatchObject({ billingStatus: 'REFUNDED' });
    expect(await credits(record)).toBe(1);
    expect(await on.violations(record)).toEqual([]);
  });

  it.each(STEPS)('that dies when %s is one refund when it is asked for again', async (step) => {
    const record = await paid();
    const key = randomUUID();
    on.dieAt(step, record);
    expect(await refund(record, key)).toMatchObject(refusal('internal', 500));
    expect(await refund(record, key)).toMatchObject({ status: 202, body: { status: 'sent' } });
    expect(await credits(record)).toBe(1);
    expect(await on.violations(record)).toEqual([]);
  });

  it('counts as no attempt to collect', async () => {
    const record = await paid();
    await refund(record);
    const { state } = await on.here.dependencies.pipeline.readBackground({
      ...record,
      triggerId: '',
      accountId: null,
    });
    expect(state).toMatchObject({ open: null, past: [{ result: 'COMPLETED' }] });
  });
});

describe('a reactivation', () => {
  const reactivate = (user: Pick<Subscription, 'userId'>, key?: string, body: unknown = {}) =>
    on.send('POST', user, 'subscriptions/reactivate', body, key);

  /** Somebody whose membership ended in October. */
  async function former(
    settings: object = {},
    fields: Partial<Subscription> = {},
  ): Promise<StoredSubscription> {
    const [record] = await on.desk.member(
      [{ billingStatus: 'CANCELLED', billingDate: at('2026-10-16T06:00:00Z'), ...fields }],
      settings,
    );
    return record!;
  }

  const fresh = (user: Pick<Subscription, 'userId'>) => on.newest(user, 'COMPLETED');

  it('charges the card now, and schedules the next period', async () => {
    const member = await former({ status: 'PAUSED' });
    expect(await reactivate(member, undefined, { reason: 'came back' })).toMatchObject({
      status: 201,
      body: {
        subscription: {
          billing_status: 'COMPLETED',
          process: 'REACTIVATION',
          updated_event: 'user-reactivated',
          billing_amount: '4.99',
          billing_date: '2026-11-16T08:00:00Z',
          receipt_payment_type: 'PINLESS',
        },
        next: { billing_status: 'SCHEDULED', billing_date: '2026-12-16T06:00:00Z', updated_event: '' },
      },
    });
    const record = await fresh(member);
    expect(await on.history(record)).toMatchObject([
      { data_cause: 'attempt-opened', billing_status: 'CANCELLED', data_who: 'operator-name' },
      { data_cause: 'attempt-succeeded', billing_status: 'COMPLETED', data_reason: 'came back' },
    ]);
    expect(await moved(member)).toEqual([1, 0]);
    expect(await on.violations(member)).toEqual([]);
    expect(await reactivate(member)).toMatchObject(refusal('already-active'));
  });

  it('comes back to the tier, the term and the Friday that the member had, at today’s price', async () => {
    const member = await former(
      {},
      {
        receiptTierName: 'Plus:v1',
        billingAmount: cents(899),
        billingWeek: 3,
        billingDate: at('2026-10-16T06:00:00Z'),
      },
    );
    expect(await reactivate(member)).toMatchObject({
      status: 201,
      body: {
        subscription: { billing_amount: '9.99', receipt_tier_name: 'Plus:v1' },
        next: { billing_amount: '9.99', billing_date: '2026-12-18T06:00:00Z', billing_week: 3 },
      },
    });
    expect(await on.violations(member)).toEqual([]);
  });

  it('is refused while a period that was paid ahead is still to begin: it would be paid twice', async () => {
    const record = await on.here.member();
    await on.here.collect('INITIAL', record);
    const ahead = await on.newest(record, 'SCHEDULED');
    expect(await on.here.collect('MANUAL_REPAYMENT', ahead)).toMatchObject({ verdict: 'collected' });
    await on.desk.happens(record.userId, 'CANCEL');
    expect(await reactivate(record)).toMatchObject(refusal('already-active'));
    expect(await moved(record)).toEqual([2, 0]);
    expect(await on.violations(record)).toEqual([]);
  });

  it.each(['SCHEDULED', 'PAUSED'] as const)(
    'ends what the member had cancelled and is still %s: its flag is gone, and it is billed no more',
    async (billingStatus) => {
      const record = await on.here.member();
      await on.here.collect('INITIAL', record);
      if (billingStatus === 'PAUSED') await on.desk.happens(record.userId, 'SUB_PAUSED');
      await on.desk.happens(record.userId, 'CANCEL');
      const flagged = await on.newest(record, billingStatus);
      expect(flagged.updatedEvent).toBe(LEAVING);
      expect(await reactivate(record)).toMatchObject({ status: 201 });
      expect(await on.here.row(flagged)).toMatchObject({
        billingStatus: 'CANCELLED',
        updatedEvent: 'user-reactivated',
      });
      // 16 December is taken by what was cancelled.
      expect(await on.newest(record, 'SCHEDULED')).toMatchObject({
        billingDate: at('2027-01-16T06:00:00Z'),
        updatedEvent: '',
      });
      expect(await on.violations(record)).toEqual([]);
    },
  );

  it('that is declined is told so, and leaves a CANCELLED record', async () => {
    const member = await former({ pinless: { mode: 'decline', code: '14' } });
    const key = randomUUID();
    expect(await reactivate(member, key)).toMatchObject(refusal('payment-declined', 402));
    expect(await reactivate(member, key)).toMatchObject(refusal('payment-declined', 402));
    const own = (await on.here.partition(member.userId)).at(-1)!;
    expect(own).toMatchObject({ billingStatus: 'CANCELLED', process: 'REACTIVATION', initialRunDate: null });
    expect(own.usioError).toMatch(/^14/);
    expect(await on.here.partition(member.userId)).toHaveLength(2);
    expect(await moved(member)).toEqual([0, 0]);
    expect(await on.violations(member)).toEqual([]);
    await on.here.bank('PUT', `/sandbox/users/${member.userId}`, {});
    expect(await reactivate(member, randomUUID())).toMatchObject({ status: 201 });
    expect(await moved(member)).toEqual([1, 0]);
    expect(await on.violations(member)).toEqual([]);
  });

  it('without money on the card does not turn to the account', async () => {
    const member = await former({ pinless: { mode: 'decline', code: '62' } });
    expect(await reactivate(member)).toMatchObject(refusal('payment-declined', 402));
    expect(await moved(member)).toEqual([0, 0]);
  });

  it('without an answer is promised, goes on when somebody asks again, and charges once', async () => {
    const member = await former();
    await on.loseAnswers(member, 'payments');
    expect(await reactivate(member, randomUUID())).toMatchObject({
      status: 202,
      body: { subscription: { billing_status: 'CANCELLED' }, next: null },
    });
    expect(await reactivate(member, randomUUID())).toMatchObject({
      status: 201,
      body: { subscription: { billing_status: 'COMPLETED' } },
    });
    expect(await moved(member)).toEqual([1, 0]);
    expect(await on.violations(member)).toEqual([]);
  });

  it('waits for the answer to a charge of what was cancelled: both would be paid', async () => {
    const record = await on.here.member();
    await on.loseAnswers(record, 'payments');
    expect(await on.here.collect('INITIAL', record)).toMatchObject({ verdict: 'unknown' });
    await on.desk.happens(record.userId, 'CANCEL');
    expect(await reactivate(record)).toMatchObject(refusal('attempt-open'));
    expect(await on.settle(record)).toMatchObject({ settled: { verdict: 'collected' } });
    expect(await moved(record)).toEqual([1, 0]);
    expect(await on.violations(record)).toEqual([]);
  });

  it('without an answer is settled by the janitor: paid, with what follows from it', async () => {
    const member = await former();
    await on.loseAnswers(member, 'payments');
    expect(await reactivate(member)).toMatchObject({ status: 202 });
    const own = (await on.here.partition(member.userId)).at(-1)!;
    expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'collected' } });
    expect(await on.here.row(own)).toMatchObject({ billingStatus: 'COMPLETED', process: 'REACTIVATION' });
    expect(await on.newest(member, 'SCHEDULED')).toMatchObject({ billingDate: DECEMBER });
    expect(await moved(member)).toEqual([1, 0]);
    expect(await on.violations(member)).toEqual([]);
  });

  it('that nobody ever heard of is given up: CANCELLED, and nothing to come', async () => {
    const member = await former();
    await on.loseAnswers(member, 'payments', 'timeout-before');
    expect(await reactivate(member)).toMatchObject({ status: 202 });
    const own = (await on.here.partition(member.userId)).at(-1)!;
    expect(await on.settle(own, 0)).toMatchObject({ settled: { verdict: 'declined' } });
    expect(await on.here.row(own)).toMatchObject({ billingStatus: 'CANCELLED' });
    expect(await on.here.partition(member.userId)).toHaveLength(2);
    expect(await on.violations(member)).toEqual([]);
  });

  it.each(STEPS)('that dies when %s is one charge when it is asked for again', async (step) => {
    const member = await former();
    const key = randomUUID();
    on.dieAt(step, member);
    expect(await reactivate(member, key)).toMatchObject(refusal('internal', 500));
    expect(await reactivate(member, key)).toMatchObject({ status: 201 });
    expect(await reactivate(member, key)).toMatchObject({ status: 201 });
    expect(await moved(member)).toEqual([1, 0]);
    expect(await on.violations(member)).toEqual([]);
  });

  it('asked for ten times at once charges once', async () => {
    const member = await former();
    const replies = await Promise.all(Array.from({ length: 10 }, () => reactivate(member, randomUUID())));
    expect(replies.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    for (const { status, body } of replies) {
      if (status !== 201) expect(['user-busy', 'already-active']).toContain((body as { code: string }).code);
    }
    expect(await moved(member)).toEqual([1, 0]);
    expect(await on.violations(member)).toEqual([]);
  });

  it('under a key that stood for something else is refused', async () => {
    const member = await former();
    const key = randomUUID();
    expect(await reactivate(member, key)).toMatchObject({ status: 201 });
    expect(await reactivate(member, key, { reason: 'another' })).toMatchObject(
      refusal('idempotency-conflict'),
    );
  });

  it.each([
    ['banned', 'user-not-eligible', { status: 'BANNED' }],
    ['under investigation', 'user-not-eligible', { status: 'INVESTIGATE' }],
    ['an employee', 'user-not-eligible', { is_employee: true }],
    ['without a card', 'no-debit-card', { has_debit_card: false }],
    ['without an account', 'no-debit-card', { account: null }],
  ])('is refused for somebody who is %s', async (_, code, settings) => {
    const member = await former(settings);
    expect(await reactivate(member)).toMatchObject(refusal(code));
    expect(await on.here.partition(member.userId)).toEqual([member]);
    expect(await moved(member)).toEqual([0, 0]);
  });

  it('is refused for somebody who never was a member, whom nobody knows, or whose tier is sold no more', async () => {
    expect(await reactivate(await on.user())).toMatchObject(refusal('membership-ended'));
    expect(await reactivate({ userId: 'nobody' as UserId })).toMatchObject(refusal('not-found', 404));
    const odd = await former({}, { receiptTierName: 'Gold:v1' });
    expect(await reactivate(odd)).toMatchObject(refusal('unpriced-tier'));
  });

  it.each(['global', 'pinless', 'user'])('is refused while %s is frozen', async (target) => {
    const member = await former();
    await frozen(target === 'user' ? `user:${member.userId}` : target, async () =>
      expect(await reactivate(member)).toMatchObject(refusal('frozen')),
    );
    expect(await moved(member)).toEqual([0, 0]);
  });

  it('waits for whoever holds the member, and for an event that is still to be applied', async () => {
    const member = await former();
    await on.here.store.takeLock(member.userId);
    expect(await reactivate(member)).toMatchObject(refusal('user-busy'));
    await on.here.store.releaseLock(member.userId);
    const event = await on.desk.store(member.userId, 'CANCEL');
    expect(await reactivate(member)).toMatchObject(refusal('user-busy'));
    await on.desk.apply(event);
    expect(await reactivate(member)).toMatchObject({ status: 201 });
  });
});

describe('an upgrade', () => {
  const PLUS = { tier: 'Plus', version: 'v1' };
  const upgrade = (
    user: Pick<Subscription, 'userId'>,
    amount = '5.83',
    key?: string,
    wanted: object = PLUS,
  ) => on.send('POST', user, 'subscriptions/upgrade', { ...wanted, amount }, key);
  const inDays = (days: number) => plusDays(at('2026-11-16T06:00:00Z'), days);

  /** A member who is billed in 35 days. */
  const member = (settings: object = {}, fields: Partial<Subscription> = {}) =>
    on.here.member(settings, { billingDate: inDays(35), ...fields });

  const upgradedRow = { billingAmount: 999, receiptTierName: 'Plus:v1', isPendingDowngrade: false };

  it('charges for the rest of the period, and bills the next one at the new price', async () => {
    const upcoming = await member();
    expect(await upgrade(upcoming)).toMatchObject({
      status: 200,
      body: {
        proration: {
          billing_status: 'COMPLETED',
          billing_amount: '5.83',
          receipt_tier_name: 'Plus:v1',
          billing_date: '2026-11-16T08:00:00Z',
        },
        upcoming: {
          subscription_id: upcoming.subscriptionId,
          billing_amount: '9.99',
          receipt_tier_name: 'Plus:v1',
        },
      },
    });
    expect((await on.history(upcoming)).at(-1)).toMatchObject({
      data_cause: 'plan-changed',
      data_who: 'operator-name',
    });
    expect(await on.here.partition(upcoming.userId)).toHaveLength(2);
    expect(await moved(upcoming)).toEqual([1, 0]);
    expect(await on.violations(upcoming)).toEqual([]);
    // Asked for again it is so already, and costs nothing.
    expect(await upgrade(upcoming)).toMatchObject({ status: 200, body: { proration: null } });
    expect(await moved(upcoming)).toEqual([1, 0]);
  });

  it.each(['5.82', '5.84', '0.00', '9.99'])('for %s instead of 5.83 is refused', async (amount) => {
    const upcoming = await member();
    expect(await upgrade(upcoming, amount)).toMatchObject(refusal('amount-mismatch'));
    expect(await on.here.partition(upcoming.userId)).toEqual([upcoming]);
    expect(await moved(upcoming)).toEqual([0, 0]);
  });

  it('costs nothing on the billing day itself, or when it is past', async () => {
    for (const days of [0, -3]) {
      const upcoming = await member({}, { billingDate: inDays(days) });
      expect(await upgrade(upcoming, '0.17')).toMatchObject(refusal('amount-mismatch'));
      expect(await upgrade(upcoming, '0.00')).toMatchObject({
        status: 200,
        body: { proration: null, upcoming: { billing_amount: '9.99' } },
      });
      expect(await on.here.partition(upcoming.userId)).toHaveLength(1);
      expect(await on.violations(upcoming)).toEqual([]);
    }
  });

  it('is not to be had more than 65 days ahead', async () => {
    expect(await upgrade(await member({}, { billingDate: inDays(66) }), '11.00')).toMatchObject(
      refusal('too-far-ahead'),
    );
    expect(await upgrade(await member({}, { billingDate: inDays(65) }), '10.83')).toMatchObject({
      status: 200,
    });
  });

  it('of somebody who takes a downgrade back costs nothing: it is paid for', async () => {
    const record = await on.here.member({}, { billingAmount: cents(999), receiptTierName: 'Plus:v1' });
    await on.here.collect('INITIAL', record);
    const base = { tier: 'Base', version: 'v0' };
    expect(await on.send('POST', record, 'subscriptions/downgrade', base)).toMatchObject({ status: 200 });
    expect(await upgrade(record, '5.00')).toMatchObject(refusal('amount-mismatch'));
    expect(await upgrade(record, '0.00')).toMatchObject({
      status: 200,
      body: { upcoming: { billing_amount: '9.99', is_pending_downgrade: false } },
    });
    expect(await moved(record)).toEqual([1, 0]);
    expect(await on.violations(record)).toEqual([]);
  });

  it('is paid for no more once what was paid is being given back', async () => {
    const record = await on.here.member({}, { billingAmount: cents(999), receiptTierName: 'Plus:v1' });
    await on.here.collect('INITIAL', record);
    const base = { tier: 'Base', version: 'v0' };
    await on.send('POST', record, 'subscriptions/downgrade', base);
    const { subscriptionId } = record;
    const given = await on.send('POST', record, `subscriptions/${subscriptionId}/refund`, {
      reason: 'sorry',
    });
    expect(given).toMatchObject({ status: 202, body: { subscription: { billing_status: 'COMPLETED' } } });
    expect(await upgrade(record, '0.00')).toMatchObject(refusal('amount-mismatch'));
    expect((await on.call('GET', `/v1/${record.userId}/subscriptions/current`)).body).toMatchObject({
      next_billing: { billing_amount: '4.99' },
    });
  });

  it('that is declined changes nothing about the next period', async () => {
    const upcoming = await member({ pinless: { mode: 'decline', code: '05' } });
    expect(await upgrade(upcoming)).toMatchObject(refusal('payment-declined', 402));
    expect(await on.here.row(upcoming)).toEqual(upcoming);
    expect(await on.newest(upcoming, 'CANCELLED')).toMatchObject({ billingAmount: 583 });
    expect(await moved(upcoming)).toEqual([0, 0]);
    expect(await on.violations(upcoming)).toEqual([]);
  });

  it('without an answer is settled by the janitor, who also raises the price', async () => {
    const upcoming = await member();
    await on.loseAnswers(upcoming, 'payments');
    expect(await upgrade(upcoming)).toMatchObject({
      status: 202,
      body: { proration: { billing_status: 'CANCELLED' }, upcoming: { billing_amount: '4.99' } },
    });
    const own = await on.newest(upcoming, 'CANCELLED');
    expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'collected' } });
    expect(await on.here.row(upcoming)).toMatchObject(upgradedRow);
    expect(await on.here.partition(upcoming.userId)).toHaveLength(2);
    expect(await moved(upcoming)).toEqual([1, 0]);
    expect(await on.violations(upcoming)).toEqual([]);
  });

  it('without an answer goes on when the same is asked again, and nothing else may begin', async () => {
    const upcoming = await member();
    await on.loseAnswers(upcoming, 'payments');
    expect(await upgrade(upcoming)).toMatchObject({ status: 202 });
    expect(await upgrade(upcoming, '5.00')).toMatchObject(refusal('attempt-open'));
    expect(await upgrade(upcoming, '5.83', randomUUID())).toMatchObject({ status: 200 });
    expect(await on.here.row(upcoming)).toMatchObject(upgradedRow);
    expect(await moved(upcoming)).toEqual([1, 0]);
    expect(await on.violations(upcoming)).toEqual([]);
  });

  it.each(STEPS)(
    'that dies when %s is one charge and one upgrade when it is asked for again',
    async (step) => {
      const upcoming = await member();
      const key = randomUUID();
      on.dieAt(step, upcoming);
      expect(await upgrade(upcoming, '5.83', key)).toMatchObject(refusal('internal', 500));
      expect(await upgrade(upcoming, '5.83', key)).toMatchObject({ status: 200 });
      expect(await on.here.row(upcoming)).toMatchObject(upgradedRow);
      expect(await moved(upcoming)).toEqual([1, 0]);
      expect(await on.violations(upcoming)).toEqual([]);
    },
  );

  describe('whose period is gone when the card has paid', () => {
    const close = (upcoming: Subscription) => () => on.desk.happens(upcoming.userId, 'CLOSEACCOUNT');

    it('is undone: what was paid goes back', async () => {
      const upcoming = await member();
      on.meanwhile('charged', upcoming, close(upcoming));
      expect(await upgrade(upcoming)).toMatchObject(refusal('upgrade-undone'));
      expect(await on.here.row(upcoming)).toMatchObject({ billingStatus: 'CANCELLED', billingAmount: 499 });
      expect(await moved(upcoming)).toEqual([1, 1]);
      expect(await on.violations(upcoming)).toEqual([]);
      const own = await on.newest(upcoming, 'COMPLETED');
      for (const event of await payments.receiveFromBank(own)) await payments.apply(event);
      expect(await on.here.row(own)).toMatchObject({ billingStatus: 'REFUNDED' });
      expect(await on.violations(upcoming)).toEqual([]);
    });

    it('is undone by the janitor as well', async () => {
      const upcoming = await member();
      await on.loseAnswers(upcoming, 'payments');
      expect(await upgrade(upcoming)).toMatchObject({ status: 202 });
      await close(upcoming)();
      const own = (await on.here.partition(upcoming.userId)).find(
        ({ subscriptionId }) => subscriptionId !== upcoming.subscriptionId,
      )!;
      expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'refund-sent' } });
      expect(await moved(upcoming)).toEqual([1, 1]);
      expect(await on.violations(upcoming)).toEqual([]);
    });

    it('is undone as well where it had been given up, and the bank tells of it after all', async () => {
      const upcoming = await member();
      await on.loseAnswers(upcoming, 'payments');
      expect(await upgrade(upcoming)).toMatchObject({ status: 202 });
      const own = await on.newest(upcoming, 'CANCELLED');
      const { pipeline, processor } = on.here.dependencies;
      const { state } = await pipeline.readBackground({ ...own, triggerId: '', accountId: null });
      const { confirmationId: transactionId } = (await processor.findByKey(state.open!.attemptId))!;
      const silent = { ...on.here.dependencies, processor: { ...processor, findByKey: async () => null } };
      expect(await settleAttempt(silent, { abandonAfterMs: 0 }, state.open!)).toMatchObject({
        settled: { verdict: 'declined' },
      });
      await close(upcoming)();
      const event = await payments.receive('CHARGED_BACK', { ...own, transactionId });
      expect(await payments.apply(event)).toMatchObject({ result: 'changed' });
      expect(await on.here.row(own)).toMatchObject({ billingStatus: 'ERROR', transactionId });
      expect(await moved(upcoming)).toEqual([1, 1]);
    });

    it('also while everything is frozen: nobody’s money is kept', async () => {
      const upcoming = await member();
      on.meanwhile('charged', upcoming, async () => {
        await close(upcoming)();
        const body = { target: `user:${upcoming.userId}`, reason: 'a test' };
        expect(await on.call('POST', '/ops/freezes', { body })).toMatchObject({ status: 201 });
      });
      expect(await upgrade(upcoming)).toMatchObject(refusal('upgrade-undone'));
      expect(await moved(upcoming)).toEqual([1, 1]);
      expect(await on.violations(upcoming)).toEqual([]);
    });

    it('also when the process dies before the money went back, and nobody asks again', async () => {
      const upcoming = await member();
      on.meanwhile('charged', upcoming, close(upcoming));
      on.dieAt('outcome-written', upcoming);
      expect(await upgrade(upcoming)).toMatchObject(refusal('internal', 500));
      expect(await moved(upcoming)).toEqual([1, 0]);
      const own = await on.newest(upcoming, 'COMPLETED');
      expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'refund-sent' } });
      expect(await moved(upcoming)).toEqual([1, 1]);
      expect(await on.violations(upcoming)).toEqual([]);
    });

    it('also when the process dies before the money went back', async () => {
      const upcoming = await member();
      const key = randomUUID();
      on.meanwhile('charged', upcoming, close(upcoming));
      on.dieAt('outcome-written', upcoming);
      expect(await upgrade(upcoming, '5.83', key)).toMatchObject(refusal('internal', 500));
      expect(await moved(upcoming)).toEqual([1, 0]);
      const own = await on.newest(upcoming, 'COMPLETED');
      const { state } = await on.here.dependencies.pipeline.readBackground({
        ...own,
        triggerId: '',
        accountId: null,
      });
      expect(state.open).toMatchObject({ refundOf: own.transactionId });
      expect(await upgrade(upcoming, '5.83', key)).toMatchObject(refusal('upgrade-undone'));
      expect(await moved(upcoming)).toEqual([1, 1]);
      expect(await on.violations(upcoming)).toEqual([]);
    });

    it('and is not given back by the same request once the bank has taken it back', async () => {
      const upcoming = await member();
      const key = randomUUID();
      on.meanwhile('charged', upcoming, close(upcoming));
      on.dieAt('outcome-written', upcoming);
      expect(await upgrade(upcoming, '5.83', key)).toMatchObject(refusal('internal', 500));
      const own = await on.newest(upcoming, 'COMPLETED');
      await payments.tell('CHARGED_BACK', own);
      expect(await on.here.row(own)).toMatchObject({ billingStatus: 'ERROR' });
      expect(await upgrade(upcoming, '5.83', key)).toMatchObject(refusal('attempt-open'));
      expect(await moved(upcoming)).toEqual([1, 0]);
    });
  });

  describe('whose period is billed by other terms when the card has paid', () => {
    const BEST = { tier: 'Best', version: 'v1' };
    const YEAR = { term: 'YEARLY', billingAmount: cents(3999) } as const;
    const PLUS_NOW = { receiptTierName: 'Plus:v1', billingAmount: cents(999) } as const;
    const happens =
      (...events: (readonly [MembershipEventType, object?])[]) =>
      async ({ userId }: Subscription) => {
        for (const [type, data] of events) await on.desk.happens(userId, type, data);
      };
    const downgrade = async (upcoming: Subscription) => {
      const base = { tier: 'Base', version: 'v0' };
      expect(await on.send('POST', upcoming, 'subscriptions/downgrade', base)).toMatchObject({ status: 200 });
    };
    const MONTH = { term: 'MONTHLY', billingAmount: 499, receiptTierName: '' };

    /** The card is charged, and nobody hears of it before something else has happened. */
    async function unheardOf(
      fields: Partial<Subscription>,
      meanwhile: (upcoming: Subscription) => Promise<unknown>,
    ): Promise<{ upcoming: StoredSubscription; own: StoredSubscription }> {
      const upcoming = await member({}, fields);
      await on.loseAnswers(upcoming, 'payments');
      expect(await upgrade(upcoming, '17.50', undefined, BEST)).toMatchObject({ status: 202 });
      await meanwhile(upcoming);
      return { upcoming, own: await on.newest(upcoming, 'CANCELLED') };
    }

    it.each([
      ['a pause has made it monthly', YEAR, happens(['SUB_PAUSED'], ['UNPAUSE']), MONTH],
      [
        'it was taken back as a monthly one',
        YEAR,
        happens(['CANCEL'], ['RETRACT', { term: 'MONTHLY' }]),
        MONTH,
      ],
      [
        'the member has asked for less',
        PLUS_NOW,
        downgrade,
        { billingAmount: 499, receiptTierName: 'Base:v0', isPendingDowngrade: true },
      ],
    ])('is undone, because %s', async (_, fields, meanwhile, left) => {
      const { upcoming, own } = await unheardOf(fields, meanwhile);
      const before = await on.here.row(upcoming);
      expect(before).toMatchObject(left);
      expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'refund-sent' } });
      expect(await on.here.row(upcoming)).toEqual(before);
      expect(await moved(upcoming)).toEqual([1, 1]);
      expect(await on.violations(upcoming)).toEqual([]);
    });

    it('comes about where it is billed as it was again', async () => {
      const back = happens(['SUB_PAUSED'], ['UNPAUSE'], ['RETRACT', { term: 'YEARLY' }]);
      const { upcoming, own } = await unheardOf(YEAR, back);
      expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'collected' } });
      expect(await on.here.row(upcoming)).toMatchObject({
        term: 'YEARLY',
        billingAmount: 15_999,
        receiptTierName: 'Best:v1',
      });
      expect(await moved(upcoming)).toEqual([1, 0]);
      expect(await on.violations(upcoming)).toEqual([]);
    });

    it('comes about as before where the attempt was stored by a release that did not keep them', async () => {
      const { client, tables } = on.here.store;
      const { upcoming, own } = await unheardOf(PLUS_NOW, async (upgrading) => {
        const { subscriptionId } = await on.newest(upgrading, 'CANCELLED');
        await client.send(
          new UpdateItemCommand({
            TableName: tables.pipeline,
            Key: { pk: { S: `SUB#${subscriptionId}` }, sk: { S: 'STATE' } },
            ConditionExpression: 'attribute_exists(#open.upgrades.#instead)',
            UpdateExpression: 'REMOVE #open.upgrades.#instead',
            ExpressionAttributeNames: { '#open': 'open', '#instead': 'instead' },
          }),
        );
      });
      expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'collected' } });
      expect(await on.here.row(upcoming)).toMatchObject({ billingAmount: 1999, receiptTierName: 'Best:v1' });
    });
  });

  it.each([
    ['to what costs the same', 'not-an-upgrade', {}, { tier: 'Base', version: 'v0' }],
    ['to what nobody sells', 'unpriced-tier', {}, { tier: 'Gold', version: 'v1' }],
    ['of a year, where the tier has none', 'unpriced-tier', { term: 'YEARLY' }, PLUS],
    ['of what is to be cancelled', 'pending-cancellation', { updatedEvent: LEAVING }, PLUS],
    ['of what is paused', 'no-upcoming-period', { billingStatus: 'PAUSED' }, PLUS],
  ] as [string, string, Partial<Subscription>, object][])(
    '%s is refused',
    async (_, code, fields, wanted) => {
      const [upcoming] = await on.desk.member([{ billingDate: inDays(35), ...fields }]);
      expect(await upgrade(upcoming!, '5.83', undefined, wanted)).toMatchObject(refusal(code));
      expect(await on.here.partition(upcoming!.userId)).toEqual([upcoming]);
    },
  );

  it.each([
    ['whose membership is cancelled', 'user-not-eligible', { status: 'PAUSED' }],
    ['who is an employee', 'user-not-eligible', { is_employee: true }],
    ['without a card', 'no-debit-card', { has_debit_card: false }],
  ])('of somebody %s is refused', async (_, code, settings) => {
    const upcoming = await member(settings);
    expect(await upgrade(upcoming)).toMatchObject(refusal(code));
    expect(await moved(upcoming)).toEqual([0, 0]);
  });

  it('is refused while frozen, and while a charge of the next period has no answer', async () => {
    const upcoming = await member();
    await frozen('pinless', async () => expect(await upgrade(upcoming)).toMatchObject(refusal('frozen')));
    await on.loseAnswers(upcoming, 'payments');
    await on.here.collect('MANUAL_REPAYMENT', upcoming);
    expect(await upgrade(upcoming)).toMatchObject(refusal('attempt-open'));
  });

  it('with garbage is refused', async () => {
    const upcoming = await member();
    for (const [amount, wanted] of [
      ['5,83', PLUS],
      ['-5.83', PLUS],
      ['5.83', { tier: 'Plus' }],
      ['5.83', { tier: 'Pl us', version: 'v1' }],
      ['5.83', { ...PLUS, card: '4111' }],
    ] as const) {
      expect(await upgrade(upcoming, amount, undefined, wanted)).toMatchObject(
        refusal('invalid-request', 400),
      );
    }
  });
});
