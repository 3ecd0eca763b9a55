import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant } from '../../../src/domain/instant.ts';
import type { Subscription } from '../../../src/domain/subscription.ts';
import type { Cause } from '../../../src/domain/transitions.ts';
import golden from '../../golden/billing-rows-written-by-go.json' with { type: 'json' };
import type { BillingStore, Item } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import { at } from '../../support/records.ts';

let store: BillingStore;

beforeAll(async () => {
  store = await billingStore();
});
afterAll(() => store.drop());

const rows = golden.rows as unknown as Item[];

/** An attribute of a newer Go service, of a kind that text or JavaScript numbers would not carry faithfully. */
const unknown: Item = {
  loyalty_points: { N: '12345678901234567890123456789012345678' },
  flags: { M: { beta: { BOOL: true }, tags: { SS: ['a', 'b'] } } },
  blob: { B: new Uint8Array([0, 255, 128]) },
};

async function put(row: Item, user: string): Promise<Item> {
  const item = { ...row, user_id: { S: user }, ...unknown };
  await store.putBillingRow(item);
  return item;
}

const only = async (user: string) => (await store.subscriptions.listByUserID(user)).subscriptions[0]!;

/** What each golden row turns into here: a change of one attribute for a cause that its status allows. */
const changesOf: Record<string, { cause: Cause; change: Partial<Subscription>; attribute: string }> = {
  SCHEDULED: {
    cause: 'membership-cancelled',
    change: { updatedEvent: 'PENDING_CANCELLATION' },
    attribute: 'updated_event',
  },
  ACHSENT: { cause: 'ach-completed', change: { billingStatus: 'COMPLETED' }, attribute: 'billing_status' },
  PAUSED: {
    cause: 'support-changed',
    change: { isPendingDowngrade: false },
    attribute: 'is_pending_downgrade',
  },
  ERROR: { cause: 'attempt-opened', change: { transactionId: 'USIO-2' }, attribute: 'transaction_id' },
};

describe.each(rows.map((row) => [row['billing_status']!.S!, row] as const))(
  'a %s row written by Go',
  (status, row) => {
    const { cause, change, attribute } = changesOf[status]!;

    it('is read', async () => {
      await put(row, `read-${status}`);
      const record = await only(`read-${status}`);
      expect(record.billingStatus).toBe(status);
      expect(record.billingDate).toBe(at(row['billing_date']!.S!));
      expect(record.billingWeek).toBe(
        row['billing_week']!.N === undefined ? null : Number(row['billing_week']!.N),
      );
      expect(record.completionDate).toBeNull();
      expect(record.isPendingDowngrade).toBe(row['is_pending_downgrade']?.BOOL ?? false);
    });

    it('keeps its key and every byte that was not changed when it is written back', async () => {
      const user = `changed-${status}`;
      const before = await put(row, user);
      const record = await only(user);
      const fence = await store.takeLock(user);
      const written = await store.subscriptions.add(
        fence,
        { ...record, ...change },
        await store.context(user, { cause }),
      );

      const after = await store.billingRow(user, row['billing_date']!.S!);
      const touched = ['last_run_date', attribute];
      for (const name of new Set([...Object.keys(before), ...Object.keys(after!)])) {
        if (!touched.includes(name)) expect({ [name]: after![name] }).toEqual({ [name]: before[name] });
      }
      expect(after!['last_run_date']).toEqual({ S: formatInstant(written.lastRunDate!) });
      expect(after![attribute]).not.toEqual(before[attribute]);

      const [history] = await store.historyRows(user);
      const { data_cause, data_change_id, ...mirrored } = history!;
      expect(mirrored).toEqual(after);
      expect([data_cause?.S, typeof data_change_id?.S]).toEqual([cause, 'string']);
    });
  },
);

// Support may not move what is at the bank.
const movable = rows.filter((row) => row['billing_status']!.S !== 'ACHSENT');

it.each(movable.map((row) => [row['billing_status']!.S!, row] as const))(
  'a %s row written by Go keeps all but its date and period when it is moved',
  async (status, row) => {
    const user = `moved-${status}`;
    const before = await put(row, user);
    const record = await only(user);
    const fence = await store.takeLock(user);
    const to = at('2026-12-24T06:00:00Z');
    await store.subscriptions.adminUpdate(
      fence,
      record,
      { ...record, billingDate: to },
      await store.context(user, { cause: 'support-changed' }),
    );
    const after = (await store.billingRow(user, '2026-12-24T06:00:00Z'))!;
    expect(after['billing_period']).toEqual({ S: '12/2026' });
    const { billing_date, billing_period, last_run_date } = before;
    expect({ ...after, billing_date, billing_period, last_run_date }).toEqual(before);
  },
);

it('keeps `data_` attributes out of the billing row, and those that an old row has', async () => {
  await store.putBillingRow({ ...rows[0]!, user_id: { S: 'data' }, data_note: { S: 'left by hand' } });
  const fence = await store.takeLock('data');
  const context = await store.context('data', { cause: 'membership-cancelled', data: { event_id: 'e-1' } });
  await store.subscriptions.add(fence, { ...(await only('data')), updatedEvent: 'x' }, context);
  const row = await store.billingRow('data', rows[0]!['billing_date']!.S!);
  expect(Object.keys(row!).filter((name) => name.startsWith('data_'))).toEqual([]);
  const [history] = await store.historyRows('data');
  expect(history!['data_event_id']).toEqual({ S: 'e-1' });
});
