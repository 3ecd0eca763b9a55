import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoFreezes } from '../../src/adapters/dynamodb/freezes.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import { queryToTheEnd } from '../../src/adapters/dynamodb/query.ts';
import { cancelRecurring, changeRecurring } from '../../src/app/recurring/change-recurring.ts';
import { createRecurring } from '../../src/app/recurring/create-recurring.ts';
import { settleAttempt } from '../../src/app/settle-attempt.ts';
import { NO_LOG } from '../../src/adapters/logging/logger.ts';
import type { AuditTotals, Violation } from '../../src/audit/violation.ts';
import { plusDays } from '../../src/domain/instant.ts';
import { cents } from '../../src/domain/money.ts';
import { payerOf, paymentReference, recurringRecordId } from '../../src/domain/recurring/record-id.ts';
import type { AccountId, RecurringId, RecurringSubscription } from '../../src/domain/recurring/recurring.ts';
import type { RecurringRef } from '../../src/ports/recurring.ts';
import type { Item } from '../support/billing-store.ts';
import { day } from '../support/floats.ts';
import type { RecurringDesk } from '../support/recurring-desk.ts';
import { recurringDesk } from '../support/recurring-desk.ts';
import { at } from '../support/records.ts';
import type { World } from '../support/world.ts';
import type { Bench } from './bench.ts';
import { bench, changed } from './bench.ts';

/*
 * As with billing records (`violations.test.ts`): each case plants one thing, and one audit must find each among the
 * others and nothing else. What is planted as honest is made by the production code.
 */

let on: Bench;
let here: World;
let desk: RecurringDesk;

const START = at('2026-11-16T16:00:00Z');
const broke = { pinless: { mode: 'decline', code: '05' } };

type Expected = [rule: number, detail: RegExp][];
type Plant = () => Promise<{ owner: RecurringRef; expected: Expected }>;

const finds = (owner: RecurringRef, ...expected: Expected) => ({ owner, expected });

const itemsOf = ({ accountId }: RecurringRef): Promise<Item[]> =>
  queryToTheEnd(here.store.client, {
    TableName: here.store.tables.recurring,
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': { S: `ACC#${accountId}` } },
    ConsistentRead: true,
  });
async function itemOf(ref: RecurringRef, prefix: string, cause?: string): Promise<Item> {
  const found = (await itemsOf(ref)).filter(
    ({ SK, Cause }) => SK!.S!.startsWith(prefix) && (cause === undefined || Cause?.S === cause),
  );
  return found.at(-1)!;
}
async function rewrite(
  ref: RecurringRef,
  prefix: string,
  attributes: Record<string, unknown>,
  cause?: string,
): Promise<void> {
  await on.put('recurring', changed(await itemOf(ref, prefix, cause), attributes));
}
const attemptsOf = (ref: RecurringRef): Promise<Item[]> =>
  on.attempts({ subscriptionId: recurringRecordId(ref) } as Parameters<Bench['attempts']>[0]);

/** Behind the application's back. */
async function charge(subscription: RecurringSubscription, key: string = randomUUID()): Promise<void> {
  await here.dependencies.processor.charge(key, {
    userId: payerOf(subscription.accountId),
    kind: 'RECURRING',
    referenceId: paymentReference(recurringRecordId(subscription), subscription.periodDate),
    rail: 'PINLESS',
    amount: subscription.paymentAmount,
    description: null,
  });
}

async function paid(settings: object = {}): Promise<RecurringSubscription> {
  const subscription = await desk.subscription(settings);
  await desk.collect(subscription);
  return subscription;
}

const byHand = () => ({
  ...desk.dependencies,
  owned: { kind: 'all' } as const,
  log: NO_LOG,
});

async function created(fields: { start?: string; paymentDay?: number } = {}): Promise<RecurringSubscription> {
  const accountId = await desk.account();
  return createRecurring(byHand(), {
    wish: {
      accountId,
      recurringId: randomUUID() as RecurringId,
      sku: 'sku-1',
      email: 'someone@example.com',
      paymentAmount: cents(1_000),
      paymentToken: 'tok',
      paymentDetails: { brand: 'Visa', last_four: '4242' },
    },
    startDate: day(fields.start ?? '2026-11-16'),
    paymentDay: fields.paymentDay ?? null,
    by: 'test',
  });
}

async function dieAfter(deadly: string, one: RecurringSubscription): Promise<void> {
  here.onStep = (step, { userId }) => {
    if (step === deadly && userId === payerOf(one.accountId)) throw new Error('died');
  };
  await expect(desk.collect(one, 'run-1')).rejects.toThrow('died');
  here.onStep = () => undefined;
}

/** What the janitor does. */
async function settle(one: RecurringSubscription): Promise<void> {
  const subscriptionId = recurringRecordId(one);
  const [open] = await here.dependencies.pipeline.attemptsOn(subscriptionId);
  const ids = { userId: payerOf(one.accountId), subscriptionId, attemptId: open!.attemptId };
  await settleAttempt(here.dependencies, { abandonAfterMs: 1_000 }, ids);
}

async function givenUp(): Promise<RecurringSubscription> {
  const one = await desk.subscription();
  await dieAfter('intent-written', one);
  await later(2, () => settle(one));
  return one;
}

const HONEST: Record<string, () => Promise<RecurringRef>> = {
  'begun and told of': () => created(),
  'begun for later': () => created({ start: '2026-12-01', paymentDay: 31 }),
  'paid twice in two months': async () => {
    const one = await created();
    await desk.collect(one);
    inTime(23, () => desk.remind(one));
    inTime(30, () => desk.collect(one));
    return one;
  },
  'declined and paid': async () => {
    const one = await desk.subscription({ pinless: { mode: 'decline', code: '05', times: 1 } });
    await desk.collect(one);
    inTime(1, () => desk.collect(one));
    return one;
  },
  'declined for good': async () => {
    const one = await desk.subscription(broke);
    for (const days of [0, 1, 4, 11]) await later(days, () => desk.collect(one));
    return one;
  },
  'changed after it was put off, told of and paid': async () => {
    const overdue = day('2026-11-10');
    const fields = { paymentDay: 10, periodDate: overdue, nextPaymentDate: overdue };
    const one = await desk.subscription({}, fields);
    await changeRecurring(byHand(), one, { wish: { paymentAmount: cents(9_999) }, by: 'test' });
    await desk.collect(one);
    return one;
  },
  'changed and cancelled': async () => {
    const one = await created({ start: '2026-12-01', paymentDay: 31 });
    await changeRecurring(byHand(), one, {
      wish: { sku: 'sku-2', paymentDay: 15, paymentAmount: cents(5) },
      by: 'test',
    });
    await cancelRecurring(byHand(), one, 'test');
    return one;
  },
  'moved to another day and back, and told of each': async () => {
    const one = await created({ paymentDay: 20 });
    for (const paymentDay of [18, 20])
      await changeRecurring(byHand(), one, { wish: { paymentDay }, by: 'test' });
    return one;
  },
  'changed in amount and back, told of each, and paid': async () => {
    const one = await created();
    for (const paymentAmount of [cents(9_999), cents(1_000)])
      await changeRecurring(byHand(), one, { wish: { paymentAmount }, by: 'test' });
    await desk.collect(one);
    return one;
  },
  'moved on, being too old': async () => {
    const one = await desk.subscription(
      {},
      { periodDate: day('2026-10-01'), nextPaymentDate: day('2026-10-01'), paymentDay: 1 },
    );
    await desk.collect(one);
    return one;
  },
  'cancelled while its charge had no answer': async () => {
    const one = await desk.subscription();
    await dieAfter('charged', one);
    await cancelRecurring(byHand(), one, 'test');
    await settle(one);
    return one;
  },
  'given up, because the processor never knew of it, and paid': async () => {
    const one = await givenUp();
    inTime(3, () => desk.collect(one));
    return one;
  },
  'somebody else’s, paid': async () => {
    const accountId = await desk.account();
    await on.put('recurring', {
      PK: { S: `ACC#${accountId}` },
      SK: { S: 'SUB#123#SKU#999' },
      SKU: { S: '999' },
      Email: { S: 'someone@example.com' },
      PaymentDate: { N: '16' },
      PaymentAmount: { N: '28.99' },
      LastPaymentDate: { S: '2026-10-16T14:15:39.247Z' },
      NextPaymentDate: { S: '2026-11-16' },
      LastReminderDate: { S: '2026-11-09T14:15:39.247Z' },
      NextReminderDate: { S: '2026-12-09' },
      PaymentDetails: { M: { card: { S: 'tok_1' } } },
      CreatedDate: { S: '2023-01-01T00:00:00Z' },
    });
    const ref = { accountId, recurringId: '123' as RecurringId };
    expect(await desk.collect(ref)).toMatchObject({ verdict: 'collected' });
    return ref;
  },
};

async function later<T>(days: number, work: () => Promise<T>): Promise<T> {
  here.now = plusDays(START, days);
  const done = await work();
  here.now = START;
  return done;
}

/** What moves money on a later day is done when everything else is: the bank's clock does not go back. */
const afterwards: { readonly days: number; readonly work: () => Promise<unknown> }[] = [];
const inTime = (days: number, work: () => Promise<unknown>): void => void afterwards.push({ days, work });

const PLANTS: Record<string, Plant> = {
  'a second debit for a period': async () => {
    const one = await paid();
    await charge(one);
    return finds(one, [1, /2026-11-16: 2 debits stand/], [2, /has no attempt/], [5, /2000 cents were kept/]);
  },
  'a debit for a period that nobody meant': async () => {
    const one = await desk.subscription();
    await charge(one);
    return finds(one, [2, /money moved for a recurring payment that this user does not have/]);
  },
  'an attempt that is gone': async () => {
    const one = await paid();
    const [attempt] = await attemptsOf(one);
    await on.remove('pipeline', attempt!);
    return finds(
      one,
      [2, /a change names attempt/],
      [2, /money moved for a recurring payment/],
      [10, /receipt 1 is for attempt .*, which was not paid/],
    );
  },
  'an amount that changed by itself': async () => {
    const one = await paid();
    await rewrite(one, 'SUB#', { PaymentAmount: '99.00' });
    return finds(one, [3, /amountCents is not what the newest change tells/]);
  },
  'an outcome that nobody told of': async () => {
    const one = await paid();
    await on.remove('recurring', await itemOf(one, 'CHG#', 'attempt-succeeded'));
    return finds(
      one,
      [3, /periodDate is not what/],
      [3, /nextPaymentDate is not what/],
      [3, /nextReminderDate is not what/],
      [3, /ended as COMPLETED, and 0 changes tell of it/],
    );
  },
  'a charge that never came to a card, told as a decline': async () => {
    const one = await givenUp();
    await rewrite(one, 'SUB#', { Status: 'PAST_DUE' });
    await rewrite(one, 'CHG#', { Cause: 'attempt-declined', Status: 'PAST_DUE' }, 'attempt-abandoned');
    return finds(one, [3, /ended as FAILED, and 1 changes tell of it/]);
  },
  'a charge that was given up, and the subscription with it': async () => {
    const one = await givenUp();
    const ended = { Status: 'FAILED', NextPaymentDate: undefined };
    await rewrite(one, 'SUB#', ended);
    await rewrite(one, 'CHG#', { Status: 'FAILED', PaymentOn: undefined }, 'attempt-abandoned');
    return finds(one, [4, /went from ACTIVE to FAILED because of attempt-abandoned/]);
  },
  'a row that cannot be read': async () => {
    const one = await desk.subscription();
    await rewrite(one, 'SUB#', { PaymentAmount: 'much' });
    return finds(one, [3, /PaymentAmount is no amount/]);
  },
  'one that came back from its end': async () => {
    const one = await desk.subscription(broke);
    for (const days of [0, 1, 4, 11]) await later(days, () => desk.collect(one));
    const again = { Status: 'ACTIVE', NextPaymentDate: '2026-12-16', ChangedDate: STAMP };
    await rewrite(one, 'SUB#', again);
    const line = {
      SK: `CHG#${one.recurringId}#${STAMP}`,
      Cause: 'changed',
      ...again,
      PaymentOn: '2026-12-16',
    };
    await rewrite(one, 'CHG#', { ...line, AttemptId: undefined, NextPaymentDate: undefined });
    return finds(one, [4, /went from FAILED to ACTIVE because of changed/]);
  },
  'an attempt during a freeze': async () => {
    const one = await paid();
    const freezes = new DynamoFreezes({
      client: here.store.client,
      table: here.store.tables.pipeline,
      timer: systemTimer,
    });
    const target = { scope: 'user', userId: payerOf(one.accountId) } as const;
    await freezes.freeze({ target, reason: 'r', who: 'w', at: at('2026-11-16T15:00:00Z'), until: null });
    return finds(one, [6, /was opened at 2026-11-16T16:00:00.000Z during a freeze \(user\)/]);
  },
  'an attempt before its day': async () => {
    const one = await paid();
    await rewrite(one, 'CHG#', { PaymentOn: '2026-11-17' }, 'reminded');
    return finds(one, [6, /was opened on 2026-11-16, before 2026-11-17/]);
  },
  'a month that was left out': async () => {
    const one = await paid();
    const next = { PeriodDate: '2027-01-16' };
    await rewrite(one, 'SUB#', { ...next, NextPaymentDate: '2027-01-16' });
    await rewrite(one, 'CHG#', { ...next, PaymentOn: '2027-01-16' }, 'attempt-succeeded');
    return finds(one, [7, /the period of 2026-11-16 was followed by that of 2027-01-16/]);
  },
  'a day that is not the payment day': async () => {
    const one = await paid();
    await rewrite(one, 'SUB#', { PeriodDate: '2026-12-17' });
    await rewrite(one, 'CHG#', { PeriodDate: '2026-12-17' }, 'attempt-succeeded');
    return finds(one, [7, /is not on day 16 of its month/]);
  },
  'a payment without a receipt': async () => {
    const one = await paid();
    await on.remove('recurring', await itemOf(one, 'REC#'));
    return finds(one, [10, /was paid without a receipt/]);
  },
  'two receipts for one payment': async () => {
    const one = await paid();
    await rewrite(one, 'REC#', { SK: 'REC#0000000002x', ReceiptNumber: 2 });
    await rewrite(one, 'COUNTER', { ReceiptNumber: 2 });
    return finds(one, [10, /receipt 2 is another one for 2026-11-16/], [10, /has 2 receipts/]);
  },
  'a receipt of another amount, beyond the count': async () => {
    const one = await paid();
    await rewrite(one, 'REC#', { ProcessedAmount: '1.00' });
    await rewrite(one, 'COUNTER', { ReceiptNumber: 0 });
    return finds(one, [10, /of another amount/], [10, /receipt 1 is beyond the account's count of 0/]);
  },
  'a payment that nobody was told of': async () => {
    const one = await paid();
    await on.remove('recurring', await itemOf(one, 'CHG#', 'reminded'));
    return finds(one, [11, /for 2026-11-16 was opened at .* before anybody was told of it/]);
  },
  'a payment of another amount than was told': async () => {
    const one = await paid();
    await rewrite(one, 'CHG#', { PaymentAmount: '9.99' }, 'reminded');
    return finds(one, [11, /for 2026-11-16 was opened at .* before anybody was told of it/]);
  },
  'a payment for something else than was told': async () => {
    const one = await created();
    await changeRecurring(byHand(), one, { wish: { sku: 'sku-2' }, by: 'test' });
    await desk.collect(one);
    await on.remove('recurring', await itemOf(one, 'CHG#', 'reminded'));
    return finds(one, [11, /for 2026-11-16 was opened at .* before anybody was told of it/]);
  },
  'a reminder that came twice': async () => {
    const one = await desk.subscription();
    const reminder = await itemOf(one, 'CHG#', 'reminded');
    const again = { SK: `CHG#${one.recurringId}#${STAMP}`, ChangedDate: STAMP };
    await on.put('recurring', changed(reminder, again));
    await rewrite(one, 'SUB#', { ChangedDate: STAMP });
    return finds(one, [11, /was told of 2026-11-16 once more/]);
  },
  'one that fell out of the indexes': async () => {
    const one = await desk.subscription();
    await rewrite(one, 'SUB#', { NextPaymentDate: undefined, LastReminderDate: undefined });
    return finds(
      one,
      [3, /nextPaymentDate is not what/],
      [12, /is ACTIVE, but has no next payment/],
      [12, /lacks the time without which it is in no index/],
    );
  },
  'one on a day that nobody reads any more': async () => {
    const long = { periodDate: day('2025-01-16'), nextPaymentDate: day('2025-01-16') };
    const one = await desk.subscription({}, { ...long, nextReminderDate: day('2025-01-09') });
    return finds(
      one,
      [12, /is to be paid on 2025-01-16, and payments are read from 2026-01-01 on/],
      [12, /is to be told of on 2025-01-09, and reminders are read from 2026-01-01 on/],
    );
  },
  'a card number': async () => {
    const one = await desk.subscription();
    await rewrite(one, 'SUB#', { PaymentDetails: { token: 'tok', note: '4242 4242 4242 4242' } });
    return finds(one, [13, /may hold a card number/]);
  },
  'a card number that somebody else wrote in another way, deep inside': async () => {
    const one = await desk.subscription();
    const card = { number: '1 4242.4242_4242\u200b4242' };
    await rewrite(one, 'SUB#', { PaymentDetails: { token: 'tok', card } });
    return finds(one, [13, /may hold a card number/]);
  },
};

const STAMP = '2026-12-01T00:00:00.000000001Z';

let honest: Map<string, RecurringRef>;
let planted: Map<string, { owner: RecurringRef; expected: Expected }>;
let violations: readonly Violation[];
let totals: AuditTotals;

beforeAll(async () => {
  on = await bench();
  here = on.here;
  desk = recurringDesk(here);
  await on.at(START);
  for (const list of ['payments', 'reminders'] as const)
    await here.store.recurring.noteDueSince(list, day('2026-01-01'));
  honest = new Map();
  planted = new Map();
  for (const [name, make] of Object.entries(HONEST)) honest.set(name, await make());
  for (const [name, plant] of Object.entries(PLANTS)) planted.set(name, await plant());
  for (const { days, work } of afterwards.toSorted((a, b) => a.days - b.days)) {
    await on.at(plusDays(START, days));
    await work();
  }
  ({ violations, totals } = await on.audit({ now: plusDays(START, 40) }));
});
afterAll(() => on.close());

const about = ({ accountId }: { accountId: AccountId }) =>
  violations.filter(({ user_id }) => user_id === payerOf(accountId));

describe('recurring payments', () => {
  it.each(Object.keys(HONEST))('that were %s break no rule', (name) => {
    expect(about(honest.get(name)!)).toEqual([]);
  });

  it.each(Object.keys(PLANTS))('with %s are found', (name) => {
    const { owner, expected } = planted.get(name)!;
    const found = about(owner).map(({ rule, detail }) => ({ rule, detail }));
    const wanted = expected.map(([rule, detail]) => ({
      rule,
      detail: expect.stringMatching(detail) as string,
    }));
    expect(found).toHaveLength(wanted.length);
    for (const one of wanted) expect(found).toContainEqual(one);
  });

  it('are all of those about whom anything is said, and are counted', () => {
    expect(new Set(violations.map(({ user_id }) => user_id)).size).toBe(planted.size);
    expect(totals.recurring).toBe(honest.size + planted.size - 1);
    expect(totals.unsettled).toBe(0);
  });
});
