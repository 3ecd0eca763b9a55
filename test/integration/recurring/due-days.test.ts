import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DynamoRecurring } from '../../../src/adapters/dynamodb/recurring.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { passEmptyDays, readDueDays } from '../../../src/app/recurring/due-days.ts';
import { planRecurringCancel } from '../../../src/domain/recurring/by-hand.ts';
import type { AccountId, RecurringSubscription } from '../../../src/domain/recurring/recurring.ts';
import { BadCursorError } from '../../../src/errors.ts';
import type { DueList } from '../../../src/ports/recurring.ts';
import type { PageKey } from '../../../src/ports/subscriptions.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import { day } from '../../support/floats.ts';
import { at } from '../../support/records.ts';
import { recurring } from '../../support/recurring.ts';

let store: BillingStore;
let payments: DynamoRecurring;
/** Every test has a year of its own in the same table. */
let year = 2030;

beforeAll(async () => {
  store = await billingStore({ withRecurring: true });
  const { client, tables } = store;
  const transactor = new Transactor({
    client,
    locksTable: tables.locks,
    timer: systemTimer,
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
  year += 2;
  for (const list of ['payments', 'reminders'] as const)
    await payments.noteDueSince(list, day(`${year}-01-01`));
});

const on = (text: string) => day(`${year}-${text}`);

async function due(date: string, fields: Partial<RecurringSubscription> = {}) {
  const accountId = `account-${randomUUID()}` as AccountId;
  const subscription = recurring({ accountId, nextPaymentDate: on(date), ...fields });
  await payments.createSubscription('unlocked', {
    subscription,
    cause: 'created',
    receipt: null,
    by: null,
    attemptId: null,
  });
  return subscription;
}

async function end(subscription: RecurringSubscription): Promise<void> {
  const plan = planRecurringCancel(subscription, 'test', at('2029-01-01T00:00:00Z'));
  if (plan.plan === 'change') await payments.updateSubscription('unlocked', subscription, plan.change);
}

async function pages(today: string, list: DueList = 'payments'): Promise<string[][]> {
  const found: string[][] = [];
  let cursor: PageKey | null = null;
  do {
    const page = await readDueDays(payments, { list, today: on(today), cursor });
    found.push(page.due.map(({ recurringId }) => recurringId).sort());
    cursor = page.nextKey;
  } while (cursor !== null);
  return found;
}

const ids = (subscriptions: RecurringSubscription[]) =>
  subscriptions.map(({ recurringId }) => recurringId).sort();

describe('what is due', () => {
  it('is read day by day up to today, with the days that were missed, and nothing of tomorrow', async () => {
    const missed = await due('02-03');
    const today = [await due('03-31'), await due('03-31'), await due('03-31')];
    await due('04-01');
    const found = await pages('03-31');
    expect(found.flat().sort()).toEqual(ids([missed, ...today]));
    expect(found[0]).toEqual(ids([missed]));
    // A page has room for two, and what comes after the last is known to be nothing.
    expect(found.slice(1).map((page) => page.length)).toEqual([2, 1]);
  });

  it('is nothing on a day without anything, in one page', async () => {
    expect(await pages('12-31')).toEqual([[]]);
  });

  it('of reminders is another list', async () => {
    const one = await due('06-30', { nextReminderDate: on('06-23') });
    expect((await pages('06-23', 'reminders')).flat()).toEqual([one.recurringId]);
    expect((await pages('06-23')).flat()).toEqual([]);
  });

  it('refuses a cursor that is none', async () => {
    for (const cursor of ['', 'x', '2031-02-31:', ':abc'])
      await expect(
        readDueDays(payments, { list: 'payments', today: on('03-31'), cursor: cursor as PageKey }),
      ).rejects.toThrow(BadCursorError);
  });
});

describe('the first day that is read', () => {
  it('moves over days on which nothing is left, and stops at one that is not done', async () => {
    const waiting = await due('02-03');
    await passEmptyDays(payments, 'payments', on('03-31'));
    expect(await payments.dueSince('payments')).toBe(on('02-03'));
    expect((await pages('03-31')).flat()).toEqual([waiting.recurringId]);
    await end(waiting);
    await passEmptyDays(payments, 'payments', on('03-31'));
    // The last days are always read: something may have been written late.
    expect(await payments.dueSince('payments')).toBe(on('03-28'));
    const late = await due('03-29');
    expect((await pages('03-31')).flat()).toEqual([late.recurringId]);
  });

  it('goes back with a clock that was set back', async () => {
    await passEmptyDays(payments, 'payments', on('12-31'));
    const earlier = await due('05-05');
    expect((await pages('05-06')).flat()).toEqual([earlier.recurringId]);
    await passEmptyDays(payments, 'payments', on('05-06'));
    expect(await payments.dueSince('payments')).toBe(on('05-03'));
    expect((await pages('08-01')).flat()).toEqual([earlier.recurringId]);
  });

  it('is a year ago and more where nobody has looked before', async () => {
    const old = await due('01-02');
    const fresh = {
      dueSince: () => Promise.resolve(null),
      getDuePaymentsByDate: payments.getDuePaymentsByDate.bind(payments),
      getDueRemindersByDate: payments.getDueRemindersByDate.bind(payments),
    };
    const page = await readDueDays(fresh, {
      list: 'payments',
      today: day(`${year + 1}-02-01`),
      cursor: null,
    });
    expect(page.due.map(({ recurringId }) => recurringId)).toEqual([old.recurringId]);
  });
});
