import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { collectRecurring } from '../../../src/app/recurring/collect-recurring.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import type { AttemptId } from '../../../src/domain/attempt.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import { cents } from '../../../src/domain/money.ts';
import { planRecurringCancel } from '../../../src/domain/recurring/by-hand.ts';
import { recurringDeclined } from '../../../src/domain/recurring/outcomes.ts';
import { DEFAULT_RECURRING_POLICY } from '../../../src/domain/recurring/policy.ts';
import { payerOf, recurringRecordId } from '../../../src/domain/recurring/record-id.ts';
import type { RecurringSubscription } from '../../../src/domain/recurring/recurring.ts';
import type { Lock } from '../../../src/ports/lock.ts';
import { recurringLockKey } from '../../../src/ports/lock.ts';
import { day } from '../../support/floats.ts';
import type { RecurringDesk } from '../../support/recurring-desk.ts';
import { recurringDesk } from '../../support/recurring-desk.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

let here: World;
let desk: RecurringDesk;

const TODAY = at('2026-11-16T16:00:00Z');

beforeAll(async () => {
  here = await world({ withRecurring: true });
  desk = recurringDesk(here);
  await here.bank('PUT', '/clock', { now: '2026-11-16T16:00:00Z', frozen: true });
  here.now = TODAY;
});
afterAll(() => here.close());
afterEach(async () => {
  here.onStep = () => undefined;
  here.now = TODAY;
  await here.faults([]);
});

const broke = { pinless: { mode: 'decline', code: '05' } };

async function locked<T>(
  { accountId }: Pick<RecurringSubscription, 'accountId'>,
  work: (lock: Lock) => Promise<T>,
): Promise<T> {
  const acquired = await here.dependencies.locks.acquire(recurringLockKey(accountId));
  if ('busy' in acquired) throw new Error('nobody else works on this account');
  try {
    return await work(acquired.lock);
  } finally {
    await acquired.lock.release();
  }
}

/** What the janitor does about the payment that has no answer. */
async function settle(subscription: RecurringSubscription) {
  const subscriptionId = recurringRecordId(subscription);
  const userId = payerOf(subscription.accountId);
  const query = { userId, subscriptionId, triggerId: '', accountId: null };
  const { state } = await here.dependencies.pipeline.readBackground(query);
  const { attemptId } = state.open!;
  const janitor = { abandonAfterMs: 86_400_000 };
  return settleAttempt(here.dependencies, janitor, { userId, subscriptionId, attemptId });
}

describe('on its day', () => {
  it('a payment is charged once, with a receipt, and the next one is a month later', async () => {
    const before = await desk.subscription();
    const verdict = await desk.collect(before);
    expect(verdict).toMatchObject({
      verdict: 'collected',
      reason: 'PINLESS',
      amount: 1_000,
      userId: before.accountId,
      subscriptionId: `recurring.${before.accountId}.${before.recurringId}`,
      plan: { plan: 'charge', reason: 'PINLESS' },
    });
    expect(await desk.row(before)).toMatchObject({
      status: 'ACTIVE',
      periodDate: '2026-12-16',
      nextPaymentDate: '2026-12-16',
      nextReminderDate: '2026-12-09',
      lastPaymentDate: TODAY,
    });
    const [receipt, ...more] = await desk.receipts(before);
    expect(more).toEqual([]);
    const [attempt] = await here.dependencies.pipeline.attemptsOn(recurringRecordId(before));
    expect(attempt).toMatchObject({
      process: 'RECURRING',
      period: '2026-11-16',
      resolution: { status: 'COMPLETED', confirmationId: receipt!.confirmationId },
    });
    expect(receipt).toMatchObject({
      number: 1,
      attemptId: attempt!.attemptId,
      periodDate: '2026-11-16',
      processedAmount: 1_000,
      processedDate: TODAY,
      remindedDate: before.lastReminderDate,
    });
    const entries = await desk.ledger(before);
    expect(debits(entries)).toBe(1);
    expect(entries.find(({ type }) => type === 'payment.requested')).toMatchObject({
      kind: 'RECURRING',
      amount: '10.00',
    });
    // Asked again, by the same run and by the next.
    expect(await desk.collect(before, verdict.triggerId)).toEqual(verdict);
    expect(await desk.collect(before)).toMatchObject({ verdict: 'no-op', reason: 'not-due' });
    expect(debits(await desk.ledger(before))).toBe(1);
  });

  it('each of an account’s subscriptions is charged, and receipts are numbered in turn', async () => {
    const one = await desk.subscription();
    const two = await desk.subscription({}, { accountId: one.accountId, sku: 'sku-2' });
    await desk.collect(one);
    await desk.collect(two);
    expect((await desk.receipts(one)).map(({ number, sku }) => [number, sku])).toEqual([
      [2, 'sku-2'],
      [1, 'sku-1'],
    ]);
  });

  it('nobody is charged before they were told', async () => {
    const before = await desk.subscription({}, { nextReminderDate: day('2026-11-16') });
    expect(await desk.collect(before)).toMatchObject({ verdict: 'deferred', reason: 'reminder-not-sent' });
    expect(await desk.remind(before)).toMatchObject({ verdict: 'notified' });
    expect(await desk.collect(before)).toMatchObject({ verdict: 'collected' });
  });

  it('a day that was missed is caught up with, one period a day', async () => {
    const before = await desk.subscription(
      {},
      { paymentDay: 1, periodDate: day('2026-11-01'), nextPaymentDate: day('2026-11-01') },
    );
    here.now = at('2026-12-01T16:00:00Z');
    expect(await desk.collect(before)).toMatchObject({ verdict: 'collected' });
    expect(await desk.row(before)).toMatchObject({
      periodDate: '2026-12-01',
      nextPaymentDate: '2026-12-02',
      nextReminderDate: '2026-12-01',
    });
    expect(await desk.collect(before)).toMatchObject({ verdict: 'no-op' });
    here.now = at('2026-12-02T15:00:00Z');
    expect(await desk.remind(before)).toMatchObject({ verdict: 'notified' });
    expect(await desk.collect(before)).toMatchObject({ verdict: 'collected' });
    expect(await desk.row(before)).toMatchObject({ periodDate: '2027-01-01' });
  });

  it('one that is too old is not asked for any more', async () => {
    const before = await desk.subscription(
      {},
      { periodDate: day('2026-10-16'), nextPaymentDate: day('2026-10-16') },
    );
    expect(await desk.collect(before)).toMatchObject({ verdict: 'stale', reason: 'too-old' });
    expect(await desk.row(before)).toMatchObject({ status: 'ACTIVE', nextPaymentDate: '2026-12-16' });
    expect(debits(await desk.ledger(before))).toBe(0);
    expect(await desk.receipts(before)).toEqual([]);
  });
});

describe('declines', () => {
  it('are followed by the tries of the policy, and after the last it is FAILED for all to see', async () => {
    const before = await desk.subscription(broke);
    const seen = [];
    for (const date of ['2026-11-16', '2026-11-17', '2026-11-20', '2026-11-27']) {
      here.now = at(`${date}T16:00:00Z`);
      const { verdict, reason } = await desk.collect(before);
      const { status, nextPaymentDate } = await desk.row(before);
      seen.push([verdict, reason, status, nextPaymentDate]);
    }
    expect(seen).toEqual([
      ['declined', 'PINLESS-05', 'PAST_DUE', '2026-11-17'],
      ['declined', 'PINLESS-05', 'PAST_DUE', '2026-11-20'],
      ['declined', 'PINLESS-05', 'PAST_DUE', '2026-11-27'],
      ['defaulted', 'PINLESS-05', 'FAILED', null],
    ]);
    expect(await desk.row(before)).toMatchObject({ failedTries: 4, periodDate: '2026-11-16' });
    expect((await desk.row(before)).error).toMatch(/^05/);
    const { subscriptions } = await desk.recurring.getSubscriptionsByAccount(before.accountId);
    expect(subscriptions.map(({ status }) => status)).toEqual(['FAILED']);
    here.now = at('2026-12-16T16:00:00Z');
    expect(await desk.collect(before)).toMatchObject({ verdict: 'no-op', reason: 'status-not-collected' });
    expect(await desk.receipts(before)).toEqual([]);
  });

  it('that end before the last try leave it as if nothing had been, and the period keeps its day', async () => {
    const before = await desk.subscription({ pinless: { mode: 'decline', code: '62', times: 2 } });
    for (const date of ['2026-11-16', '2026-11-17', '2026-11-20']) {
      here.now = at(`${date}T16:00:00Z`);
      await desk.collect(before);
    }
    expect(await desk.row(before)).toMatchObject({
      status: 'ACTIVE',
      failedTries: 0,
      error: '',
      periodDate: '2026-12-16',
    });
    const receipts = await desk.receipts(before);
    expect(receipts.map(({ periodDate, processedDate }) => [periodDate, processedDate])).toEqual([
      ['2026-11-16', at('2026-11-20T16:00:00Z')],
    ]);
    expect(debits(await desk.ledger(before))).toBe(1);
  });
});

describe('when a worker dies', () => {
  it.each(['locked', 'intent-written', 'charged', 'outcome-written'] as const)(
    'after %s, the next one finishes: one debit, one receipt',
    async (deadly) => {
      const before = await desk.subscription();
      here.onStep = (step) => {
        if (step === deadly) throw new Error('died');
      };
      await expect(desk.collect(before, 'run-1')).rejects.toThrow('died');
      here.onStep = () => undefined;
      expect(await desk.collect(before, 'run-1')).toMatchObject({ verdict: 'collected' });
      expect(debits(await desk.ledger(before))).toBe(1);
      expect((await desk.receipts(before)).map(({ number, periodDate }) => [number, periodDate])).toEqual([
        [1, '2026-11-16'],
      ]);
      expect(await desk.row(before)).toMatchObject({ nextPaymentDate: '2026-12-16' });
    },
  );

  it('the run of the next day resumes what that of the day before began: same key, same period', async () => {
    const before = await desk.subscription();
    here.onStep = (step) => {
      if (step === 'charged') throw new Error('died');
    };
    await expect(desk.collect(before, 'run-1')).rejects.toThrow('died');
    here.onStep = () => undefined;
    here.now = plusDays(TODAY, 1);
    expect(await desk.collect(before, 'run-2')).toMatchObject({ verdict: 'collected' });
    expect(debits(await desk.ledger(before))).toBe(1);
    expect(await desk.receipts(before)).toHaveLength(1);
    expect(await desk.row(before)).toMatchObject({ nextPaymentDate: '2026-12-16' });
  });

  it('a payment without an answer stays open, and the one after it is the same', async () => {
    const before = await desk.subscription();
    await here.faults([{ id: 'lost', service: 'payments', fault: 'error-after', times: 3 }]);
    expect(await desk.collect(before)).toMatchObject({ verdict: 'unknown', reason: 'no-answer' });
    expect(await desk.row(before)).toMatchObject({ nextPaymentDate: '2026-11-16', status: 'ACTIVE' });
    await here.faults([]);
    expect(await desk.collect(before)).toMatchObject({ verdict: 'collected' });
    expect(debits(await desk.ledger(before))).toBe(1);
    expect(await desk.receipts(before)).toHaveLength(1);
  });

  it('whoever cancels meanwhile has left: the answer brings the receipt and nothing else', async () => {
    const before = await desk.subscription();
    here.onStep = (step) => {
      if (step === 'charged') throw new Error('died');
    };
    await expect(desk.collect(before, 'run-1')).rejects.toThrow('died');
    here.onStep = () => undefined;
    await locked(before, async ({ fence }) => {
      const current = await desk.row(before);
      const plan = planRecurringCancel(current, 'shop', TODAY);
      if (plan.plan !== 'change') throw new Error('refused');
      await desk.recurring.updateSubscription(fence, current, plan.change);
    });
    expect(await desk.collect(before)).toMatchObject({ verdict: 'no-op', reason: 'status-not-collected' });
    expect(await settle(before)).toMatchObject({ settled: { verdict: 'collected' } });
    expect(await desk.row(before)).toMatchObject({ status: 'CANCELLED', nextPaymentDate: null });
    expect(await desk.receipts(before)).toHaveLength(1);
    expect(debits(await desk.ledger(before))).toBe(1);
  });
});

describe('the janitor', () => {
  const dieAfter = async (before: RecurringSubscription, deadly: string) => {
    here.onStep = (step) => {
      if (step === deadly) throw new Error('died');
    };
    await expect(desk.collect(before, 'run-1')).rejects.toThrow('died');
    here.onStep = () => undefined;
  };

  it('brings the answer that was lost: receipt, next dates, and the verdict of the run that asked', async () => {
    const before = await desk.subscription();
    await dieAfter(before, 'charged');
    expect(await settle(before)).toMatchObject({ settled: { verdict: 'collected', triggerId: 'run-1' } });
    expect(await desk.row(before)).toMatchObject({ nextPaymentDate: '2026-12-16' });
    expect(await desk.receipts(before)).toHaveLength(1);
    expect(await desk.collect(before, 'run-1')).toMatchObject({ verdict: 'collected' });
    expect(debits(await desk.ledger(before))).toBe(1);
  });

  it.each([
    { status: 'ACTIVE', failedTries: 0 },
    // The next decline would be the last.
    { status: 'PAST_DUE', failedTries: 3 },
  ] as const)('gives up after a day what the processor never knew of: no try of %o', async (fields) => {
    const before = await desk.subscription({}, fields);
    await dieAfter(before, 'intent-written');
    expect(await settle(before)).toEqual({ left: 'no-word-yet' });
    here.now = plusDays(TODAY, 1);
    expect(await settle(before)).toMatchObject({
      settled: { verdict: 'declined', reason: 'PINLESS-abandoned' },
    });
    expect(await desk.row(before)).toMatchObject({ ...fields, nextPaymentDate: '2026-11-18' });
    expect(await desk.receipts(before)).toEqual([]);
    here.now = plusDays(TODAY, 2);
    expect(await desk.collect(before)).toMatchObject({ verdict: 'collected' });
    expect(debits(await desk.ledger(before))).toBe(1);
  });
});

describe('a reminder', () => {
  const soon = {
    periodDate: day('2026-11-23'),
    nextPaymentDate: day('2026-11-23'),
    paymentDay: 23,
    nextReminderDate: day('2026-11-16'),
  };

  it('tells the account what is charged, when and for what; once', async () => {
    const before = await desk.subscription({}, soon);
    const verdict = await desk.remind(before);
    expect(verdict).toMatchObject({
      verdict: 'notified',
      reason: 'recurring_payment_reminder',
      amount: 1_000,
    });
    expect(await desk.row(before)).toMatchObject({ nextReminderDate: null, lastReminderDate: TODAY });
    expect(await desk.remind(before, verdict.triggerId)).toEqual(verdict);
    expect(await desk.remind(before)).toMatchObject({ verdict: 'no-op', reason: 'already-reminded' });
    expect(await desk.told(before)).toMatchObject([
      { template: 'recurring_payment_reminder', duplicate: false },
    ]);
  });

  it('of which nobody could write down that it was sent is sent again, and comes once', async () => {
    const before = await desk.subscription({}, soon);
    const { notifications } = desk.dependencies;
    const dying = {
      send: async (notification: Parameters<typeof notifications.send>[0]) => {
        await notifications.send(notification);
        throw new Error('died');
      },
    };
    await expect(desk.remind(before, 'run-1', { notifications: dying })).rejects.toThrow('died');
    expect(await desk.row(before)).toEqual(before);
    expect(await desk.remind(before, 'run-1')).toMatchObject({ verdict: 'notified' });
    expect((await desk.told(before)).map(({ duplicate }) => duplicate)).toEqual([false, true]);
  });

  it('is not written down while nobody could send it', async () => {
    const before = await desk.subscription({}, soon);
    await here.faults([{ id: 'down', service: 'notifications', fault: 'error-before' }]);
    await expect(desk.remind(before, 'run-1')).rejects.toThrow('notifications service');
    expect(await desk.row(before)).toEqual(before);
    await here.faults([]);
    expect(await desk.remind(before, 'run-1')).toMatchObject({ verdict: 'notified' });
  });

  it('for what was missed names today', async () => {
    const missed = { periodDate: day('2026-11-10'), nextPaymentDate: day('2026-11-10') };
    const before = await desk.subscription({}, { ...missed, nextReminderDate: day('2026-11-03') });
    const sent: unknown[] = [];
    const notifications = { send: (one: unknown) => Promise.resolve(void sent.push(one)) };
    await desk.remind(before, undefined, { notifications });
    expect(sent).toEqual([
      {
        userId: before.accountId,
        template: 'recurring_payment_reminder',
        data: {
          subscription_id: before.recurringId,
          sku: 'sku-1',
          email: 'someone@example.com',
          payment_date: '2026-11-16',
          amount: '10.00',
        },
        dedupeKey: `recurring.${before.accountId}.${before.recurringId}.2026-11-10.recurring_payment_reminder.2026-11-09T15:00:00.000000001Z`,
      },
    ]);
  });

  it.each(['BANNED', 'PAUSED', 'INVESTIGATE'])('does not go to an account that is %s', async (status) => {
    const before = await desk.subscription({ status }, soon);
    expect(await desk.remind(before)).toMatchObject({ verdict: 'deferred' });
    expect(await desk.row(before)).toEqual(before);
    expect(await desk.told(before)).toEqual([]);
  });
});

describe('what stands against it', () => {
  it('a freeze of everything, of the account or of the rail puts it off', async () => {
    const freezes = new DynamoFreezes({
      client: here.store.client,
      table: here.store.tables.pipeline,
      timer: systemTimer,
    });
    const before = await desk.subscription();
    const userId = payerOf(before.accountId);
    for (const target of [{ scope: 'global' }, { scope: 'PINLESS' }, { scope: 'user', userId }] as const) {
      await freezes.freeze({ target, reason: 'test', who: 'tester', at: TODAY, until: null });
      expect(await desk.collect(before)).toMatchObject({ verdict: 'deferred' });
      await freezes.unfreeze(target, { who: 'tester', at: TODAY });
    }
    expect(await desk.row(before)).toEqual(before);
    expect(await desk.collect(before)).toMatchObject({ verdict: 'collected' });
  });

  it.each(['BANNED', 'PAUSED', 'INVESTIGATE', 'PROCESSING'])(
    'an account that is %s is put off',
    async (status) => {
      const before = await desk.subscription({ status });
      expect(await desk.collect(before)).toMatchObject({ verdict: 'deferred' });
      expect(await desk.row(before)).toEqual(before);
    },
  );

  it('a row that cannot be read is reported and left alone', async () => {
    const { accountId, recurringId } = await desk.subscription();
    const odd = { S: `SUB#odd#SKU#x` };
    const Item = { PK: { S: `ACC#${accountId}` }, SK: odd, SKU: { S: 'x' }, PaymentAmount: { S: 'much' } };
    await here.store.client.send(new PutItemCommand({ TableName: here.store.tables.recurring, Item }));
    const ref = { accountId, recurringId: 'odd' as typeof recurringId };
    const verdict = await desk.collect(ref);
    expect(verdict).toMatchObject({ verdict: 'malformed' });
    expect(verdict.detail).not.toContain('much');
    expect(await desk.remind(ref)).toMatchObject({ verdict: 'malformed' });
    expect(await desk.collect({ accountId, recurringId })).toMatchObject({ verdict: 'collected' });
    const gone = { accountId, recurringId: 'gone' as typeof recurringId };
    expect(await desk.collect(gone)).toMatchObject({ verdict: 'no-op', reason: 'record-gone' });
  });

  it('nothing to pay', async () => {
    const before = await desk.subscription({}, { paymentAmount: cents(0) });
    expect(await desk.collect(before)).toMatchObject({ verdict: 'skipped', reason: 'amount-not-positive' });
  });
});

describe('two at once', () => {
  it('on one account: one works, the others find the lock', async () => {
    const before = await desk.subscription();
    const { accountId, recurringId } = before;
    const ask = () =>
      collectRecurring(desk.dependencies, { accountId, recurringId, triggerId: `t-${randomUUID()}` });
    const results = await Promise.all([ask(), ask(), ask(), ask()]);
    expect(
      results.filter((result) => 'verdict' in result && result.verdict.verdict === 'collected'),
    ).toHaveLength(1);
    expect(debits(await desk.ledger(before))).toBe(1);
    expect(await desk.receipts(before)).toHaveLength(1);
  });

  it('whoever slept past its lease writes nothing over what the next one did', async () => {
    const before = await desk.subscription();
    const fence = await locked(before, (lock) => Promise.resolve(lock.fence));
    const late = recurringDeclined(
      before,
      { attemptId: 'late' as AttemptId },
      'late',
      DEFAULT_RECURRING_POLICY,
      TODAY,
    );
    await expect(desk.recurring.updateSubscription(fence, before, late)).rejects.toThrow('lock');
    expect(await desk.row(before)).toEqual(before);
  });
});
