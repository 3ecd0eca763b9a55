import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { applyPaymentEvent } from '../../../src/app/apply-payment-event.ts';
import { settleAch } from '../../../src/app/settle-ach.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { dateOf } from '../../../src/domain/calendar-date.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import type { SubscriptionId, UserId } from '../../../src/domain/subscription.ts';
import { subscriptionLockKey } from '../../../src/ports/lock.ts';
import type { Processor, UserService } from '../../../src/ports/services.ts';
import type { MoneyToDecide } from '../../../src/ports/money-to-decide.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Bench } from '../../audit/bench.ts';
import { bench } from '../../audit/bench.ts';
import { injectFaults, fail, timedOut } from '../../support/dynamo-faults.ts';
import type { News, PaymentDesk } from '../../support/payment-desk.ts';
import { NEWS, paymentDesk } from '../../support/payment-desk.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits } from '../../support/world.ts';

const HOUR = 3_600_000;

let on: Bench;
let here: World;
let desk: PaymentDesk;
/** A Monday. Each test has its own, because the bank's clock does not go back. */
let start: Instant = at('2026-11-30T08:00:00Z');

beforeAll(async () => {
  on = await bench();
  here = on.here;
  desk = paymentDesk(here);
});
afterAll(async () => {
  await desk.close();
  await on.close();
});
beforeEach(async () => {
  start = plusDays(start, 56);
  await on.at(start);
});
afterEach(async () => {
  here.onStep = () => undefined;
  await here.faults([]);
  expect((await on.audit()).violations).toEqual([]);
});

/** By then the bank has said everything, whatever holidays there were. */
const aWeekLater = () => on.at(plusDays(start, 7));

/** A member without a card, with a record that is due. */
const member = (settings: object = {}) =>
  here.member({ has_debit_card: false, ...settings }, { billingDate: plusMs(start, -2 * HOUR) });

/** The same, sent to the bank. */
async function sent(settings: object = {}): Promise<StoredSubscription> {
  const record = await member(settings);
  expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
  return here.row(record);
}

async function completed(): Promise<StoredSubscription> {
  const record = await sent();
  await aWeekLater();
  await desk.tell('COMPLETED', record);
  return here.row(record);
}

/** A member whose charge was made and whose answer nobody heard: the collector died in between. */
async function unanswered(settings: object = {}): Promise<StoredSubscription> {
  const record = await member(settings);
  here.onStep = (step) => {
    if (step === 'charged') throw new Error('killed');
  };
  await expect(here.collect('INITIAL', record)).rejects.toThrow('killed');
  here.onStep = () => undefined;
  return record;
}

const background = (record: StoredSubscription, accountId: string | null = null) =>
  here.dependencies.pipeline.readBackground({ ...record, triggerId: '', accountId });
const entries = async (record: StoredSubscription) => (await background(record)).state.past;
const accountOf = async ({ userId }: StoredSubscription) =>
  (await here.dependencies.accounts.primary(userId))!.accountId;
const blockOf = async (record: StoredSubscription) =>
  (await background(record, await accountOf(record))).achBlock;
const watchOn = ({ subscriptionId }: StoredSubscription) =>
  here.dependencies.pipeline.watches.get(subscriptionId);
const statusOf = async ({ userId }: StoredSubscription) =>
  (await here.dependencies.users.get(userId))?.status;
/** A user service in which something happens at the ban. */
const bannedBy = (ban: UserService['ban']): UserService => ({
  get: (userId) => here.dependencies.users.get(userId),
  ban,
});
const history = async ({ subscriptionId }: StoredSubscription) =>
  (await here.store.history.getByID(subscriptionId)).entries;
const causes = async (record: StoredSubscription) => (await history(record)).map(({ data }) => data['cause']);

async function staleReturns(): Promise<MoneyToDecide[]> {
  const found: MoneyToDecide[] = [];
  let key = null;
  do {
    const page: Awaited<ReturnType<typeof here.dependencies.pipeline.staleReturns.list>> =
      await here.dependencies.pipeline.staleReturns.list(here.now, key);
    expect(page.unreadable).toEqual([]);
    found.push(...page.items);
    key = page.nextKey;
  } while (key !== null);
  return found;
}
const isListed = async ({ subscriptionId }: StoredSubscription): Promise<boolean> =>
  (await staleReturns()).some((stale) => stale.subscriptionId === subscriptionId);

describe('a payment that was completed', () => {
  it('completes the record with everything that belongs to it, in one change', async () => {
    const record = await sent();
    await aWeekLater();
    const event = await desk.receive('COMPLETED', record);
    expect(await desk.apply(event)).toEqual({
      result: 'changed',
      reason: 'completed',
      changed: [record.subscriptionId],
    });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'COMPLETED',
      updatedEvent: 'payment-completed',
      completionDate: here.now,
      usioError: '',
      process: 'INITIAL',
    });
    expect(await entries(record)).toMatchObject([{ rail: 'ACH', result: 'COMPLETED' }]);
    expect(await watchOn(record)).toBeNull();
    expect((await history(record)).at(-1)!.data).toMatchObject({
      cause: 'ach-completed',
      event_id: event.identity,
      event_type: 'SUBSCRIPTION_COMPLETED',
      confirmation_id: record.transactionId,
    });
    expect(await desk.isWaiting(event)).toBe(false);
  });

  it('is told by the bank in words that are understood', async () => {
    const record = await sent();
    await aWeekLater();
    const [event, ...others] = await desk.receiveFromBank(record);
    expect(others).toEqual([]);
    expect(await desk.apply(event!)).toMatchObject({ result: 'changed', reason: 'completed' });
  });

  it('and told twice is completed once', async () => {
    const record = await sent();
    await here.faults([{ id: randomUUID(), service: 'callbacks', fault: 'duplicate-callback', times: 1 }]);
    await aWeekLater();
    const events = await desk.receiveFromBank(record);
    expect(events).toHaveLength(2);
    const [first, second] = [await desk.apply(events[0]!), await desk.apply(events[1]!)];
    expect(second).toEqual(first);
    expect(await causes(record)).toEqual(['plan-changed', 'attempt-opened', 'ach-accepted', 'ach-completed']);
    expect(await desk.isWaiting(events[1]!)).toBe(false);
  });

  it('is told after the janitor learnt it, and changes nothing', async () => {
    const record = await sent();
    await aWeekLater();
    await settleAch(here.dependencies, record);
    const row = await here.row(record);
    const event = await desk.receive('COMPLETED', record);
    expect(await desk.apply(event)).toEqual({ result: 'no-op', reason: 'record-is-completed', changed: [] });
    expect(await desk.isWaiting(event)).toBe(false);
    expect(await here.row(record)).toEqual(row);
  });
});

describe('a payment that was returned', () => {
  it('is owed again, with the code, and presented again later', async () => {
    const record = await sent({ ach: { mode: 'return', code: 'R01', times: 1 } });
    await aWeekLater();
    const [event] = await desk.receiveFromBank(record);
    expect(await desk.apply(event!)).toMatchObject({ result: 'changed', reason: 'returned' });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'ERROR',
      usioError: 'R01: insufficient funds',
      completionDate: null,
      process: 'INITIAL',
    });
    expect(await entries(record)).toMatchObject([{ result: 'RETURNED', returnCode: 'R01' }]);
    expect(await blockOf(record)).toBeNull();
    expect(await watchOn(record)).toBeNull();
    expect(await here.collect('RETRY', record)).toMatchObject({ verdict: 'sent' });
  });

  it('with a hard code stops ACH to the account: a later run skips it', async () => {
    const record = await sent({ ach: { mode: 'return', code: 'R02' } });
    await aWeekLater();
    const [event] = await desk.receiveFromBank(record);
    await desk.apply(event!);
    expect(await blockOf(record)).toBe('R02');
    await on.at(plusDays(start, 10));
    expect(await here.collect('RETRY', record)).toMatchObject({
      verdict: 'skipped',
      reason: 'ach-account-blocked',
    });
  });

  it('after it was completed is owed again, also thirty days later', async () => {
    const record = await completed();
    await on.at(plusDays(here.now, 30));
    const event = await desk.receive('RETURNED', record, { return_code: 'R10' });
    const policy = { ...here.dependencies.policy, oldSubscriptionDays: 90 };
    expect(await desk.apply(event, { policy })).toMatchObject({ result: 'changed', reason: 'returned' });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'ERROR', completionDate: null });
    expect(await entries(record)).toMatchObject([{ result: 'RETURNED', returnCode: 'R10' }]);
    expect(await blockOf(record)).toBe('R10');
    expect(await isListed(record)).toBe(false);
  });

  it('past the stale cut is written off and listed for operators', async () => {
    const record = await completed();
    await on.at(plusDays(here.now, 30));
    await desk.tell('RETURNED', record, { return_code: 'R10' });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'STALE', completionDate: here.now });
    const { userId, subscriptionId, transactionId: confirmationId, billingAmount: amount } = record;
    expect(await staleReturns()).toContainEqual({
      userId,
      subscriptionId,
      confirmationId,
      code: 'R10',
      amount,
      at: here.now,
    });
    expect(await blockOf(record)).toBe('R10');
  });

  it('once more, in whatever words, changes nothing', async () => {
    const record = await sent();
    await aWeekLater();
    await desk.tell('RETURNED', record);
    const row = await here.row(record);
    const again = await desk.receive('RETURNED', record, { return_code: 'R09' });
    expect(await desk.apply(again)).toMatchObject({ result: 'changed', reason: 'returned' });
    expect(await here.row(record)).toEqual(row);
    expect(await desk.isWaiting(again)).toBe(false);
  });

  it('although a card had paid it is owed again, and counts as no entry that was presented', async () => {
    const record = await member({ has_debit_card: true });
    await here.collect('INITIAL', record);
    expect(await desk.tell('RETURNED', await here.row(record))).toMatchObject({ result: 'changed' });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'ERROR' });
    expect(await entries(record)).toMatchObject([{ rail: 'PINLESS', result: 'COMPLETED' }]);
  });

  it('when another payment was made since, changes nothing but what is known of the account', async () => {
    const record = await sent({ ach: { mode: 'return', code: 'R01', times: 1 } });
    await aWeekLater();
    await settleAch(here.dependencies, record);
    expect(await here.collect('RETRY', record)).toMatchObject({ verdict: 'sent' });
    const row = await here.row(record);
    expect(await desk.tell('RETURNED', record, { return_code: 'R02' })).toMatchObject({
      result: 'no-op',
      reason: 'another-payment-since',
    });
    expect(await here.row(record)).toEqual(row);
    expect(await watchOn(record)).toMatchObject({ confirmationId: row.transactionId });
    expect(await blockOf(record)).toBe('R02');
  });
});

describe('a payment that was given back', () => {
  it('is refunded, also after it was completed', async () => {
    const record = await completed();
    await on.refund(record.transactionId);
    const [, event] = await desk.receiveFromBank(record);
    expect(await desk.apply(event!)).toMatchObject({ result: 'changed', reason: 'refunded' });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'REFUNDED',
      completionDate: here.now,
      process: 'INITIAL',
    });
  });

  it('of a card is refunded as well', async () => {
    const record = await member({ has_debit_card: true });
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });
    const paid = await here.row(record);
    await on.refund(paid.transactionId);
    expect(await desk.tell('REFUNDED', paid)).toMatchObject({ result: 'changed' });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'REFUNDED' });
    expect(await entries(record)).toMatchObject([{ rail: 'PINLESS', result: 'COMPLETED' }]);
  });
});

describe('a charge-back', () => {
  it('bans the member, and the record is in error', async () => {
    const record = await completed();
    expect(await desk.tell('CHARGED_BACK', record)).toMatchObject({
      result: 'changed',
      reason: 'charged-back',
    });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'ERROR',
      completionDate: null,
      usioError: 'charged back',
    });
    expect(await statusOf(record)).toBe('BANNED');
  });

  it('that comes twice changes nothing the second time, under whatever identity', async () => {
    const record = await completed();
    await desk.tell('CHARGED_BACK', record);
    const row = await here.row(record);
    const again = await desk.receive('CHARGED_BACK', record);
    expect(await desk.apply(again)).toMatchObject({ result: 'changed' });
    const other = { ...(await desk.receive('CHARGED_BACK', record)), identity: randomUUID() };
    expect(await desk.apply(other)).toMatchObject({ result: 'no-op', reason: 'record-is-error' });
    expect(await here.row(record)).toEqual(row);
    expect(await statusOf(record)).toBe('BANNED');
  });

  it('bans before it writes: without the user service nothing is written, and later it is done', async () => {
    const record = await completed();
    const event = await desk.receive('CHARGED_BACK', record);
    await here.faults([{ id: randomUUID(), service: 'users', fault: 'error-before' }]);
    await expect(desk.apply(event)).rejects.toMatchObject({ code: 'service-down' });
    expect(await here.row(record)).toEqual(record);
    expect(await desk.isWaiting(event)).toBe(true);
    await here.faults([]);
    expect(await desk.apply(event)).toMatchObject({ result: 'changed' });
    expect(await statusOf(record)).toBe('BANNED');
  });

  it('by a member whom the user service does not know changes the record all the same', async () => {
    const record = await completed();
    const event = await desk.receive('CHARGED_BACK', record);
    const users = bannedBy(() => Promise.resolve(false));
    expect(await desk.apply(event, { users })).toMatchObject({
      result: 'changed',
      reason: 'charged-back-by-unknown-user',
    });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'ERROR' });
    expect(await desk.dependencies.users.ban(`nobody-${randomUUID()}` as UserId, 'test')).toBe(false);
  });

  it('of an earlier payment bans, and leaves the record to the later one', async () => {
    const record = await sent({ ach: { mode: 'return', code: 'R01', times: 1 } });
    await aWeekLater();
    await desk.tell('RETURNED', record);
    await here.collect('RETRY', record);
    const row = await here.row(record);
    expect(await desk.tell('CHARGED_BACK', record)).toMatchObject({ reason: 'another-payment-since' });
    expect(await here.row(record)).toEqual(row);
    expect(await statusOf(record)).toBe('BANNED');
  });
});

/** A processor that does not know its own payments by their key yet. */
const lagging = (): Processor => ({
  charge: () => Promise.reject(new Error('nobody charges here')),
  refund: () => Promise.reject(new Error('nobody gives back here')),
  findByKey: () => Promise.resolve(null),
  findByConfirmation: (id) => here.dependencies.processor.findByConfirmation(id),
});

describe('when an attempt was given up although the payment was made', () => {
  /** For longer than anybody waits the processor did not know the key. */
  async function givenUp(settings: object = {}): Promise<StoredSubscription> {
    const record = await unanswered(settings);
    const { open } = (await background(record)).state;
    await on.at(plusDays(start, 2));
    const deaf = { ...here.dependencies, processor: lagging() };
    expect(await settleAttempt(deaf, { abandonAfterMs: 24 * HOUR }, open!)).toMatchObject({
      settled: { verdict: 'declined', reason: `${open!.rail}-abandoned` },
    });
    return here.row(record);
  }

  it.each([
    ['completed', 'COMPLETED', {}],
    ['returned', 'ERROR', { ach: { mode: 'return', code: 'R02' } }],
  ] as const)('its word is heard, and nobody is debited again: %s', async (what, status, settings) => {
    const record = await givenUp(settings);
    expect(record).toMatchObject({ billingStatus: 'ERROR', transactionId: '' });
    await aWeekLater();
    const [event] = await desk.receiveFromBank(record);
    expect(await desk.apply(event!)).toMatchObject({ result: 'changed', reason: what });
    expect(await here.row(record)).toMatchObject({ billingStatus: status });
    expect((await causes(record)).slice(2)).toEqual(['attempt-declined', 'ach-accepted', `ach-${what}`]);
    const { state } = await background(record);
    // One entry was presented, and it is known as what it is.
    expect(state.past).toHaveLength(1);
    expect(state.past[0]).toMatchObject({ rail: 'ACH', result: what.toUpperCase() });
    expect((await here.collect('RETRY', record)).verdict).not.toBe('sent');
    expect(debits(await here.ledger(record))).toBe(1);
    expect(await desk.apply(event!)).toMatchObject({ result: 'changed' });
  });
});

describe('when the word is faster than the answer to the charge', () => {
  const early = () =>
    here.faults([{ id: randomUUID(), service: 'callbacks', fault: 'early-callback', times: 1 }]);

  it('it waits for whoever charges, and is applied after them', async () => {
    const record = await member();
    await early();
    let meanwhile: unknown;
    here.onStep = async (step) => {
      if (step !== 'charged') return;
      const [event] = await desk.receiveFromBank(record);
      meanwhile = await applyPaymentEvent(desk.dependencies, event!);
      expect(await desk.isWaiting(event!)).toBe(true);
    };
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
    expect(meanwhile).toHaveProperty('busy.version');
    const event = await desk.dependencies.inbox.earliest('payments', record.userId);
    expect(await desk.apply(event!)).toMatchObject({ result: 'changed', reason: 'completed' });
    expect(await causes(record)).toEqual(['plan-changed', 'attempt-opened', 'ach-accepted', 'ach-completed']);
    expect(debits(await here.ledger(record))).toBe(1);
  });

  it.each([
    ['COMPLETED', 'COMPLETED', {}],
    ['RETURNED', 'ERROR', { ach: { mode: 'return', code: 'R02' } }],
  ] as const)(
    'and whoever charged died, our own answer is written down first: %s',
    async (_, status, settings) => {
      await early();
      const record = await unanswered(settings);
      const [event] = await desk.receiveFromBank(record);
      expect(await desk.apply(event!)).toMatchObject({ result: 'changed', changed: [record.subscriptionId] });
      expect(await here.row(record)).toMatchObject({ billingStatus: status, receiptPaymentType: 'ACH' });
      expect((await causes(record)).slice(0, 3)).toEqual(['plan-changed', 'attempt-opened', 'ach-accepted']);
      expect(await causes(record)).toHaveLength(4);
      const { state } = await background(record);
      expect(state.open).toBeNull();
      expect(await watchOn(record)).toBeNull();
      expect(debits(await here.ledger(record))).toBe(1);
    },
  );

  it('a card payment whose answer was lost and that was given back by now is collected, then refunded', async () => {
    const record = await unanswered({ has_debit_card: true });
    const { open } = (await background(record)).state;
    const payment = (await here.dependencies.processor.findByKey(open!.attemptId))!;
    await on.refund(payment.confirmationId);
    const [event] = await desk.receiveFromBank(record);
    expect(await desk.apply(event!)).toMatchObject({ result: 'changed', reason: 'refunded' });
    expect(await causes(record)).toEqual(['plan-changed', 'attempt-opened', 'attempt-succeeded', 'refunded']);
  });

  it('and the processor says that a card payment was sent by ACH, it is kept for later', async () => {
    const record = await unanswered({ has_debit_card: true });
    const { open } = (await background(record)).state;
    const payment = (await here.dependencies.processor.findByKey(open!.attemptId))!;
    await on.refund(payment.confirmationId);
    const [event] = await desk.receiveFromBank(record);
    const odd = {
      ...lagging(),
      findByKey: () => Promise.resolve({ ...payment, status: 'ACHSENT' as const }),
    };
    await expect(desk.apply(event!, { processor: odd })).rejects.toMatchObject({ code: 'unknown-record' });
    expect(await desk.isWaiting(event!)).toBe(true);
    expect(await causes(record)).toEqual(['plan-changed', 'attempt-opened']);
    expect(await desk.apply(event!)).toMatchObject({ result: 'changed', reason: 'refunded' });
  });

  it('and the processor does not know the key yet, it is kept for later', async () => {
    await early();
    const record = await unanswered();
    const [event] = await desk.receiveFromBank(record);
    await expect(desk.apply(event!, { processor: lagging() })).rejects.toMatchObject({
      code: 'unknown-record',
    });
    expect(await desk.isWaiting(event!)).toBe(true);
    expect(await desk.apply(event!)).toMatchObject({ result: 'changed', reason: 'completed' });
  });

  it('a word about another payment than the open one is put aside, and the attempt stays open', async () => {
    const record = await unanswered();
    const { open } = (await background(record)).state;
    expect(await desk.tell('COMPLETED', { ...record, transactionId: 'JPM-of-nobody' })).toEqual({
      result: 'no-op',
      reason: 'no-such-payment',
      changed: [],
    });
    expect((await background(record)).state.open).toEqual(open);
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
  });

  it('a holder that died with the lock is recognised by what was seen before', async () => {
    const record = await sent();
    await aWeekLater();
    const event = await desk.receive('COMPLETED', record);
    const { client, tables } = here.store;
    const Item = marshall({
      PartitionKey: subscriptionLockKey(record.userId),
      ownerName: 'dead',
      leaseDuration: '1m0s',
      recordVersionNumber: 'the-last-heartbeat',
    });
    await client.send(new PutItemCommand({ TableName: tables.locks, Item }));
    const seen = await applyPaymentEvent(desk.dependencies, event);
    expect(seen).toEqual({ busy: { version: 'the-last-heartbeat', leaseMs: 60_000 } });
    const later = { version: 'the-last-heartbeat', elapsedMs: 65_001 };
    expect(await applyPaymentEvent(desk.dependencies, event, later)).toMatchObject({
      outcome: { result: 'changed' },
    });
  });
});

describe('an event', () => {
  it('about a record that is not there comes again later', async () => {
    const record = await sent();
    const event = await desk.receive('COMPLETED', {
      ...record,
      subscriptionId: randomUUID() as SubscriptionId,
    });
    await expect(desk.apply(event)).rejects.toMatchObject({ code: 'unknown-record' });
    expect(await desk.isWaiting(event)).toBe(true);
    expect(await here.row(record)).toEqual(record);
    // The lock was given back.
    await aWeekLater();
    expect(await desk.tell('COMPLETED', record)).toMatchObject({ result: 'changed' });
  });

  it('about a payment that nobody of us made is put aside', async () => {
    const record = await sent();
    const other = { ...record, transactionId: 'JPM-of-nobody' };
    for (const news of NEWS) {
      expect(await desk.tell(news, other)).toMatchObject({ result: 'no-op', reason: 'no-such-payment' });
    }
    expect(await here.row(record)).toEqual(record);
    expect(await statusOf(record)).toBe('ACTIVE');
  });

  it.each([
    ['a status that contradicts its type', { status: 'REFUNDED' }],
    ['no confirmation id', { confirmation_id: '' }],
    ['no record', { subscription_id: undefined }],
    ['an amount that is none', { amount: 'a lot' }],
    ['another user', { user_id: 'somebody-else' }],
  ])('with %s cannot be read', async (_, fields) => {
    const record = await sent();
    const event = await desk.receive('COMPLETED', record, fields);
    await expect(desk.apply(event)).rejects.toMatchObject({ code: 'malformed-event' });
    expect(await here.row(record)).toEqual(record);
  });

  it('is not applied by somebody who lost the lock: nothing of it is written', async () => {
    const record = await completed();
    const event = await desk.receive('CHARGED_BACK', record);
    const users = bannedBy(async () => {
      await here.store.stealLock(record.userId);
      return true;
    });
    await expect(desk.apply(event, { users })).rejects.toMatchObject({ code: 'lock-lost' });
    await here.store.releaseLock(record.userId);
    expect(await here.row(record)).toEqual(record);
    expect(await desk.isWaiting(event)).toBe(true);
  });

  it('whose record changes under its hands is applied to what it is then', async () => {
    const record = await completed();
    const event = await desk.receive('CHARGED_BACK', record);
    let bans = 0;
    const users = bannedBy(async () => {
      bans += 1;
      if (bans > 1) return true;
      const context = await here.store.context(record.userId, { cause: 'refunded', now: here.now });
      const refund = { ...(await here.row(record)), billingStatus: 'REFUNDED' } as const;
      await here.store.subscriptions.add('unlocked', refund, context);
      return true;
    });
    expect(await desk.apply(event, { users })).toMatchObject({
      result: 'no-op',
      reason: 'record-is-refunded',
    });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'REFUNDED' });
  });

  it('whose job comes again is not applied again', async () => {
    const record = await sent();
    await aWeekLater();
    const event = await desk.receive('COMPLETED', record);
    await desk.apply(event);
    const again = await desk.apply(event);
    expect(again).toMatchObject({ result: 'changed', changed: [record.subscriptionId] });
    expect(await causes(record)).toHaveLength(4);
  });
});

describe('any two events about one payment', () => {
  const ends: Record<News, Record<News, string>> = {
    // First word down the side, second across.
    COMPLETED: { COMPLETED: 'COMPLETED', RETURNED: 'ERROR', REFUNDED: 'REFUNDED', CHARGED_BACK: 'ERROR' },
    RETURNED: { COMPLETED: 'ERROR', RETURNED: 'ERROR', REFUNDED: 'ERROR', CHARGED_BACK: 'ERROR' },
    REFUNDED: {
      COMPLETED: 'REFUNDED',
      RETURNED: 'REFUNDED',
      REFUNDED: 'REFUNDED',
      CHARGED_BACK: 'REFUNDED',
    },
    CHARGED_BACK: { COMPLETED: 'ERROR', RETURNED: 'ERROR', REFUNDED: 'ERROR', CHARGED_BACK: 'ERROR' },
  };
  const pairs = NEWS.flatMap((first) => NEWS.map((second) => [first, second] as const));

  it.each(pairs)('%s, then %s, end where the table says, and the audit is content', async (first, second) => {
    const record = await sent();
    await aWeekLater();
    expect(await desk.tell(first, record)).toMatchObject({ result: 'changed' });
    await on.at(plusDays(start, 8));
    await desk.tell(second, record);
    const { billingStatus } = await here.row(record);
    expect(billingStatus).toBe(ends[first][second]);
    const isBanned = first === 'CHARGED_BACK' || second === 'CHARGED_BACK';
    expect(await statusOf(record)).toBe(isBanned ? 'BANNED' : 'ACTIVE');
    expect(await desk.dependencies.inbox.earliest('payments', record.userId)).toBeNull();
  });
});

describe('the meters', () => {
  const counted = () => here.dependencies.pipeline.meters.total(dateOf(here.now), dateOf(here.now));

  it('count a debit when its fate is known and a return when it comes, each once', async () => {
    const [paid, back, late] = [await sent(), await sent(), await sent()];
    expect(await counted()).toEqual({
      debits: 0,
      returns: { unauthorized: 0, administrative: 0, overall: 0 },
    });
    await aWeekLater();
    await desk.tell('COMPLETED', paid);
    await desk.tell('COMPLETED', paid);
    await desk.tell('RETURNED', back, { return_code: 'R02' });
    await settleAch(here.dependencies, late);
    expect(await counted()).toEqual({
      debits: 3,
      returns: { unauthorized: 0, administrative: 1, overall: 1 },
    });
    await on.at(plusDays(start, 12));
    await desk.tell('RETURNED', late, { return_code: 'R10' });
    await desk.tell('RETURNED', paid, { return_code: 'R99' });
    expect(await counted()).toEqual({
      debits: 0,
      returns: { unauthorized: 1, administrative: 0, overall: 2 },
    });
  });

  it('that cannot be reached keep nothing from being written', async () => {
    const record = await sent();
    await aWeekLater();
    const faults = injectFaults(here.store.client);
    const lost = faults.script('UpdateItemCommand', fail(timedOut()), {
      when: ({ UpdateExpression }) => String(UpdateExpression).includes('debits'),
    });
    expect(await desk.tell('COMPLETED', record)).toMatchObject({ result: 'changed' });
    faults.remove();
    expect(lost.hits).toBe(1);
    expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED' });
  });
});
