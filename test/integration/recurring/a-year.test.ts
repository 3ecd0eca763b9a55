import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoAuditTables } from '../../../src/adapters/dynamodb/audit-source.ts';
import { HttpLedger } from '../../../src/audit/ledger.ts';
import { cents } from '../../../src/domain/money.ts';
import { recurringCreated } from '../../../src/domain/recurring/by-hand.ts';
import { DEFAULT_RECURRING_POLICY } from '../../../src/domain/recurring/policy.ts';
import type {
  AccountId,
  RecurringId,
  RecurringSubscription,
} from '../../../src/domain/recurring/recurring.ts';
import type { RecurringProcess } from '../../../src/domain/recurring/runs.ts';
import { recurringLockKey } from '../../../src/ports/lock.ts';
import { auditOf } from '../../audit/bench.ts';
import { day } from '../../support/floats.ts';
import type { RecurringDesk } from '../../support/recurring-desk.ts';
import { recurringDesk, reminderOf } from '../../support/recurring-desk.ts';
import { runRecurring } from '../../support/recurring-runs.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { world } from '../../support/world.ts';

/** A leap year. */
const YEAR = 2028;
const PAYMENT_DAYS = [1, 28, 29, 30, 31] as const;
const ACCOUNTS = 3;

let here: World;
let desk: RecurringDesk;
let subscriptions: RecurringSubscription[];
/** On which days the runs found something. */
const worked: Record<RecurringProcess, string[]> = { 'recurring-reminders': [], 'recurring-payments': [] };

/** By JavaScript's calendar, month by month, not by ours. */
const datesOf = (paymentDay: number): string[] =>
  Array.from({ length: 12 }, (_, month) => {
    const last = new Date(Date.UTC(YEAR, month + 1, 0)).getUTCDate();
    return new Date(Date.UTC(YEAR, month, Math.min(paymentDay, last))).toISOString().slice(0, 10);
  });
const daysBefore = (date: string, days: number): string =>
  new Date(Date.parse(date) - days * 86_400_000).toISOString().slice(0, 10);

async function create(accountId: AccountId, paymentDay: number): Promise<RecurringSubscription> {
  const change = recurringCreated(
    {
      accountId,
      recurringId: `sub-${paymentDay}` as RecurringId,
      sku: `sku-${paymentDay}`,
      email: 'someone@example.com',
      paymentAmount: cents(1_000 + paymentDay),
      paymentDay,
      paymentToken: 'tok',
      paymentDetails: {},
      startDate: day(`${YEAR}-01-01`),
    },
    'test',
    DEFAULT_RECURRING_POLICY,
    here.now,
  );
  const acquired = await here.dependencies.locks.acquire(recurringLockKey(accountId));
  if ('busy' in acquired) throw new Error('nobody else knows this account');
  await here.store.recurring.createSubscription(acquired.lock.fence, change);
  await acquired.lock.release();
  return change.subscription;
}

/** For us and for the bank. */
async function itIs(time: string): Promise<void> {
  here.now = at(time);
  await here.bank('PUT', '/clock', { now: time, frozen: true });
}

/** The runs of one day. Where the index has nothing for the day, a run would find nothing either. */
async function live(date: string): Promise<void> {
  const lists = [
    ['recurring-reminders', '15:00:00', here.store.recurring.getDueRemindersByDate(day(date), null)],
    ['recurring-payments', '16:00:00', here.store.recurring.getDuePaymentsByDate(day(date), null)],
  ] as const;
  for (const [process, time, due] of lists) {
    if ((await due).due.length === 0) continue;
    await itIs(`${date}T${time}Z`);
    const { report } = await runRecurring(here, desk, process);
    if (report!.records > 0) worked[process].push(date);
  }
}

beforeAll(async () => {
  here = await world({ withRecurring: true, withFloats: true });
  desk = recurringDesk(here);
  await itIs(`${YEAR}-01-01T00:00:00Z`);
  for (const list of ['payments', 'reminders'] as const)
    await here.store.recurring.noteDueSince(list, day(`${YEAR}-01-01`));
  subscriptions = [];
  for (let n = 0; n < ACCOUNTS; n += 1) {
    const accountId = await desk.account({ balance: { amount: '100000.00' } });
    for (const paymentDay of PAYMENT_DAYS) subscriptions.push(await create(accountId, paymentDay));
  }
  for (let date = `${YEAR}-01-01`; date <= `${YEAR}-12-31`; date = daysBefore(date, -1)) await live(date);
});
afterAll(() => here.close());

const rawReceipts = async (accountId: AccountId) => {
  const { Items = [] } = await here.store.client.send(
    new QueryCommand({
      TableName: here.store.tables.recurring,
      KeyConditionExpression: 'PK = :pk AND begins_with(SK, :receipts)',
      ExpressionAttributeValues: { ':pk': { S: `ACC#${accountId}` }, ':receipts': { S: 'REC#' } },
    }),
  );
  return Items;
};

describe('a leap year of three accounts with five subscriptions each', () => {
  it('has a receipt for each month of each, of the right day and amount, numbered through', async () => {
    for (const accountId of new Set(subscriptions.map(({ accountId: id }) => id))) {
      const receipts = [...(await desk.receipts({ accountId }))].reverse();
      expect(receipts.map(({ number }) => number)).toEqual(receipts.map((_, index) => index + 1));
      for (const paymentDay of PAYMENT_DAYS) {
        const own = receipts.filter(({ recurringId }) => recurringId === `sub-${paymentDay}`);
        const expected = datesOf(paymentDay);
        expect(own.map(({ periodDate }) => periodDate)).toEqual(expected);
        expect(own.map(({ processedDate }) => processedDate)).toEqual(
          expected.map((date) => at(`${date}T16:00:00Z`)),
        );
        expect(new Set(own.map(({ processedAmount }) => processedAmount))).toEqual(
          new Set([1_000 + paymentDay]),
        );
      }
    }
  });

  it('has a debit at the bank for each receipt, and no other', async () => {
    const { entries } = (await here.bank('GET', '/ledger?type=payment.applied&limit=5000')) as {
      entries: { reference_id: string; confirmation_id: string }[];
    };
    expect(entries).toHaveLength(ACCOUNTS * PAYMENT_DAYS.length * 12);
    expect(new Set(entries.map(({ reference_id: reference }) => reference)).size).toBe(entries.length);
    const receipts = (
      await Promise.all(
        [...new Set(subscriptions.map(({ accountId }) => accountId))].map((accountId) =>
          desk.receipts({ accountId }),
        ),
      )
    ).flat();
    expect(receipts.map(({ confirmationId }) => confirmationId).sort()).toEqual(
      entries.map(({ confirmation_id: id }) => id).sort(),
    );
  });

  it('has one reminder for each period, seven days before, and at once where it began', async () => {
    for (const accountId of new Set(subscriptions.map(({ accountId: id }) => id))) {
      const told = await desk.told({ accountId });
      expect(told.every(({ duplicate }) => !duplicate)).toBe(true);
      const expected = PAYMENT_DAYS.flatMap((paymentDay) =>
        [...datesOf(paymentDay), ...nextYear(paymentDay)].map(
          (date) => `recurring.${accountId}.sub-${paymentDay}.${date}.recurring_payment_reminder`,
        ),
      );
      expect(told.map(reminderOf).sort()).toEqual(expected.sort());
      for (const { periodDate, remindedDate } of await desk.receipts({ accountId })) {
        const on = periodDate === `${YEAR}-01-01` ? periodDate : daysBefore(periodDate, 7);
        expect(remindedDate).toBe(at(`${on}T15:00:00Z`));
      }
    }
  });

  /** Of January, those that are told of in December. */
  const nextYear = (paymentDay: number): string[] => (paymentDay === 1 ? [`${YEAR + 1}-01-01`] : []);

  it('has something to do on those days alone', () => {
    const payments = [...new Set(PAYMENT_DAYS.flatMap(datesOf))].sort();
    expect(worked['recurring-payments']).toEqual(payments);
    const reminders = [...new Set([...payments, `${YEAR + 1}-01-01`].map((date) => daysBefore(date, 7)))];
    const expected = reminders.filter((date) => date >= `${YEAR}-01-01`);
    expect(worked['recurring-reminders']).toEqual([...new Set([`${YEAR}-01-01`, ...expected])].sort());
  });

  it('leaves receipts that go by themselves two years after the payment', async () => {
    const rows = await rawReceipts(subscriptions[0]!.accountId);
    expect(rows).toHaveLength(PAYMENT_DAYS.length * 12);
    for (const { TTL, ProcessedDate } of rows)
      expect(Number(TTL!.N)).toBe(Date.parse(ProcessedDate!.S!) / 1_000 + 730 * 86_400);
  });

  it('is one in which the audit finds nothing wrong', async () => {
    const { client, tables } = here.store;
    const source = {
      tables: new DynamoAuditTables({ client, tables, pageSize: 500 }),
      ledger: new HttpLedger(here.url),
    };
    const { violations, totals } = await auditOf(source, { now: here.now });
    expect(violations).toEqual([]);
    expect(totals).toMatchObject({ recurring: 15, attempts: 180, debits: 180 });
  });

  it('ends where the next one begins', async () => {
    for (const { accountId, recurringId, paymentDay } of subscriptions) {
      const row = await desk.row({ accountId, recurringId });
      const date = `${YEAR + 1}-01-${String(paymentDay).padStart(2, '0')}`;
      expect(row).toMatchObject({ status: 'ACTIVE', periodDate: date, nextPaymentDate: date });
    }
  });
});
