import { randomUUID } from 'node:crypto';
import type { TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ensureTable, tableDefinitions } from '../../../src/adapters/dynamodb/tables.ts';
import { formatInstant, instantFromMs, msOf, plusDays, plusMs } from '../../../src/domain/instant.ts';
import type { BillingStatus, UserId } from '../../../src/domain/subscription.ts';
import {
  IllegalTransitionError,
  LockLostError,
  MalformedRowError,
  PeriodTakenError,
  RecordChangedError,
} from '../../../src/errors.ts';
import type { Fence } from '../../../src/ports/lock.ts';
import type { PageKey, StoredSubscription, SubscriptionPage } from '../../../src/ports/subscriptions.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import { injectFaults, pass } from '../../support/dynamo-faults.ts';
import { at, subscription } from '../../support/records.ts';

let store: BillingStore;
let userId: UserId;
let fence: Fence;

beforeAll(async () => {
  store = await billingStore({ pageSize: 7 });
});
afterAll(() => store.drop());
beforeEach(async () => {
  userId = `user-${randomUUID()}` as UserId;
  fence = await store.takeLock(userId);
});

const created = (overrides = {}) => subscription({ userId, ...overrides });

async function addNew(overrides = {}): Promise<StoredSubscription> {
  return store.subscriptions.add(
    fence,
    created(overrides),
    await store.context(userId, { cause: 'plan-changed' }),
  );
}

/** Of the billing rows that one transaction puts. */
const billingDatesOf = (input: Partial<TransactWriteItemsCommandInput>): unknown[] =>
  (input.TransactItems ?? [])
    .filter(({ Put }) => Put?.TableName === store.tables.billing)
    .map(({ Put }) => Put?.Item?.['billing_date']?.S);

const changes = (overrides: object) => store.context(userId, { cause: 'attempt-opened', ...overrides });

describe('Add', () => {
  it('writes a new record to both tables, equal but for the data of the history row', async () => {
    const written = await store.subscriptions.add(
      fence,
      created(),
      await changes({ cause: 'plan-changed', data: { attempt_id: 'a-1' } }),
    );

    const row = await store.billingRow(userId, '2026-11-16T06:00:00Z');
    const [history, ...more] = await store.historyRows(userId);
    expect(more).toEqual([]);
    const { data_attempt_id, data_cause, data_change_id, ...mirrored } = history!;
    expect(mirrored).toEqual(row);
    expect(data_attempt_id).toEqual({ S: 'a-1' });
    expect(data_cause).toEqual({ S: 'plan-changed' });
    expect(data_change_id?.S).toMatch(/^[0-9a-f-]{36}$/);
    expect(row).not.toHaveProperty('is_pending_downgrade');
    expect(row).toMatchObject({
      initial_run_date: { S: '0001-01-01T00:00:00Z' },
      billing_week: { NULL: true },
      billing_amount: { S: '4.99' },
    });
    expect(written.lastRunDate).toBe(at(row!['last_run_date']!.S!));
  });

  it('gives each change a later stamp with nine digits, the last not 0, also while the clock stands still', async () => {
    let record = await addNew();
    for (let i = 0; i < 5; i += 1) {
      const context = { ...(await changes({})), partition: { subscriptions: [record], malformed: [] } };
      record = await store.subscriptions.add(fence, { ...record, usioError: `try ${i}` }, context);
    }

    const stamps = (await store.historyRows(userId)).map((row) => row['last_run_date']!.S!);
    expect(stamps).toHaveLength(6);
    for (const stamp of stamps) expect(stamp).toMatch(/\.\d{8}[1-9]Z$/);
    expect(stamps.map(at)).toEqual([...stamps.map(at)].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(stamps).size).toBe(6);
  });

  it('refuses a record that exists already and leaves both tables alone', async () => {
    const first = await addNew();
    const later = at('2026-11-16T09:00:00Z');
    const blind = {
      ...(await changes({ cause: 'plan-changed', now: later })),
      partition: { subscriptions: [], malformed: [] },
    };

    await expect(store.subscriptions.add(fence, created(), blind)).rejects.toThrow(PeriodTakenError);
    expect(await store.historyRows(userId)).toHaveLength(1);
    expect((await store.subscriptions.listByUserID(userId)).subscriptions).toEqual([first]);
  });

  it('refuses a change of a row that somebody changed meanwhile', async () => {
    const read = await addNew();
    await store.subscriptions.add(fence, { ...read, usioError: 'first' }, await changes({}));

    const late = store.subscriptions.add(fence, { ...read, usioError: 'second' }, await changes({}));
    await expect(late).rejects.toThrow(RecordChangedError);
    expect((await store.billingRow(userId, '2026-11-16T06:00:00Z'))!['usio_error']).toEqual({ S: 'first' });
    expect(await store.historyRows(userId)).toHaveLength(2);
  });

  it('refuses a change of a row that is gone', async () => {
    const read = await addNew();
    await store.subscriptions.adminUpdate(
      fence,
      read,
      { ...read, billingDate: at('2026-11-20T06:00:00Z') },
      await changes({ cause: 'support-changed' }),
    );

    const late = store.subscriptions.add(fence, { ...read, usioError: 'late' }, await changes({}));
    await expect(late).rejects.toThrow(RecordChangedError);
  });

  it('refuses the write of a holder that lost the lock, and of one that released it', async () => {
    const read = await addNew();
    const change = async () => store.subscriptions.add(fence, { ...read, usioError: 'x' }, await changes({}));

    await store.stealLock(userId);
    await expect(change()).rejects.toThrow(LockLostError);

    fence = await store.takeLock(userId);
    await store.releaseLock(userId);
    await expect(change()).rejects.toThrow(LockLostError);
    expect(await store.historyRows(userId)).toHaveLength(1);
  });

  it('writes without a lock where the path takes none, still conditional on what was read', async () => {
    const read = await addNew();
    await store.stealLock(userId);
    const closed = { ...read, billingStatus: 'CANCELLED' as const, updatedEvent: 'account-closed' };
    const context = await changes({ cause: 'account-closed' });

    const written = await store.subscriptions.add('unlocked', closed, context);
    expect(written.billingStatus).toBe('CANCELLED');
    await expect(store.subscriptions.add('unlocked', closed, context)).rejects.toThrow(RecordChangedError);
  });

  it('refuses a transition that the table does not have before anything is sent', async () => {
    const read = await addNew({ billingStatus: 'CANCELLED' });
    const faults = injectFaults(store.client);

    const illegal = store.subscriptions.add(
      fence,
      { ...read, billingStatus: 'SCHEDULED' },
      await changes({}),
    );
    await expect(illegal).rejects.toThrow(IllegalTransitionError);
    const born = store.subscriptions.add(fence, created({ billingStatus: 'ERROR' }), await changes({}));
    await expect(born).rejects.toThrow(IllegalTransitionError);
    expect(faults.calls('TransactWriteItemsCommand')).toBe(0);
    faults.remove();
  });

  it.each([
    ['standing still', '2026-11-16T08:00:00.123Z'],
    ['gone back', '2026-11-16T07:00:00Z'],
  ])('changes again what it has written, without another read, with a clock %s', async (_, later) => {
    const context = await changes({ cause: 'plan-changed' });
    let record = await store.subscriptions.add(fence, created(), context);
    record = await store.subscriptions.add(
      fence,
      { ...record, usioError: 'a' },
      { ...context, now: at(later) },
    );
    record = await store.subscriptions.add(
      fence,
      { ...record, usioError: 'b' },
      { ...context, now: at(later) },
    );
    const { entries } = await store.history.getByID(record.subscriptionId);
    expect(entries.map(({ subscription: { usioError } }) => usioError)).toEqual(['', 'a', 'b']);
    expect(entries.at(-1)!.subscription.lastRunDate).toBe(record.lastRunDate);
  });

  it('refuses a fence that protects another user, and records of two users', async () => {
    const other = `user-${randomUUID()}` as UserId;
    const context = await store.context(other, { cause: 'plan-changed' });
    const foreign = store.subscriptions.add(fence, subscription({ userId: other }), context);
    await expect(foreign).rejects.toThrow(/does not protect/);
    const both = store.subscriptions.addAll(fence, [created(), subscription({ userId: other })], context);
    await expect(both).rejects.toThrow(/one user/);
    expect(await store.historyRows(other)).toEqual([]);
  });

  it('writes nothing while one of the user’s rows cannot be read: it may hold the period or the newest stamp', async () => {
    const good = await addNew({ billingDate: at('2026-12-16T06:00:00Z') });
    await store.putBillingRow({ ...(await goRow()), billing_amount: { S: 'lots' } });
    await expect(addNew()).rejects.toThrow(MalformedRowError);
    await expect(
      store.subscriptions.add(fence, { ...good, usioError: 'x' }, await changes({})),
    ).rejects.toThrow(MalformedRowError);
    expect(await store.historyRows(userId)).toHaveLength(1);
  });

  it('refuses a new record whose id another one has', async () => {
    const first = await addNew();
    const twin = addNew({ subscriptionId: first.subscriptionId, billingDate: at('2026-12-16T06:00:00Z') });
    await expect(twin).rejects.toThrow(PeriodTakenError);
  });

  it('sees a change of the status alone', async () => {
    const read = await addNew();
    const item = (await store.billingRow(userId, '2026-11-16T06:00:00Z'))!;
    await store.putBillingRow({ ...item, billing_status: { S: 'CANCELLED' } });
    const partition = { subscriptions: [read], malformed: [] };
    const late = store.subscriptions.add(
      fence,
      { ...read, usioError: 'x' },
      { ...(await changes({})), partition },
    );
    await expect(late).rejects.toThrow(RecordChangedError);
  });

  it('refuses a record that carries the row of another, or another date', async () => {
    const read = await addNew();
    const stranger = { ...read, subscriptionId: randomUUID() as typeof read.subscriptionId };
    await expect(store.subscriptions.add(fence, stranger, await changes({}))).rejects.toThrow(/built anew/);
    const moved = { ...read, billingDate: at('2026-12-16T06:00:00Z') };
    await expect(store.subscriptions.add(fence, moved, await changes({}))).rejects.toThrow(/adminUpdate/);
    const fraction = created({ billingDate: at('2027-01-01T06:00:00.5Z') });
    await expect(store.subscriptions.add(fence, fraction, await changes({}))).rejects.toThrow(/whole second/);
  });
});

describe('AddAll', () => {
  it('changes all of them or none', async () => {
    const first = await addNew();
    const second = await addNew({ billingDate: at('2026-12-16T06:00:00Z') });
    await store.subscriptions.add(fence, { ...second, usioError: 'meanwhile' }, await changes({}));

    const both = [first, second].map((record) => ({ ...record, updatedEvent: 'PENDING_CANCELLATION' }));
    const attempt = store.subscriptions.addAll(fence, both, await changes({ cause: 'membership-cancelled' }));
    await expect(attempt).rejects.toThrow(RecordChangedError);
    const { subscriptions } = await store.subscriptions.listByUserID(userId);
    expect(subscriptions.map(({ updatedEvent }) => updatedEvent)).toEqual(['', '']);
  });

  it('gives the records of one event distinct, increasing stamps in the order of their dates', async () => {
    const later = await addNew({ billingDate: at('2026-12-16T06:00:00Z') });
    const sooner = await addNew();
    const written = await store.subscriptions.addAll(
      fence,
      [later, sooner].map((record) => ({ ...record, updatedEvent: 'PENDING_CANCELLATION' })),
      await changes({ cause: 'membership-cancelled' }),
    );
    expect(written.map(({ subscriptionId }) => subscriptionId)).toEqual([
      sooner.subscriptionId,
      later.subscriptionId,
    ]);
    expect(written[0]!.lastRunDate! < written[1]!.lastRunDate!).toBe(true);
    expect(await store.historyRows(userId)).toHaveLength(4);
  });

  it('moves a new record that is not SCHEDULED by hours to the next free instant, never one in place', async () => {
    const scheduled = await addNew();
    const prorations = [created({ billingStatus: 'COMPLETED' }), created({ billingStatus: 'COMPLETED' })];
    const updated = { ...scheduled, isPendingDowngrade: true };
    const written = await store.subscriptions.addAll(
      fence,
      [...prorations, updated],
      await changes({ cause: 'plan-changed' }),
    );
    expect(written.map(({ billingDate }) => formatInstant(billingDate)).sort()).toEqual([
      '2026-11-16T06:00:00Z',
      '2026-11-16T07:00:00Z',
      '2026-11-16T08:00:00Z',
    ]);
    expect(await store.billingRow(userId, '2026-11-16T06:00:00Z')).toHaveProperty('is_pending_downgrade');
  });

  it('finds an instant taken that another spelling holds, and refuses a second SCHEDULED there', async () => {
    const row = { ...(await goRow()), billing_date: { S: '2026-11-16T06:00:00.000Z' } };
    await store.putBillingRow(row);
    await expect(addNew()).rejects.toThrow(PeriodTakenError);
  });

  it('moves the period along when the hours lead into the next month', async () => {
    await addNew({ billingDate: at('2026-11-30T23:00:00Z') });
    const moved = await addNew({ billingDate: at('2026-11-30T23:00:00Z'), billingStatus: 'COMPLETED' });
    expect(moved).toMatchObject({ billingDate: at('2026-12-01T00:00:00Z'), billingPeriod: '12/2026' });
  });

  it('writes 48 records as one transaction and more one by one, in the order of their dates', async () => {
    const year = (count: number) =>
      Array.from({ length: count }, (_, i) =>
        created({
          billingDate: plusDays(at('2027-01-01T06:00:00Z'), i),
          billingStatus: 'PAUSED',
          pauseDurationMonths: -1,
        }),
      );
    const faults = injectFaults(store.client);
    await store.subscriptions.addAll(fence, year(48), await changes({}));
    expect(faults.calls('TransactWriteItemsCommand')).toBe(1);

    userId = `user-${randomUUID()}` as UserId;
    fence = await store.takeLock(userId);
    const sent: unknown[] = [];
    faults.script('TransactWriteItemsCommand', pass, {
      times: Infinity,
      when: (input) => sent.push(billingDatesOf(input)) > 0,
    });
    const written = await store.subscriptions.addAll(fence, year(49).reverse(), await changes({}));
    faults.remove();
    expect(sent).toEqual(year(49).map(({ billingDate }) => [formatInstant(billingDate)]));
    expect(await store.historyRows(userId)).toHaveLength(49);
    const stamps = written.map(({ lastRunDate }) => lastRunDate!);
    expect(stamps.every((stamp, i) => i === 0 || stamp > stamps[i - 1]!)).toBe(true);
  });

  it('does nothing for an empty list', async () => {
    expect(await store.subscriptions.addAll(fence, [], await changes({}))).toEqual([]);
  });
});

describe('AdminUpdate', () => {
  it('moves a record to another date in one transaction', async () => {
    const read = await addNew();
    const moved = await store.subscriptions.adminUpdate(
      fence,
      read,
      { ...read, billingDate: at('2026-11-20T06:00:00Z') },
      await changes({ cause: 'support-changed' }),
    );
    expect(await store.billingRow(userId, '2026-11-16T06:00:00Z')).toBeUndefined();
    const row = await store.billingRow(userId, '2026-11-20T06:00:00Z');
    expect(row!['subscription_id']).toEqual({ S: read.subscriptionId });
    expect(await store.historyRows(userId)).toHaveLength(2);
    expect((await store.subscriptions.listByUserID(userId)).subscriptions).toEqual([moved]);
  });

  it('changes a record in place when the date stays', async () => {
    const read = await addNew();
    await store.subscriptions.adminUpdate(
      fence,
      read,
      { ...read, billingStatus: 'WAIVED' },
      await changes({ cause: 'support-changed' }),
    );
    expect((await store.billingRow(userId, '2026-11-16T06:00:00Z'))!['billing_status']).toEqual({
      S: 'WAIVED',
    });
  });

  it('refuses a transition that the table does not have', async () => {
    const read = await addNew({ billingStatus: 'CANCELLED' });
    const back = { ...read, billingStatus: 'SCHEDULED' as const, billingDate: at('2026-11-20T06:00:00Z') };
    const illegal = store.subscriptions.adminUpdate(
      fence,
      read,
      back,
      await changes({ cause: 'support-changed' }),
    );
    await expect(illegal).rejects.toThrow(IllegalTransitionError);
  });

  it('refuses a date that another SCHEDULED record has, and a row that changed meanwhile', async () => {
    const read = await addNew();
    const other = await addNew({ billingDate: at('2026-12-16T06:00:00Z') });
    const onto = { ...read, billingDate: other.billingDate };
    const move = async (updated: typeof read) =>
      store.subscriptions.adminUpdate(fence, read, updated, await changes({ cause: 'support-changed' }));

    await expect(move(onto)).rejects.toThrow(PeriodTakenError);
    await store.subscriptions.add(fence, { ...read, usioError: 'meanwhile' }, await changes({}));
    await expect(move({ ...read, billingDate: at('2026-11-20T06:00:00Z') })).rejects.toThrow(
      RecordChangedError,
    );
    expect((await store.subscriptions.listByUserID(userId)).subscriptions).toHaveLength(2);
  });
});

describe('reading', () => {
  it('GetByID finds a record by its id, none for an unknown one, the newest of two', async () => {
    const record = await addNew();
    expect(await store.subscriptions.getByID(record.subscriptionId)).toEqual(record);
    expect(await store.subscriptions.getByID('unknown')).toBeNull();

    const twin = {
      ...(await store.billingRow(userId, '2026-11-16T06:00:00Z'))!,
      billing_date: { S: '2026-11-18T06:00:00Z' },
      last_run_date: { S: '2026-11-17T06:00:00.5Z' },
    };
    await store.putBillingRow(twin);
    const newest = await store.subscriptions.getByID(record.subscriptionId);
    expect(newest?.billingDate).toBe(at('2026-11-18T06:00:00Z'));
  });

  it('ListByUserID reads a partition of more than 1 MB to the end, by instant', async () => {
    const big = 'x'.repeat(60_000);
    for (let i = 0; i < 25; i += 1) {
      const date = plusDays(at('2026-01-01T06:00:00Z'), i);
      await store.putBillingRow({
        ...(await goRow()),
        billing_date: { S: formatInstant(date) },
        usio_error: { S: big },
      });
    }
    await store.putBillingRow({ ...(await goRow()), billing_date: { S: '2026-01-01T06:00:00.5Z' } });

    const faults = injectFaults(store.client);
    const consistent: unknown[] = [];
    faults.script('QueryCommand', pass, {
      times: Infinity,
      when: (input) => consistent.push(input['ConsistentRead']) > 0,
    });
    const { subscriptions, malformed } = await store.subscriptions.listByUserID(userId);
    expect(faults.calls('QueryCommand')).toBeGreaterThan(1);
    expect(new Set(consistent)).toEqual(new Set([true]));
    faults.remove();
    expect(subscriptions).toHaveLength(26);
    expect(malformed).toEqual([]);
    const dates = subscriptions.map(({ billingDate }) => billingDate);
    expect(dates).toEqual([...dates].sort((a, b) => (a < b ? -1 : 1)));
    expect(formatInstant(dates[1]!)).toBe('2026-01-01T06:00:00.5Z');
  });

  it('GetRecentSubscriptions gives one page, newest first', async () => {
    await addNew();
    await addNew({ billingDate: at('2026-12-16T06:00:00Z') });
    const { subscriptions } = await store.subscriptions.getRecentSubscriptions(userId);
    expect(subscriptions.map(({ billingDate }) => formatInstant(billingDate))).toEqual([
      '2026-12-16T06:00:00Z',
      '2026-11-16T06:00:00Z',
    ]);
  });

  it('reports rows that cannot be read, naming the attribute, and gives the others', async () => {
    const good = await addNew();
    const bad = {
      billing_amount: '4,99',
      billing_status: 'PAID',
      billing_week: '6',
      last_run_date: 'yesterday',
    };
    for (const [index, [name, value]] of Object.entries(bad).entries()) {
      const attribute = name === 'billing_week' ? { N: value } : { S: value };
      await store.putBillingRow({
        ...(await goRow()),
        billing_date: { S: `2026-12-0${index + 1}T06:00:00Z` },
        [name]: attribute,
      });
    }
    const { subscriptions, malformed } = await store.subscriptions.listByUserID(userId);
    expect(subscriptions).toEqual([good]);
    expect(malformed).toHaveLength(4);
    for (const [index, name] of Object.keys(bad).entries()) {
      expect(malformed[index]).toBeInstanceOf(MalformedRowError);
      expect(malformed[index]!.message).toContain(name);
      expect(malformed[index]!.message).toContain(userId);
    }
  });
});

async function goRow() {
  const { default: golden } = await import('../../golden/billing-rows-written-by-go.json', {
    with: { type: 'json' },
  });
  return { ...golden.rows[0]!, user_id: { S: userId }, subscription_id: { S: randomUUID() } };
}

describe.each([
  { index: 'the index by date', withDueIndex: true },
  { index: 'the old index', withDueIndex: false },
])('pages of what is due, over $index', ({ withDueIndex }) => {
  let pages: BillingStore;
  const noon = at('2026-11-16T12:00:00Z');
  const spellings = ['Z', '.5Z', '.000000001Z', '.999999999Z'];

  beforeAll(async () => {
    pages = await billingStore({ pageSize: 7, withDueIndex });
    const statuses: BillingStatus[] = ['SCHEDULED', 'ERROR', 'PAUSED', 'COMPLETED'];
    for (const status of statuses) {
      for (let second = -6; second <= 6; second += 1) {
        for (const spelling of spellings) {
          const text = new Date(msOf(plusMs(noon, second * 1000))).toISOString().slice(0, 19) + spelling;
          await pages.putBillingRow({
            user_id: { S: `${status}-${second}${spelling}` },
            billing_date: { S: text },
            subscription_id: { S: `${status}-${second}${spelling}` },
            billing_status: { S: status },
            billing_amount: { S: '4.99' },
          });
        }
      }
    }
  });
  afterAll(() => pages.drop());

  async function readAll(page: (key: PageKey | null) => Promise<SubscriptionPage>): Promise<string[]> {
    const found: string[] = [];
    let key: PageKey | null = null;
    do {
      const next: SubscriptionPage = await page(key);
      expect(next.subscriptions.length).toBeLessThanOrEqual(7);
      found.push(...next.subscriptions.map(({ subscriptionId }) => subscriptionId));
      key = next.nextKey;
    } while (key !== null);
    return found.sort();
  }

  const expected = (status: string, keep: (offsetNanos: bigint) => boolean): string[] =>
    Array.from({ length: 13 }, (_, i) => i - 6)
      .flatMap((second) => spellings.map((spelling) => ({ second, spelling })))
      .filter(({ second, spelling }) => {
        const fraction = { Z: 0n, '.5Z': 500_000_000n, '.000000001Z': 1n, '.999999999Z': 999_999_999n }[
          spelling
        ]!;
        return keep(BigInt(second) * 1_000_000_000n + fraction);
      })
      .map(({ second, spelling }) => `${status}-${second}${spelling}`)
      .sort();

  // Bounds on, just before and just after the texts that are stored.
  it.each([0n, 1n, -1n, 500_000_000n, 500_000_001n])(
    'reads exactly what a bound at noon plus %s ns takes',
    async (nanos) => {
      const bound = (noon + nanos) as typeof noon;
      const { subscriptions } = pages;
      const scheduled = await readAll((key) => subscriptions.getScheduledSubscriptionPage(bound, key));
      expect(scheduled).toEqual(expected('SCHEDULED', (offset) => offset < nanos));
      const paused = await readAll((key) => subscriptions.getPausedSubscriptionPage(bound, key));
      expect(paused).toEqual(expected('PAUSED', (offset) => offset < nanos));
      const retry = await readAll((key) => subscriptions.getRetrySubscriptionPage(bound, key));
      expect(retry).toEqual(expected('ERROR', (offset) => offset > nanos));
      const end = plusMs(bound, 2_000);
      const notified = await readAll((key) =>
        subscriptions.getNotificationSubscriptionPage('SCHEDULED', bound, end, key),
      );
      expect(notified).toEqual(
        expected('SCHEDULED', (offset) => offset >= nanos && offset < nanos + 2_000_000_000n),
      );
    },
  );

  it('finds nothing between two bounds that are the wrong way round, and refuses a cursor that is none', async () => {
    const { subscriptions } = pages;
    const none = await subscriptions.getNotificationSubscriptionPage('SCHEDULED', noon, noon, null);
    expect(none).toEqual({ subscriptions: [], malformed: [], nextKey: null });
    await expect(subscriptions.getScheduledSubscriptionPage(noon, 'garbage' as PageKey)).rejects.toThrow(
      /no cursor/,
    );
  });

  it('reports a malformed row in its page', async () => {
    await pages.putBillingRow({
      user_id: { S: 'broken' },
      billing_date: { S: '2020-01-01T06:00:00Z' },
      subscription_id: { S: 'broken' },
      billing_status: { S: 'SCHEDULED' },
      billing_amount: { S: 'lots' },
    });
    const malformed: string[] = [];
    let key: PageKey | null = null;
    do {
      const page: SubscriptionPage = await pages.subscriptions.getScheduledSubscriptionPage(
        instantFromMs(msOf(noon)),
        key,
      );
      malformed.push(...page.malformed.map(({ message }) => message));
      key = page.nextKey;
    } while (key !== null);
    expect(malformed).toEqual([expect.stringContaining('broken / 2020-01-01T06:00:00Z')]);
  });
});

it('a cursor of the old index goes on there when the index by date has appeared meanwhile', async () => {
  const old = await billingStore({ pageSize: 3, withDueIndex: false });
  for (let i = 0; i < 10; i += 1) {
    await old.putBillingRow({
      user_id: { S: `user-${i}` },
      billing_date: { S: '2026-11-16T06:00:00Z' },
      subscription_id: { S: `record-${i}` },
      billing_status: { S: 'SCHEDULED' },
      billing_amount: { S: '4.99' },
    });
  }
  const date = at('2026-11-17T06:00:00Z');
  const first = await old.subscriptions.getScheduledSubscriptionPage(date, null);
  const [definition] = tableDefinitions(old.tables);
  await ensureTable(old.client, definition!, { addIndex: true });
  const fresh = old.anotherProcess();
  const found = first.subscriptions.map(({ subscriptionId }) => subscriptionId as string);
  let key = first.nextKey;
  while (key !== null) {
    const page: SubscriptionPage = await fresh.getScheduledSubscriptionPage(date, key);
    found.push(...page.subscriptions.map(({ subscriptionId }) => subscriptionId));
    key = page.nextKey;
  }
  expect(found.sort()).toEqual(Array.from({ length: 10 }, (_, i) => `record-${i}`));
  await old.drop();
});
