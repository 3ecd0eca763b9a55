import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DynamoSeeder } from '../../src/adapters/dynamodb/seeder.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import { SandboxClient } from '../../src/adapters/sandbox-client.ts';
import { settleAttempt } from '../../src/app/settle-attempt.ts';
import { seedDemo } from '../../src/demo/seed.ts';
import { dateOf } from '../../src/domain/calendar-date.ts';
import { plusDays } from '../../src/domain/instant.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import golden from '../golden/billing-rows-written-by-go.json' with { type: 'json' };
import type { Item } from '../support/billing-store.ts';
import { bankSays } from '../support/float-changes.ts';
import { floatDesk } from '../support/float-desk.ts';
import { at } from '../support/records.ts';
import type { World } from '../support/world.ts';
import type { Bench } from './bench.ts';
import { bench, changed } from './bench.ts';

let on: Bench;
let here: World;

beforeAll(async () => {
  on = await bench();
  here = on.here;
});
afterAll(() => on.close());
afterEach(async () => {
  here.onStep = () => undefined;
  await here.faults([]);
  expect((await on.audit()).violations).toEqual([]);
});

const START = at('2026-11-16T08:00:00Z');

/** Each verdict as expected, so that nothing is clean only because nothing happened. */
const collected = async (
  record: StoredSubscription,
  verdict: string,
  path: 'INITIAL' | 'RETRY' = 'INITIAL',
) => expect(await here.collect(path, record)).toMatchObject({ verdict });

describe('a world in which everything went as it should audits clean', () => {
  it('with charges that were collected, declined, refused, waived or written off', async () => {
    await collected(await here.member(), 'collected');
    await collected(await here.member({ pinless: { mode: 'decline', code: '62' } }), 'sent');
    await collected(await here.member({ pinless: { mode: 'decline', code: '14' } }), 'declined');
    await collected(await here.member({ balance: { amount: '3.00' } }), 'refused');
    await collected(await here.member({ is_employee: true }), 'waived');
    await collected(await here.member({ status: 'BANNED' }), 'cancelled');
    await collected(await here.member({}, { billingDate: at('2026-10-01T06:00:00Z') }), 'stale');
    expect(await here.collect('MANUAL_REPAYMENT', await here.member())).toMatchObject({
      verdict: 'collected',
    });
    const declines = { pinless: { mode: 'decline', code: '62' } };
    const byHand = await here.member(declines);
    expect(await here.collect('MANUAL_REPAYMENT', byHand)).toMatchObject({ verdict: 'declined' });
    const { totals } = await on.audit();
    expect(totals).toMatchObject({ users: 9, attempts: 6, debits: 2, violations: 0, ledgerRead: true });
    expect(totals.records).toBe(16);
  });

  it('with members who are leaving or take a break', async () => {
    const leaving = await here.member();
    await on.change(leaving, 'membership-cancelled', { updatedEvent: 'PENDING_CANCELLATION' });
    await collected(leaving, 'cancelled');
    for (const pauseDurationMonths of [1, 2, -1]) {
      const paused = await here.member();
      const fields = { billingStatus: 'PAUSED', updatedEvent: 'SUB_PAUSED', pauseDurationMonths } as const;
      await on.change(paused, 'membership-paused', fields);
      expect(await here.collect('PAUSE', paused)).toMatchObject({ verdict: 'pause-skipped' });
    }
  });

  it('with an answer that was lost and found again, and one that is still awaited', async () => {
    const [lost, awaited] = [await here.member(), await here.member()];
    const losing = (record: StoredSubscription) => ({
      id: randomUUID(),
      service: 'payments',
      fault: 'error-after',
      times: 3,
      match: { user_id: record.userId },
    });
    await here.faults([losing(lost), losing(awaited)]);
    await collected(lost, 'unknown');
    await collected(awaited, 'unknown');
    await collected(lost, 'collected');
  });

  it.each(['intent-written', 'charged', 'outcome-written'] as const)(
    'with a worker that died after %s and another that went on',
    async (deadly) => {
      const record = await here.member({ pinless: { mode: 'decline', code: '62' } });
      let isDead = false;
      here.onStep = (step) => {
        if (step !== deadly || isDead) return;
        isDead = true;
        throw new Error('died');
      };
      await expect(here.collect('INITIAL', record, 'run-1')).rejects.toThrow('died');
      await here.collect('INITIAL', record, 'run-1');
    },
  );

  it('with an account that was closed between the charge and its outcome', async () => {
    const record = await here.member();
    here.onStep = async (step) => {
      if (step !== 'charged') return;
      const open = (await here.partition(record.userId)).filter((row) => row.billingStatus === 'SCHEDULED');
      const context = await here.store.context(record.userId, { cause: 'account-closed', now: here.now });
      const cancelled = open.map((row) => ({ ...row, billingStatus: 'CANCELLED' as const }));
      await here.store.subscriptions.addAll('unlocked', cancelled, context);
    };
    await collected(record, 'collected');
  });

  it('with rows of the Go service, whose history tells no causes', async () => {
    for (const row of golden.rows as unknown as Item[]) {
      const before = changed(row, { billing_status: 'SCHEDULED', last_run_date: '2026-10-10T08:00:00.1Z' });
      await on.put('billing', row);
      await on.put('history', before);
      await on.put('history', row);
      if (row['initial_run_date']!.S === '0001-01-01T00:00:00Z') continue;
      // The period that Go opened with the attempt.
      const yearly = row['term']!.S === 'YEARLY';
      const next = changed(row, {
        billing_date: row['billing_week']?.N === '5' ? '2027-11-26T06:00:00Z' : nextOf(row, yearly),
        subscription_id: randomUUID(),
        billing_status: 'SCHEDULED',
        initial_run_date: '0001-01-01T00:00:00Z',
        last_run_date: '2026-11-13T08:00:01.2Z',
      });
      await on.put('billing', next);
      await on.put('history', next);
    }
  });

  it('with the made-up members of the demo', async () => {
    const { client, tables } = here.store;
    const seeder = new DynamoSeeder({
      client,
      billingTable: tables.billing,
      historyTable: tables.history,
      pipelineTable: tables.pipeline,
      floatsTable: tables.floats,
      collectionHistoryTable: tables.collectionHistory,
      recurringTable: tables.recurring,
      timer: systemTimer,
      random: Math.random,
    });
    const bank = new SandboxClient(on.bankUrl);
    const { floats, recurring } = await seedDemo({ users: 40, prefix: 'demo', now: START }, seeder, bank);
    const { totals } = await on.audit();
    expect(totals.users).toBeGreaterThan(40);
    expect(totals.floats).toBe(floats);
    expect(totals.recurring).toBe(recurring);
  });
});

describe('when the bank’s days pass', () => {
  it('money that settled, was returned and taken again, or refunded adds up', async () => {
    const settled = await here.member({ has_debit_card: false });
    const returns = { mode: 'return', code: 'R01', times: 1 };
    const returned = await here.member({ has_debit_card: false, ach: returns });
    const refunded = await here.member();
    await collected(settled, 'sent');
    await collected(returned, 'sent');
    await collected(refunded, 'collected');
    await on.refund((await here.row(refunded)).transactionId);
    await on.change(refunded, 'refunded', { billingStatus: 'REFUNDED' });

    await on.at(plusDays(START, 7));
    await on.change(settled, 'ach-completed', { billingStatus: 'COMPLETED', completionDate: here.now });
    await on.change(returned, 'ach-returned', { billingStatus: 'ERROR', usioError: 'R01' });
    await here.bank('PUT', `/sandbox/users/${returned.userId}`, {});
    await collected(returned, 'collected', 'RETRY');
    const entries = await here.ledger(returned);
    expect(entries.flatMap(({ effect }) => effect ?? [])).toEqual(['debit', 'credit', 'debit']);

    // What was still awaited when the days began to pass is overdue by now: the janitor hears that it was made.
    for (const { subscription_id } of (await on.audit()).violations) {
      const { pipeline } = here.dependencies;
      const { open } = await pipeline.storyOf(subscription_id as typeof settled.subscriptionId);
      const settlement = await settleAttempt(
        here.dependencies,
        { abandonAfterMs: 86_400_000 },
        open!.attempt,
      );
      expect(settlement).toMatchObject({ settled: { verdict: 'collected' } });
    }
  });

  it('floats that were paid or returned through the bank add up', async () => {
    const desk = floatDesk(here);
    const noCard = { has_debit_card: false };
    const dueDate = dateOf(plusDays(here.now, 1));
    const paid = await desk.float(noCard, { dueDate });
    const returned = await desk.float(
      { ...noCard, ach: { mode: 'return', code: 'R01', times: 1 } },
      { dueDate },
    );
    for (const float of [paid, returned])
      expect(await desk.collect('TOMORROW', float)).toMatchObject({ verdict: 'sent' });
    await on.at(plusDays(here.now, 7));
    await bankSays(here, desk, paid, 'COMPLETED');
    await bankSays(here, desk, returned, 'R01');
    await here.bank('PUT', `/sandbox/users/${returned.userId}`, {});
    expect(await desk.collect('RETRY', returned)).toMatchObject({ verdict: 'collected' });
    const effects = (await desk.ledger(returned)).flatMap(({ effect }) => effect ?? []);
    expect(effects).toEqual(['debit', 'credit', 'debit']);
  });

  it('periods follow each other with dates at the ends of months, years and on Fridays, over several periods', async () => {
    const members = [
      await here.member({}, { billingDate: at('2026-11-30T06:00:00Z') }),
      await here.member({}, { billingDate: at('2026-12-31T06:00:00Z') }),
      await here.member({}, { billingDate: at('2026-11-27T06:00:00Z'), billingWeek: 5 }),
      await here.member({}, { billingDate: at('2028-02-29T06:00:00Z'), term: 'YEARLY' }),
    ];
    const runs = ['2026-12-31', '2027-01-31', '2027-02-28', '2027-03-31', '2028-02-29', '2029-02-28'];
    for (const day of runs) {
      await on.at(at(`${day}T08:00:00Z`));
      for (const { userId } of members) {
        for (const row of await here.partition(userId)) {
          const isDue = row.billingStatus === 'SCHEDULED' && row.billingDate <= here.now;
          if (isDue) await here.collect('INITIAL', row);
        }
      }
    }
    for (const { userId } of members) expect((await here.partition(userId)).length).toBeGreaterThanOrEqual(3);
  });
});

function nextOf(row: Item, yearly: boolean): string {
  const date = new Date(row['billing_date']!.S!);
  if (yearly) date.setUTCFullYear(date.getUTCFullYear() + 1);
  else date.setUTCMonth(date.getUTCMonth() + 1);
  return `${date.toISOString().slice(0, 19)}Z`;
}
