import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Bench } from '../../audit/bench.ts';
import { bench } from '../../audit/bench.ts';
import type { MembershipDesk } from '../../support/membership-desk.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import type { PaymentDesk } from '../../support/payment-desk.ts';
import { paymentDesk } from '../../support/payment-desk.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits } from '../../support/world.ts';

/* What is said about a membership while a payment is under way must not be forgotten when the payment is known. */

let on: Bench;
let here: World;
let payments: PaymentDesk;
let memberships: MembershipDesk;
let start: Instant = at('2026-11-30T08:00:00Z');

beforeAll(async () => {
  on = await bench();
  here = on.here;
  payments = paymentDesk(here);
  memberships = membershipDesk(here);
});
afterAll(async () => {
  await payments.close();
  await on.close();
});
beforeEach(async () => {
  start = plusDays(start, 56);
  await on.at(start);
});
afterEach(async () => {
  expect((await on.audit()).violations).toEqual([]);
});

const HOUR = 3_600_000;
const RETURNS_ONCE = { mode: 'return', code: 'R01', times: 1 };

const member = (settings: object = {}, fields: object = {}) =>
  here.member(settings, { billingDate: plusMs(start, -2 * HOUR), ...fields });

/** The charge was made, and whoever sent it died before the answer. */
async function unanswered(
  path: 'INITIAL' | 'MANUAL_REPAYMENT',
  settings: object = {},
): Promise<StoredSubscription> {
  const record = await member(settings);
  here.onStep = (step) => {
    if (step === 'charged') throw new Error('killed');
  };
  await expect(here.collect(path, record)).rejects.toThrow('killed');
  here.onStep = () => undefined;
  return record;
}

async function janitorHears({ userId, subscriptionId }: StoredSubscription): Promise<void> {
  const [attempt] = await here.dependencies.pipeline.attemptsOn(subscriptionId);
  const settled = await settleAttempt(
    here.dependencies,
    { abandonAfterMs: 24 * HOUR },
    { userId, subscriptionId, attemptId: attempt!.attemptId },
  );
  expect(settled).toHaveProperty('settled');
}

const upcoming = async ({ userId, subscriptionId }: StoredSubscription) =>
  (await here.partition(userId)).filter((row) => row.subscriptionId !== subscriptionId);

describe('a payment by hand whose answer was lost', () => {
  it.each([
    ['CANCEL', {}, [{ billingStatus: 'SCHEDULED', updatedEvent: 'PENDING_CANCELLATION' }]],
    ['SUB_PAUSED', { pause_duration_months: 2 }, [{ billingStatus: 'PAUSED', pauseDurationMonths: 2 }]],
    ['CLOSEACCOUNT', {}, []],
  ] as const)('while %s was said opens what follows from that', async (type, data, expected) => {
    const record = await unanswered('MANUAL_REPAYMENT');
    await memberships.happens(record.userId, type, data);
    await janitorHears(record);
    expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED' });
    const next = await upcoming(record);
    expect(next).toHaveLength(expected.length);
    for (const [index, fields] of expected.entries()) expect(next[index]).toMatchObject(fields);
  });

  it('while nothing was said opens the next period', async () => {
    const record = await unanswered('MANUAL_REPAYMENT');
    await janitorHears(record);
    expect(await upcoming(record)).toMatchObject([{ billingStatus: 'SCHEDULED', updatedEvent: '' }]);
  });
});

describe('an entry that was sent before its member cancelled', () => {
  it('is not asked for again when it was paid and came back', async () => {
    const record = await unanswered('INITIAL', { has_debit_card: false, ach: RETURNS_ONCE });
    await memberships.happens(record.userId, 'CANCEL');
    await janitorHears(record);
    const sent = await here.row(record);
    await on.at(plusDays(start, 7));
    await payments.tell('COMPLETED', sent);
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'COMPLETED',
      updatedEvent: 'PENDING_CANCELLATION',
    });
    await payments.tell('RETURNED', sent);
    expect(await here.collect('RETRY', record)).toMatchObject({
      verdict: 'cancelled',
      reason: 'pending-cancellation',
    });
  });
});

describe('an entry whose account was closed while it was sent', () => {
  /** Whoever sent it was told of the account that was closed when it wrote the answer down. */
  async function sentAndClosed(): Promise<StoredSubscription> {
    const record = await member({ has_debit_card: false, ach: RETURNS_ONCE });
    here.onStep = async (step) => {
      if (step === 'charged') await memberships.happens(record.userId, 'CLOSEACCOUNT');
    };
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
    here.onStep = () => undefined;
    await on.at(plusDays(start, 7));
    return here.row(record);
  }

  const debitsOf = async (record: StoredSubscription) => debits(await here.ledger(record));

  it.each(['RETRY', 'WEBHOOK'] as const)('is not asked for again by %s when it came back', async (path) => {
    const sent = await sentAndClosed();
    await payments.tell('RETURNED', sent);
    expect(await here.row(sent)).toMatchObject({ billingStatus: 'ERROR', updatedEvent: 'account-closed' });
    expect(await here.collect(path, sent)).toMatchObject({ verdict: 'cancelled', reason: 'account-closed' });
    expect(await here.row(sent)).toMatchObject({
      billingStatus: 'CANCELLED',
      updatedEvent: 'account-closed',
    });
    expect(await debitsOf(sent)).toBe(1);
  });

  it('is not asked for again when it was paid, and came back late', async () => {
    const sent = await sentAndClosed();
    await payments.tell('COMPLETED', sent);
    expect(await here.row(sent)).toMatchObject({
      billingStatus: 'COMPLETED',
      updatedEvent: 'account-closed',
    });
    await payments.tell('RETURNED', sent);
    expect(await here.collect('RETRY', sent)).toMatchObject({
      verdict: 'cancelled',
      reason: 'account-closed',
    });
    expect(await debitsOf(sent)).toBe(1);
  });

  it('is not paid by hand either', async () => {
    const sent = await sentAndClosed();
    await payments.tell('RETURNED', sent);
    expect(await here.collect('MANUAL_REPAYMENT', sent)).toMatchObject({
      verdict: 'skipped',
      reason: 'account-closed',
    });
    expect(await here.row(sent)).toMatchObject({ billingStatus: 'ERROR' });
  });
});

describe('a payment that is completed a second time', () => {
  it('is news to others again', async () => {
    const record = await member({ has_debit_card: false, ach: RETURNS_ONCE });
    await here.collect('INITIAL', record);
    const first = await here.row(record);
    await on.at(plusDays(start, 7));
    await payments.tell('COMPLETED', first);
    await payments.tell('RETURNED', first);
    const owed = await here.row(record);
    expect(owed).toMatchObject({ billingStatus: 'ERROR', updatedEvent: '' });
    await on.at(plusDays(start, 14));
    expect(await here.collect('RETRY', record)).toMatchObject({ verdict: 'sent' });
    const second = await here.row(record);
    await on.at(plusDays(start, 21));
    await payments.tell('COMPLETED', second);
    const paid = await here.row(record);
    expect(paid.updatedEvent).toBe('payment-completed');
    expect(second.updatedEvent).not.toBe(paid.updatedEvent);
  });
});
