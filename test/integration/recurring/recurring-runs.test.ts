import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compareWithForecast } from '../../../src/app/compare-forecast.ts';
import { forecastRun } from '../../../src/app/forecast-run.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import type { OwnedUsers } from '../../../src/domain/ownership.ts';
import type { RecurringSubscription } from '../../../src/domain/recurring/recurring.ts';
import type { RecurringProcess } from '../../../src/domain/recurring/runs.ts';
import { day } from '../../support/floats.ts';
import type { RecurringDesk } from '../../support/recurring-desk.ts';
import { recurringDesk, reminderOf } from '../../support/recurring-desk.ts';
import { recurringRuns, runRecurring } from '../../support/recurring-runs.ts';
import { at } from '../../support/records.ts';
import { world } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

let here: World;
let desk: RecurringDesk;
/** Each test has days of its own. */
let year = 2030;

beforeAll(async () => {
  here = await world({ withRecurring: true, pageSize: 2 });
  desk = recurringDesk(here);
});
afterAll(() => here.close());
beforeEach(async () => {
  year += 1;
  // What the tests before have left is not looked at again.
  for (const list of ['payments', 'reminders'] as const)
    await here.store.recurring.noteDueSince(list, day(`${year}-05-01`));
});

const on = (date: string, time = '16:00:00'): Instant => at(`${year}-${date}T${time}Z`);
const run = (process: RecurringProcess, other = {}) => runRecurring(here, desk, process, other);
const foretell = (asOf: Instant, owned: OwnedUsers = { kind: 'all' }) =>
  forecastRun(
    { ...recurringRuns(here, desk), ...here.dependencies, owned, ratePerS: 10_000 },
    { process: 'recurring-payments', asOf },
    () => undefined,
  );

const due = (settings: object = {}, fields: Partial<RecurringSubscription> = {}) => {
  const date = day(`${year}-06-16`);
  return desk.subscription(settings, { periodDate: date, nextPaymentDate: date, ...fields });
};

describe('a run of payments', () => {
  it('decides as it was foretold, about each payment once, with the days that were missed', async () => {
    const missed = day(`${year}-06-02`);
    const accountId = await desk.account();
    await Promise.all([
      due(),
      due({ status: 'BANNED' }),
      due({ pinless: { mode: 'decline', code: '05' } }),
      due({}, { status: 'PAST_DUE', failedTries: 3, periodDate: day(`${year}-06-05`) }),
      due({}, { nextReminderDate: day(`${year}-06-16`) }),
      due({}, { periodDate: missed, nextPaymentDate: missed }),
      due({}, { periodDate: day(`${year}-05-16`), nextPaymentDate: missed }),
      due({}, { nextPaymentDate: day(`${year}-06-17`) }),
      due({}, { accountId }),
    ]);
    await due({}, { accountId, sku: 'sku-2' });
    here.now = on('06-16');
    const foretold = await foretell(here.now);
    const { report, due: found } = await run('recurring-payments');
    expect(foretold.byPlan).toEqual(report!.byPlan);
    expect(compareWithForecast(foretold, report!)).toEqual([]);
    expect(report).toMatchObject({
      records: 9,
      byVerdict: {
        collected: { count: 5 },
        declined: { count: 1 },
        deferred: { count: 2, reasons: { 'user-banned': 1, 'reminder-not-sent': 1 } },
        stale: { count: 1 },
      },
    });
    expect(found).toBe(9);
    // What waits is still there tomorrow; what was paid is not.
    here.now = on('06-17');
    expect((await run('recurring-payments')).report).toMatchObject({
      records: 4,
      byVerdict: { collected: { count: 1 }, declined: { count: 1 }, deferred: { count: 2 } },
    });
  });

  it('is foretold of a day to come as if what is to be told of until then had been', async () => {
    const reminder = day(`${year}-06-09`);
    await due({}, { nextReminderDate: reminder });
    here.now = on('06-01');
    expect((await foretell(on('06-16'))).byPlan).toMatchObject({ charge: { count: 1 } });
    expect((await foretell(here.now)).records).toBe(0);
    here.now = on('06-16');
    expect((await foretell(here.now)).byPlan).toMatchObject({
      deferred: { count: 1, reasons: { 'reminder-not-sent': 1 } },
    });
  });

  it('reports a row that cannot be read and goes on', async () => {
    const { accountId } = await due();
    const NextPaymentDate = { S: `${year}-06-16` };
    const LastPaymentDate = { S: '2026-01-01T00:00:00.000Z' };
    const TableName = here.store.tables.recurring;
    for (const SK of ['SUB#odd#SKU#x', 'SUB-odd']) {
      const Item = { PK: { S: `ACC#${accountId}` }, SK: { S: SK }, NextPaymentDate, LastPaymentDate };
      await here.store.client.send(new PutItemCommand({ TableName, Item }));
    }
    here.now = on('06-16');
    expect((await foretell(here.now)).malformed).toBe(2);
    const { report } = await run('recurring-payments');
    expect(report!.byVerdict).toMatchObject({ collected: { count: 1 }, malformed: { count: 2 } });
  });
});

describe('a run of reminders', () => {
  it('tells each account of each payment once, whenever it is run and however often', async () => {
    const soon = (fields: Partial<RecurringSubscription> = {}) =>
      due({}, { nextReminderDate: day(`${year}-06-09`), ...fields });
    const first = await soon();
    const second = await soon({ accountId: first.accountId, sku: 'sku-2' });
    await soon({ nextReminderDate: day(`${year}-06-10`) });
    here.now = on('06-09', '15:00:00');
    expect((await run('recurring-reminders')).report).toMatchObject({
      records: 2,
      byVerdict: { notified: { count: 2 } },
    });
    here.now = on('06-09', '19:00:00');
    expect((await run('recurring-reminders')).report).toMatchObject({ records: 0 });
    // A day without a run.
    here.now = on('06-11', '15:00:00');
    expect((await run('recurring-reminders')).report!.byVerdict).toEqual({
      notified: expect.objectContaining({ count: 1 }) as unknown,
    });
    const told = (await desk.told(first)).map(reminderOf);
    expect(told.sort()).toEqual(
      [first, second]
        .map(({ accountId, recurringId }) => `recurring.${accountId}.${recurringId}.${year}-06-16`)
        .map((id) => `${id}.recurring_payment_reminder`)
        .sort(),
    );
  });

  it('keeps the place of what it could not tell, and passes what is done', async () => {
    await due({ status: 'INVESTIGATE' }, { nextReminderDate: day(`${year}-06-09`) });
    here.now = on('06-30', '15:00:00');
    await run('recurring-reminders');
    here.now = plusDays(here.now, 1);
    expect((await run('recurring-reminders')).report!.byVerdict).toMatchObject({ deferred: { count: 1 } });
    expect(await here.store.recurring.dueSince('reminders')).toBe(`${year}-06-09`);
  });
});
