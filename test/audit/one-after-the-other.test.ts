import { expect, it } from 'vitest';
import { readAccount } from '../../src/audit/recurring/recurring-case.ts';
import { readUser } from '../../src/audit/user-case.ts';

/** Counts how many are asked for at the same moment. */
function asking() {
  let now = 0;
  let most = 0;
  const attemptsOf = async (): Promise<[]> => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    return [];
  };
  return { attemptsOf, most: () => most };
}

it('the records of a member are read one after the other: members are read many at once', async () => {
  const { attemptsOf, most } = asking();
  const row = (month: number) => ({
    user_id: 'u',
    subscription_id: `s-${month}`,
    billing_date: `2026-0${month}-16T06:00:00Z`,
    billing_status: 'COMPLETED',
    billing_amount: '4.99',
    last_run_date: `2026-0${month}-16T06:00:00Z`,
    initial_run_date: `2026-0${month}-16T06:00:00Z`,
  });
  const tables = { attemptsOf, historyOf: async () => [] } as unknown as Parameters<typeof readUser>[0];
  const { records } = await readUser(tables, 'u', [1, 2, 3, 4].map(row), new Map());
  expect([records.length, most()]).toEqual([4, 1]);
});

it('so are the recurring payments of an account', async () => {
  const { attemptsOf, most } = asking();
  const row = (id: number) => ({
    PK: 'ACC#u',
    SK: `SUB#${id}#SKU#x`,
    SKU: 'x',
    Email: '',
    Status: 'ACTIVE',
    PaymentAmount: '4.99',
    PaymentDay: 1,
    PaymentDetails: {},
    PeriodDate: '2026-11-01',
    NextPaymentDate: '2026-11-01',
    LastPaymentDate: '2026-10-01T00:00:00.000Z',
    LastReminderDate: '2026-10-01T00:00:00.000Z',
    CreatedDate: '2026-01-01T00:00:00.000Z',
    ChangedDate: '2026-10-01T00:00:00.000000000Z',
    FailedTries: 0,
    Error: '',
  });
  const { subscriptions, unreadable } = await readAccount({ attemptsOf }, 'u', [1, 2, 3].map(row), new Map());
  expect(unreadable).toEqual([]);
  expect([subscriptions.length, most()]).toEqual([3, 1]);
});
