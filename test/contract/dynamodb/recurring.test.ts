import { randomUUID } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  PAYMENTS_BY_DAY,
  REMINDERS_BY_DAY,
  DynamoRecurring,
} from '../../../src/adapters/dynamodb/recurring.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import type { AttemptId } from '../../../src/domain/attempt.ts';
import type { CalendarDate } from '../../../src/domain/calendar-date.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import { cents } from '../../../src/domain/money.ts';
import { planRecurringCancel, planRecurringChange } from '../../../src/domain/recurring/by-hand.ts';
import type { RecurringWish } from '../../../src/domain/recurring/by-hand.ts';
import type { RecurringChange } from '../../../src/domain/recurring/outcomes.ts';
import {
  changed,
  recurringDeclined,
  recurringOpened,
  recurringPaid,
  recurringReminded,
} from '../../../src/domain/recurring/outcomes.ts';
import { DEFAULT_RECURRING_POLICY } from '../../../src/domain/recurring/policy.ts';
import type {
  AccountId,
  RecurringId,
  RecurringSubscription,
} from '../../../src/domain/recurring/recurring.ts';
import { IllegalTransitionError, LockLostError, RecordChangedError } from '../../../src/errors.ts';
import type { Fence } from '../../../src/ports/lock.ts';
import { impatientTimer } from '../../support/impatient-timer.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Faults } from '../../support/dynamo-faults.ts';
import { injectFaults, loseAnswer, timedOut } from '../../support/dynamo-faults.ts';
import { day } from '../../support/floats.ts';
import { at } from '../../support/records.ts';
import { recurring } from '../../support/recurring.ts';

let store: BillingStore;
let payments: DynamoRecurring;
let faults: Faults;
let account: AccountId;
let fence: Fence;

const NOW = at('2026-11-16T16:00:00.247Z');
const policy = DEFAULT_RECURRING_POLICY;

beforeAll(async () => {
  store = await billingStore({ withRecurring: true });
  const { client, tables } = store;
  const transactor = new Transactor({
    client,
    locksTable: tables.locks,
    timer: impatientTimer,
    random: Math.random,
  });
  payments = new DynamoRecurring({
    client,
    transactor,
    table: tables.recurring,
    pageSize: 2,
    ids: randomUUID,
  });
});
afterAll(() => store.drop());
beforeEach(async () => {
  faults = injectFaults(store.client);
  account = `account-${randomUUID()}` as AccountId;
  fence = await store.takeLock(account);
});
afterEach(() => faults.remove());

const created = (fields: Partial<RecurringSubscription> = {}): RecurringChange => ({
  subscription: recurring({ accountId: account, ...fields }),
  cause: 'created',
  receipt: null,
  by: 'shop',
  attemptId: null,
});
async function made(fields: Partial<RecurringSubscription> = {}): Promise<RecurringSubscription> {
  const change = created(fields);
  await payments.createSubscription(fence, change);
  return change.subscription;
}

const attempt = (period: CalendarDate = day('2026-11-16')) => ({
  attemptId: `attempt-${randomUUID()}` as AttemptId,
  amount: cents(1_000),
  period,
  confirmationId: 'conf-1',
});

/** As whoever collects does it: the receipt goes along. */
async function save(before: RecurringSubscription, change: RecurringChange): Promise<RecurringSubscription> {
  const receipt = change.receipt === null ? [] : await payments.createReceipt(change.receipt);
  await payments.updateSubscription(fence, before, change, receipt);
  return change.subscription;
}
const paid = (before: RecurringSubscription, now = NOW) =>
  save(before, recurringPaid(before, attempt(before.periodDate), policy, now));

const wished = (before: RecurringSubscription, wish: RecurringWish): RecurringChange => {
  const plan = planRecurringChange(before, wish, 'shop', null, { policy, now: NOW });
  if (plan.plan !== 'change') throw new Error('refused');
  return plan.change;
};
const cancelled = (before: RecurringSubscription): RecurringChange => {
  const plan = planRecurringCancel(before, 'shop', NOW);
  if (plan.plan !== 'change') throw new Error('refused');
  return plan.change;
};

const all = async (IndexName?: string): Promise<Record<string, AttributeValue>[]> => {
  const TableName = store.tables.recurring;
  const input = IndexName === undefined ? { TableName, ConsistentRead: true } : { TableName, IndexName };
  const { Items = [] } = await store.client.send(new ScanCommand(input));
  return Items.filter((item) => item['PK']!.S === `ACC#${account}`);
};
const put = (Item: Record<string, AttributeValue>) =>
  store.client.send(new PutItemCommand({ TableName: store.tables.recurring, Item }));
const receipts = async (now = NOW) =>
  (await payments.getReceiptsByAccount(account, { now, limit: 50, key: null })).receipts;

describe('a subscription', () => {
  it('is given back as it was made, by its account', async () => {
    const one = await made({ nextReminderDate: day('2026-11-09') });
    const two = await made({ sku: 'sku-2', paymentDetails: {} });
    const { subscriptions, malformed } = await payments.getSubscriptionsByAccount(account);
    expect(malformed).toEqual([]);
    const byId = (a: RecurringSubscription, b: RecurringSubscription) =>
      a.recurringId < b.recurringId ? -1 : 1;
    expect(subscriptions).toEqual([one, two].sort(byId));
    expect(await payments.getSubscription(one)).toEqual(one);
    const nobody = { accountId: account, recurringId: 'none' as RecurringId };
    expect(await payments.getSubscription(nobody)).toBeNull();
    await expect(payments.createSubscription(fence, { ...created(one) })).rejects.toThrow(RecordChangedError);
  });

  it('is stored as the table’s design has it', async () => {
    const one = await made({ nextReminderDate: day('2026-11-09') });
    const row = (await all()).find(({ SK }) => SK!.S!.startsWith('SUB#'))!;
    expect(row).toEqual({
      PK: { S: `ACC#${account}` },
      SK: { S: `SUB#${one.recurringId}#SKU#sku-1` },
      SKU: { S: 'sku-1' },
      Status: { S: 'ACTIVE' },
      Email: { S: 'someone@example.com' },
      PaymentAmount: { S: '10.00' },
      PaymentDay: { N: '16' },
      PaymentDetails: { M: { brand: { S: 'Visa' }, token: { S: 'tok_visa_abc' } } },
      PeriodDate: { S: '2026-11-16' },
      NextPaymentDate: { S: '2026-11-16' },
      NextReminderDate: { S: '2026-11-09' },
      LastPaymentDate: { S: '2026-10-16T16:00:00.000Z' },
      LastReminderDate: { S: '2026-10-09T15:00:00.000Z' },
      FailedTries: { N: '0' },
      Error: { S: '' },
      CreatedDate: { S: '2026-10-01T12:00:00.000Z' },
      ChangedDate: { S: '2026-11-09T15:00:00.000000001Z' },
      ChangeId: { S: expect.any(String) as string },
    });
  });

  it('that somebody else wrote is read, and keeps what we do not know', async () => {
    const row = {
      PK: { S: `ACC#${account}` },
      SK: { S: 'SUB#123#SKU#999' },
      SKU: { S: '999' },
      Email: { S: 'someone@example.com' },
      PaymentDate: { S: '2023-05-28' },
      PaymentAmount: { N: '28.99' },
      LastPaymentDate: { S: '2023-05-28T14:15:39.247Z' },
      NextPaymentDate: { S: '2023-06-28' },
      LastReminderDate: { S: '2023-05-21T14:15:39.247Z' },
      NextReminderDate: { S: '2023-06-21' },
      PaymentDetails: { M: { 'default-card': { S: 'tok_1' } } },
      CreatedDate: { S: '2023-01-01T00:00:00Z' },
      Colour: { S: 'blue' },
    };
    await put(row);
    const before = (await payments.getSubscription({
      accountId: account,
      recurringId: '123' as RecurringId,
    }))!;
    expect(before).toMatchObject({
      status: 'ACTIVE',
      paymentDay: 28,
      paymentAmount: 2_899,
      periodDate: '2023-06-28',
      failedTries: 0,
    });
    const reminded = await save(before, recurringReminded(before, at('2023-06-21T15:00:00Z')));
    // Once it is stamped, whoever read it before the change comes too late.
    await expect(save(before, recurringReminded(before, NOW))).rejects.toThrow(RecordChangedError);
    await save(reminded, changed(reminded, 'changed', { sku: '1000' }, NOW));
    const [moved, ...others] = (await all()).filter(({ SK }) => SK!.S!.startsWith('SUB#'));
    expect(others).toEqual([]);
    expect(moved).toMatchObject({ SK: { S: 'SUB#123#SKU#1000' }, Colour: { S: 'blue' }, SKU: { S: '1000' } });
    expect(moved).not.toHaveProperty('NextReminderDate');
  });

  it('that cannot be read does not hide the others', async () => {
    const one = await made();
    await put({
      PK: { S: `ACC#${account}` },
      SK: { S: 'SUB#odd#SKU#x' },
      SKU: { S: 'x' },
      PaymentAmount: { S: 'much' },
    });
    const { subscriptions, malformed } = await payments.getSubscriptionsByAccount(account);
    expect(subscriptions).toEqual([one]);
    expect(malformed.map(({ row }) => row)).toEqual([
      { userId: account, subscriptionId: `recurring.${account}.odd` },
    ]);
  });

  it('changes if nobody else changed it, by the hand of whoever holds the lock, and as the table allows', async () => {
    const before = await made();
    const opened = recurringOpened(before, 'a' as AttemptId, NOW);
    await payments.updateSubscription(fence, before, opened);
    await expect(save(before, recurringReminded(before, NOW))).rejects.toThrow(RecordChangedError);
    await expect(payments.updateSubscription(fence, before, { ...opened, cause: 'created' })).rejects.toThrow(
      IllegalTransitionError,
    );
    await store.stealLock(account);
    await expect(paid(opened.subscription)).rejects.toThrow(LockLostError);
    expect(await payments.getSubscription(before)).toEqual(opened.subscription);
    expect(await receipts()).toEqual([]);
  });

  it('leaves a line for each change but the opening of an attempt, with who asked for it', async () => {
    const first = await made();
    const second = await save(first, wished(first, { paymentAmount: cents(2_000), sku: 'sku-2' }));
    const opened = recurringOpened(second, 'attempt-9' as AttemptId, NOW);
    await payments.updateSubscription(fence, second, opened);
    const declined = await save(
      opened.subscription,
      recurringDeclined(opened.subscription, { attemptId: 'attempt-9' as AttemptId }, '05: no', policy, NOW),
    );
    await save(declined, cancelled(declined));
    const changes = await payments.changesOf(first);
    expect(changes.map(({ cause, by, attemptId, status }) => [cause, by, attemptId, status])).toEqual([
      ['created', 'shop', null, 'ACTIVE'],
      ['changed', 'shop', null, 'ACTIVE'],
      ['attempt-declined', null, 'attempt-9', 'PAST_DUE'],
      ['cancelled', 'shop', null, 'CANCELLED'],
    ]);
    expect(changes[1]).toMatchObject({ sku: 'sku-2', paymentAmount: 2_000, nextPaymentDate: '2026-11-16' });
    expect(changes[3]).toMatchObject({ nextPaymentDate: null, nextReminderDate: null });
  });
});

describe('a payment', () => {
  it('is written with its receipt and the next dates, or not at all', async () => {
    const before = await made();
    const after = await paid(before);
    expect(await payments.getSubscription(before)).toEqual(after);
    expect(after).toMatchObject({ nextPaymentDate: '2026-12-16', nextReminderDate: '2026-12-09' });
    const [receipt, ...more] = await receipts();
    expect(more).toEqual([]);
    expect(receipt).toMatchObject({ number: 1, periodDate: '2026-11-16', processedDate: NOW });
    // The same again, by somebody who read what was there before.
    await expect(paid(before)).rejects.toThrow(RecordChangedError);
    expect(await receipts()).toHaveLength(1);
  });

  it('is written once when the answer is lost', async () => {
    const before = await made();
    const script = faults.script('TransactWriteItemsCommand', loseAnswer(timedOut()));
    await paid(before);
    expect(script.hits).toBe(1);
    expect(await receipts()).toHaveLength(1);
  });

  it('has the account’s next number, whatever it is for, and a number is used once', async () => {
    const one = await made();
    const two = await made({ sku: 'sku-2' });
    const afterOne = await paid(one);
    const race = recurringPaid(two, attempt(), policy, NOW);
    const number2 = await payments.createReceipt(race.receipt!);
    await paid(afterOne, plusDays(NOW, 31));
    await expect(payments.updateSubscription(fence, two, race, number2)).rejects.toThrow(RecordChangedError);
    await paid(two);
    expect((await receipts()).map(({ number, sku }) => [number, sku])).toEqual([
      [3, 'sku-2'],
      [2, 'sku-1'],
      [1, 'sku-1'],
    ]);
    expect(await payments.getReceipt(account, 2)).toMatchObject({ number: 2, sku: 'sku-1' });
    expect(await payments.getReceipt(account, 4)).toBeNull();
  });

  it('leaves a receipt in the shape of the design, that goes by itself', async () => {
    const before = await made();
    await paid(before);
    const row = (await all()).find(({ SK }) => SK!.S!.startsWith('REC#'))!;
    expect(row).toEqual({
      PK: { S: `ACC#${account}` },
      SK: { S: 'REC#00000000012026-11-16T16:00:00.247Z#SKU#sku-1' },
      SKU: { S: 'sku-1' },
      Email: { S: 'someone@example.com' },
      ReceiptNumber: { N: '1' },
      SubscriptionId: { S: before.recurringId },
      ProcessedDate: { S: '2026-11-16T16:00:00.247Z' },
      ProcessedAmount: { S: '10.00' },
      PeriodDate: { S: '2026-11-16' },
      RemindedDate: { S: '2026-11-09T15:00:00.000Z' },
      AttemptId: { S: expect.any(String) as string },
      ConfirmationId: { S: 'conf-1' },
      TTL: { N: String(Date.parse('2028-11-15T16:00:00Z') / 1_000) },
    });
    expect(await receipts(at('2028-11-15T15:59:59Z'))).toHaveLength(1);
    // DynamoDB may take two days to remove it.
    expect(await receipts(at('2028-11-15T16:00:00Z'))).toEqual([]);
  });

  it('is listed newest first, page by page', async () => {
    let current = await made();
    for (let n = 0; n < 3; n += 1) current = await paid(current, plusDays(NOW, 31 * n));
    const page = (key: Parameters<typeof payments.getReceiptsByAccount>[1]['key']) =>
      payments.getReceiptsByAccount(account, { now: NOW, limit: 2, key });
    const first = await page(null);
    const second = await page(first.nextKey);
    expect([first, second].map(({ receipts: found }) => found.map(({ number }) => number))).toEqual([
      [3, 2],
      [1],
    ]);
  });
});

describe('what is due', () => {
  it('is found by its day alone, page by page, and only while there is something to do', async () => {
    const date = day('2031-03-31');
    const due = [];
    for (let n = 0; n < 3; n += 1)
      due.push(await made({ sku: `sku-${n}`, periodDate: date, nextPaymentDate: date }));
    await made({ nextPaymentDate: day('2031-03-30') });
    await save(due[2]!, cancelled(due[2]!));
    const first = await payments.getDuePaymentsByDate(date, null);
    const second = first.nextKey === null ? null : await payments.getDuePaymentsByDate(date, first.nextKey);
    const found = [...first.due, ...(second?.due ?? [])].map(({ recurringId }) => recurringId);
    expect(found.sort()).toEqual(
      due
        .slice(0, 2)
        .map(({ recurringId }) => recurringId)
        .sort(),
    );
    expect(first.due).toHaveLength(2);
  });

  it('is told of by day, once', async () => {
    const date = day('2031-04-01');
    const one = await made({ nextReminderDate: date, nextPaymentDate: day('2031-04-08') });
    const ref = { accountId: account, recurringId: one.recurringId };
    expect((await payments.getDueRemindersByDate(date, null)).due).toEqual([ref]);
    await save(one, recurringReminded(one, NOW));
    expect((await payments.getDueRemindersByDate(date, null)).due).toEqual([]);
    expect((await payments.getDuePaymentsByDate(day('2031-04-08'), null)).due).toEqual([ref]);
  });

  it('is in the indexes with what they are to hold; receipts and lines about changes are not', async () => {
    const one = await made({ nextReminderDate: day('2026-11-09') });
    const two = await made({ sku: 'sku-2' });
    await paid(two);
    const reminders = await all(REMINDERS_BY_DAY);
    const due = await all(PAYMENTS_BY_DAY);
    expect([reminders.length, due.length]).toEqual([2, 2]);
    const names = (items: Record<string, AttributeValue>[]) =>
      Object.keys(items.find(({ SK }) => SK!.S!.includes(one.recurringId))!).sort();
    expect(names(reminders)).toEqual(
      ['PK', 'SK', 'NextReminderDate', 'LastReminderDate', 'SKU', 'Email', 'NextPaymentDate'].sort(),
    );
    expect(names(due)).toEqual(
      [
        ...['PK', 'SK', 'NextPaymentDate', 'LastPaymentDate', 'SKU', 'Email'],
        ...['PaymentDay', 'PaymentAmount', 'PaymentDetails'],
      ].sort(),
    );
  });

  it('remembers since which day there is anything', async () => {
    expect(await payments.dueSince('payments')).toBeNull();
    await payments.noteDueSince('payments', day('2026-11-01'));
    await payments.noteDueSince('payments', day('2026-11-16'));
    expect(await payments.dueSince('payments')).toBe('2026-11-16');
    expect(await payments.dueSince('reminders')).toBeNull();
  });
});
