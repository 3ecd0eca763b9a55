import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant, plusDays } from '../../../src/domain/instant.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { ProcessorBusyError } from '../../../src/errors.ts';
import { injectFaults } from '../../support/dynamo-faults.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';
import { at } from '../../support/records.ts';

let here: World;

beforeAll(async () => {
  here = await world();
});
afterAll(() => here.close());
afterEach(async () => {
  here.onStep = () => undefined;
  here.now = at('2026-11-16T08:00:00Z');
  await here.faults([]);
});

const noCard = { has_debit_card: false };
const poor = { balance: { amount: '3.00' } };

describe('a record that is due', () => {
  it('is charged over the card, once, and the next period is opened with the intent', async () => {
    const record = await here.member();
    const verdict = await here.collect('INITIAL', record);

    expect(verdict).toMatchObject({ verdict: 'collected', reason: 'PINLESS', amount: 499 });
    const [row, next, ...more] = await here.partition(record.userId);
    expect(row).toMatchObject({
      billingStatus: 'COMPLETED',
      process: 'INITIAL',
      usioError: '',
      receiptPaymentType: 'PINLESS',
    });
    expect(row!.transactionId).toMatch(/^USIO-/);
    expect([row!.initialRunDate, row!.completionDate]).toEqual([here.now, here.now]);
    expect(next).toMatchObject({
      billingStatus: 'SCHEDULED',
      billingDate: at('2026-12-16T06:00:00Z'),
      billingPeriod: '12/2026',
      initialRunDate: null,
    });
    expect(more).toEqual([]);
    const entries = await here.ledger(record);
    expect(debits(entries)).toBe(1);
    expect(entries.some(({ idempotency_key }) => idempotency_key === verdict.attemptId)).toBe(true);
  });

  it('costs six DynamoDB requests', async () => {
    const record = await here.member();
    const faults = injectFaults(here.store.client);
    await here.collect('INITIAL', record);
    const commands = [
      'PutItemCommand',
      'UpdateItemCommand',
      'QueryCommand',
      'BatchGetItemCommand',
      'TransactWriteItemsCommand',
      'GetItemCommand',
    ];
    const calls = commands.map((name) => faults.calls(name));
    faults.remove();
    // Acquire, the user's records, everything else in one batch, intent, outcome, release.
    expect(calls).toEqual([1, 1, 1, 1, 2, 0]);
  });

  it('leaves one history row for each change, with the attempt and the trigger', async () => {
    const record = await here.member();
    const { attemptId } = await here.collect('INITIAL', record, 'run-1');
    const { entries } = await here.store.history.getByID(record.subscriptionId);
    expect(entries.map(({ data }) => data['cause'])).toEqual([
      'plan-changed',
      'attempt-opened',
      'attempt-succeeded',
    ]);
    expect(entries[1]!.data).toMatchObject({ attempt_id: attemptId, trigger_id: 'run-1' });
    const row = await here.row(record);
    expect(entries.at(-1)!.subscription.lastRunDate).toBe(row.lastRunDate);
  });

  it('without a card goes by ACH and waits for the bank', async () => {
    const record = await here.member(noCard);
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent', reason: 'ACH' });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'ACHSENT',
      receiptPaymentType: 'ACH',
      completionDate: null,
    });
  });

  it.each(['62', '05'])('whose card says %s is charged by ACH instead', async (code) => {
    const record = await here.member({ pinless: { mode: 'decline', code } });
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent', reason: 'ACH' });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'ACHSENT', usioError: '' });
    const asked = (await here.ledger(record))
      .filter(({ type }) => type === 'payment.requested')
      .map(({ method }) => method);
    expect(asked).toEqual(['PINLESS', 'ACH']);
  });

  it('whose card is declined for another reason is in error, with the processor’s text', async () => {
    const record = await here.member({ pinless: { mode: 'decline', code: '14' } });
    expect(await here.collect('INITIAL', record)).toMatchObject({
      verdict: 'declined',
      reason: 'PINLESS-14',
    });
    const row = await here.row(record);
    expect(row.billingStatus).toBe('ERROR');
    expect(row.usioError).toMatch(/^14/);
    expect(debits(await here.ledger(record))).toBe(0);
    expect(await here.partition(record.userId)).toHaveLength(2);
  });

  it.each([
    ['a balance too low', poor, 'balance-too-low', 'balance too low by $1.99'],
    ['no account', { account: null, has_debit_card: false }, 'no-account', 'no primary account'],
  ])('with %s is in error and no processor was asked', async (_, settings, reason, text) => {
    const record = await here.member(settings);
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'refused', reason });
    const [row, next] = await here.partition(record.userId);
    expect(row).toMatchObject({ billingStatus: 'ERROR', usioError: text, initialRunDate: here.now });
    expect(next).toMatchObject({ billingStatus: 'SCHEDULED' });
    expect(await here.ledger(record)).toEqual([]);
  });
});

describe('what is decided is done', () => {
  const changed = async (
    record: StoredSubscription,
    fields: Partial<StoredSubscription>,
  ): Promise<StoredSubscription> => {
    const fence = await here.store.takeLock(record.userId);
    const context = await here.store.context(record.userId, { cause: 'membership-cancelled' });
    const written = await here.store.subscriptions.add(fence, { ...record, ...fields }, context);
    await here.store.releaseLock(record.userId);
    return written;
  };

  it('a pending cancellation is carried out and the chain ends', async () => {
    const record = await changed(await here.member(), { updatedEvent: 'PENDING_CANCELLATION' });
    expect(await here.collect('INITIAL', record)).toMatchObject({
      verdict: 'cancelled',
      reason: 'pending-cancellation',
    });
    const rows = await here.partition(record.userId);
    expect(rows).toMatchObject([{ billingStatus: 'CANCELLED', completionDate: here.now }]);
  });

  it.each([
    ['PAUSED', 'user-cancelled'],
    ['BANNED', 'user-banned'],
  ])('a user who is %s is cancelled', async (status, reason) => {
    const record = await here.member({ status });
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'cancelled', reason });
    expect(await here.partition(record.userId)).toMatchObject([{ billingStatus: 'CANCELLED' }]);
  });

  it.each([
    ['PROCESSING', 'user-processing'],
    ['INVESTIGATE', 'user-under-investigation'],
  ])('a user who is %s waits, untouched', async (status, reason) => {
    const record = await here.member({ status });
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'deferred', reason });
    expect(await here.partition(record.userId)).toEqual([record]);
  });

  it('an employee is waived and goes on', async () => {
    const record = await here.member({ is_employee: true });
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'waived', reason: 'employee' });
    expect(await here.partition(record.userId)).toMatchObject([
      { billingStatus: 'WAIVED' },
      { billingStatus: 'SCHEDULED' },
    ]);
  });

  it('an old debt is written off, and the member goes on', async () => {
    const record = await here.member({}, { billingDate: at('2026-10-01T06:00:00Z') });
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'stale', reason: 'too-old' });
    expect(await here.partition(record.userId)).toMatchObject([
      { billingStatus: 'STALE' },
      { billingStatus: 'SCHEDULED', billingDate: at('2026-11-01T06:00:00Z') },
    ]);
  });

  it.each([
    [2, { billingStatus: 'PAUSED', pauseDurationMonths: 1, updatedEvent: '' }, 'pause-goes-on'],
    [
      1,
      { billingStatus: 'SCHEDULED', pauseDurationMonths: 0, updatedEvent: 'pause-resume' },
      'pause-is-over',
    ],
    [-1, { billingStatus: 'PAUSED', pauseDurationMonths: -1 }, 'pause-goes-on'],
  ])('a paused period with %i months is skipped and %j follows', async (months, next, reason) => {
    const record = await here.member(
      {},
      { billingStatus: 'PAUSED', pauseDurationMonths: months, updatedEvent: 'SUB_PAUSED' },
    );
    expect(await here.collect('PAUSE', record)).toMatchObject({ verdict: 'pause-skipped', reason });
    expect(await here.partition(record.userId)).toMatchObject([
      { billingStatus: 'PAUSED_SKIPPED', updatedEvent: 'pause-skipped', pauseDurationMonths: months },
      next,
    ]);
  });

  it('a record of another status is left alone, and nobody is asked about its user', async () => {
    const record = await here.member({}, { billingStatus: 'COMPLETED' });
    expect(await here.collect('INITIAL', record)).toMatchObject({
      verdict: 'no-op',
      reason: 'status-not-collected',
    });
    expect(await here.ledger(record)).toEqual([]);
  });

  it('a record that is gone, or cannot be read, leaves a verdict', async () => {
    const record = await here.member();
    const gone = { ...record, subscriptionId: randomUUID() as typeof record.subscriptionId };
    expect(await here.collect('INITIAL', gone)).toMatchObject({ verdict: 'no-op', reason: 'record-gone' });
    const item = (await here.store.billingRow(record.userId, formatInstant(record.billingDate)))!;
    await here.store.putBillingRow({ ...item, billing_amount: { S: 'lots' } });
    const verdict = await here.collect('INITIAL', record);
    expect(verdict.verdict).toBe('malformed');
    expect(verdict.reason).toContain('billing_amount');
  });
});

describe('asked twice', () => {
  it('by the same trigger, a record is considered once', async () => {
    const record = await here.member();
    const first = await here.collect('INITIAL', record, 'run-1');
    expect(await here.collect('INITIAL', record, 'run-1')).toEqual(first);
    expect(debits(await here.ledger(record))).toBe(1);
  });

  it('a decline that was written is not tried again by the same run', async () => {
    const record = await here.member({ pinless: { mode: 'decline', code: '14' } });
    await here.collect('INITIAL', record, 'run-0');
    here.now = plusDays(here.now, 1);
    const first = await here.collect('RETRY', record, 'run-1');
    expect(await here.collect('RETRY', record, 'run-1')).toEqual(first);
    const asked = (await here.ledger(record)).filter(({ type }) => type === 'payment.requested');
    expect(asked).toHaveLength(2);
    expect(await here.collect('RETRY', record, 'run-2')).toMatchObject({
      verdict: 'skipped',
      reason: 'retried-today',
    });
  });

  it('at the same time, one works and the others find it busy', async () => {
    const record = await here.member();
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => here.collect('INITIAL', record, `run-${i}`)),
    );
    const refusals = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as Error] : [],
    );
    expect(refusals.length).toBeLessThan(8);
    for (const { message } of refusals) expect(message).toBe('somebody else works on this member');
    expect(debits(await here.ledger(record))).toBe(1);
  });
});

describe('when the answer does not come', () => {
  const losing = (fault: string, record: StoredSubscription, times: number) => ({
    id: randomUUID(),
    service: 'payments',
    fault,
    times,
    match: { user_id: record.userId },
  });

  it('after the charge was made: unknown, blocked on every path, and then resumed with the same key: one debit', async () => {
    const record = await here.member();
    await here.faults([losing('timeout-after', record, 3)]);
    const verdict = await here.collect('INITIAL', record, 'run-1');
    expect(verdict).toMatchObject({ verdict: 'unknown', reason: 'no-answer' });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'SCHEDULED' });
    expect(await here.collect('MANUAL_REPAYMENT', record)).toMatchObject({
      verdict: 'blocked',
      reason: 'open-attempt',
    });

    expect(await here.collect('INITIAL', record, 'run-2')).toMatchObject({
      verdict: 'collected',
      attemptId: verdict.attemptId,
    });
    expect(debits(await here.ledger(record))).toBe(1);
    expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED' });
  });

  it.each(['timeout-before', 'error-before', 'error-after', 'timeout-after'])(
    'once (%s): the same key goes out again under the lock',
    async (fault) => {
      const record = await here.member();
      await here.faults([losing(fault, record, 1)]);
      expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });
      expect(debits(await here.ledger(record))).toBe(1);
    },
  );

  it('a processor that asks for a moment gets it; one that asks for long is left alone and the attempt goes on later', async () => {
    const record = await here.member();
    await here.faults([{ ...losing('too-many', record, 1), ms: 1_000 }]);
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });

    const other = await here.member();
    await here.faults([{ ...losing('too-many', other, 1), ms: 60_000 }]);
    await expect(here.collect('INITIAL', other, 'run-1')).rejects.toThrow(ProcessorBusyError);
    expect(await here.collect('INITIAL', other, 'run-1')).toMatchObject({ verdict: 'collected' });
    expect(debits(await here.ledger(other))).toBe(1);
  });

  it('a payment by hand that a run resumes is still one by hand: the next period is opened once it succeeded', async () => {
    const record = await here.member();
    await here.faults([losing('timeout-after', record, 3)]);
    expect(await here.collect('MANUAL_REPAYMENT', record)).toMatchObject({ verdict: 'unknown' });
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });
    expect(await here.partition(record.userId)).toMatchObject([
      { billingStatus: 'COMPLETED', process: 'MANUAL_REPAYMENT' },
      { billingStatus: 'SCHEDULED', billingDate: at('2026-12-16T06:00:00Z') },
    ]);
  });

  it('and one that was declined leaves the record as it was', async () => {
    const record = await here.member({ pinless: { mode: 'decline', code: '14' } });
    await here.faults([losing('timeout-after', record, 3)]);
    await here.collect('MANUAL_REPAYMENT', record);
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'declined' });
    expect(await here.partition(record.userId)).toMatchObject([
      { billingStatus: 'SCHEDULED', initialRunDate: null },
    ]);
  });

  it('what forbids a charge keeps an open attempt from being repeated', async () => {
    const record = await here.member();
    await here.faults([losing('timeout-before', record, 3)]);
    await here.collect('INITIAL', record);
    await here.bank('PUT', `/sandbox/users/${record.userId}`, { status: 'INVESTIGATE' });
    expect(await here.collect('INITIAL', record)).toMatchObject({
      verdict: 'blocked',
      reason: 'user-under-investigation',
    });
    expect(debits(await here.ledger(record))).toBe(0);
  });
});

describe('when a worker dies', () => {
  it.each(['locked', 'intent-written', 'charged', 'outcome-written'] as const)(
    'after %s, the next one finishes: one debit, one next period',
    async (deadly) => {
      const record = await here.member();
      here.onStep = (step) => {
        if (step === deadly) throw new Error('died');
      };
      await expect(here.collect('INITIAL', record, 'run-1')).rejects.toThrow('died');
      here.onStep = () => undefined;
      expect(await here.collect('INITIAL', record, 'run-1')).toMatchObject({ verdict: 'collected' });
      expect(debits(await here.ledger(record))).toBe(1);
      expect(await here.partition(record.userId)).toMatchObject([
        { billingStatus: 'COMPLETED' },
        { billingStatus: 'SCHEDULED' },
      ]);
    },
  );

  it('between the card’s decline and the account, the record is in error and nothing was taken', async () => {
    const record = await here.member({ pinless: { mode: 'decline', code: '62' } });
    let charges = 0;
    here.onStep = (step) => {
      if (step === 'charged' && (charges += 1) === 1) throw new Error('died');
    };
    await expect(here.collect('INITIAL', record, 'run-1')).rejects.toThrow('died');
    expect(await here.collect('INITIAL', record, 'run-1')).toMatchObject({
      verdict: 'declined',
      reason: 'PINLESS-62',
    });
    expect(debits(await here.ledger(record))).toBe(0);
  });
});

describe('when an account is closed between the charge and its outcome', () => {
  const closeAccount = async (record: StoredSubscription): Promise<void> => {
    const open = (await here.partition(record.userId)).filter(
      ({ billingStatus }) => billingStatus === 'SCHEDULED',
    );
    const cancelled = open.map((row) => ({
      ...row,
      billingStatus: 'CANCELLED' as const,
      updatedEvent: 'account-closed',
    }));
    await here.store.subscriptions.addAll(
      'unlocked',
      cancelled,
      await here.store.context(record.userId, { cause: 'account-closed' }),
    );
  };

  it('the money is recorded, the event’s flag kept, and no period follows', async () => {
    const record = await here.member();
    here.onStep = async (step) => {
      if (step === 'charged') await closeAccount(record);
    };
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });
    expect(await here.partition(record.userId)).toMatchObject([
      { billingStatus: 'COMPLETED', updatedEvent: 'account-closed' },
      { billingStatus: 'CANCELLED', updatedEvent: 'account-closed' },
    ]);
    expect(debits(await here.ledger(record))).toBe(1);
  });

  it('a decline leaves the status that the closing set', async () => {
    const record = await here.member({ pinless: { mode: 'decline', code: '14' } });
    here.onStep = async (step) => {
      if (step === 'charged') await closeAccount(record);
    };
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'declined' });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'CANCELLED',
      updatedEvent: 'account-closed',
    });
  });
});

describe('a payment by hand', () => {
  it('on a scheduled record is a first attempt once it succeeds', async () => {
    const record = await here.member(
      { balance: { amount: '5.00' } },
      { billingDate: at('2026-11-20T06:00:00Z') },
    );
    expect(await here.collect('MANUAL_REPAYMENT', record)).toMatchObject({ verdict: 'collected' });
    expect(await here.partition(record.userId)).toMatchObject([
      { billingStatus: 'COMPLETED', process: 'MANUAL_REPAYMENT', initialRunDate: here.now },
      { billingStatus: 'SCHEDULED', billingDate: at('2026-12-20T06:00:00Z') },
    ]);
  });

  it('that is declined leaves the status, and neither a first attempt nor a next period', async () => {
    const record = await here.member({ pinless: { mode: 'decline', code: '62' } });
    expect(await here.collect('MANUAL_REPAYMENT', record)).toMatchObject({ verdict: 'declined' });
    const rows = await here.partition(record.userId);
    expect(rows).toMatchObject([
      { billingStatus: 'SCHEDULED', process: 'MANUAL_REPAYMENT', initialRunDate: null },
    ]);
    expect(rows[0]!.usioError).toMatch(/^62/);
    expect(rows[0]!.transactionId).not.toBe('');
  });
});
