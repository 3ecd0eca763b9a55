import { randomUUID } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it } from 'vitest';
import { BatchReader } from '../../../src/adapters/dynamodb/batch-reader.ts';
import { DynamoFreezes } from '../../../src/adapters/dynamodb/freezes.ts';
import { items } from '../../../src/adapters/dynamodb/pipeline-items.ts';
import { DynamoRuns } from '../../../src/adapters/dynamodb/runs.ts';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { compareWithForecast } from '../../../src/app/compare-forecast.ts';
import type { ForecastProgress } from '../../../src/app/forecast-sum.ts';
import type { ForecastDependencies } from '../../../src/app/forecast-run.ts';
import { forecastRun } from '../../../src/app/forecast-run.ts';
import type { NextStep, RunDependencies } from '../../../src/app/run-collections.ts';
import { startRun, takePage } from '../../../src/app/run-collections.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { formatInstant, plusDays, plusMs } from '../../../src/domain/instant.ts';
import type { OwnedUsers } from '../../../src/domain/ownership.ts';
import { owns } from '../../../src/domain/ownership.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import type { BillingProcess } from '../../../src/domain/runs.ts';
import { BILLING_PROCESSES, PATH_OF_RUN } from '../../../src/domain/runs.ts';
import type { BillingStatus, Subscription, SubscriptionId } from '../../../src/domain/subscription.ts';
import type { FreezeTarget } from '../../../src/ports/freezes.ts';
import type { RecordRef, Run } from '../../../src/ports/runs.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { world } from '../../support/world.ts';

const TICK = at('2026-11-16T08:00:00Z');

/** What a due record of each process looks like. */
const DUE: Record<BillingProcess, { readonly billingStatus: BillingStatus; readonly billingDate: Instant }> =
  {
    scheduled: { billingStatus: 'SCHEDULED', billingDate: at('2026-11-16T06:00:00Z') },
    retry: { billingStatus: 'ERROR', billingDate: at('2026-11-10T06:00:00Z') },
    pause: { billingStatus: 'PAUSED', billingDate: at('2026-11-16T06:00:00Z') },
    stale: { billingStatus: 'ERROR', billingDate: at('2026-10-10T06:00:00Z') },
  };

let here: World;
async function begin(pageSize: number): Promise<void> {
  here = await world({ pageSize });
  here.now = TICK;
}
afterEach(() => here.close());

const runs = (): DynamoRuns => {
  const { client, tables } = here.store;
  const reader = new BatchReader({ client, table: tables.pipeline, timer: systemTimer, random: Math.random });
  return new DynamoRuns({ client, table: tables.pipeline, reader, log: NO_LOG });
};

const foreteller = (owned: OwnedUsers = { kind: 'all' }): ForecastDependencies => ({
  ...here.dependencies,
  runs: runs(),
  owned,
  ratePerS: 10_000,
});

const forecast = (process: BillingProcess, dependencies = foreteller()) =>
  forecastRun(dependencies, { process, asOf: TICK }, () => undefined);

type Order = 'oldest first' | 'newest first';

/** Runs to the end, one record after the other. */
async function drive(
  process: BillingProcess,
  order: Order,
  owned: OwnedUsers = { kind: 'all' },
): Promise<Run> {
  const dependencies: RunDependencies = {
    ...here.dependencies,
    runs: runs(),
    owned,
    async enqueue(run, records) {
      for (const record of await sorted(records, order))
        await here.collect(PATH_OF_RUN[process], record, run.runId, run);
    },
    forecastOf: () => Promise.resolve(null),
  };
  const run = await startRun(dependencies, process, TICK);
  let step: NextStep = { then: 'page', at: run };
  while ('at' in step) step = await takePage(dependencies, run.runId, step.at);
  return (await dependencies.runs.get(run.runId))!;
}

async function sorted(records: readonly RecordRef[], order: Order): Promise<RecordRef[]> {
  const dated = await Promise.all(
    records.map(async (record) => ({ record, date: (await dateOf(record)) ?? 0n })),
  );
  const direction = order === 'oldest first' ? 1 : -1;
  return dated.sort((a, b) => direction * Number(a.date - b.date)).map(({ record }) => record);
}

const dateOf = async ({ userId, subscriptionId }: RecordRef): Promise<Instant | undefined> =>
  (await here.partition(userId)).find((one) => one.subscriptionId === subscriptionId)?.billingDate;

/** Another row of the same member: the first one's, with these differences. */
async function another(
  record: Subscription,
  billingDate: Instant,
  fields: Record<string, AttributeValue> = {},
): Promise<SubscriptionId> {
  const subscriptionId = randomUUID() as SubscriptionId;
  const item = (await here.store.billingRow(record.userId, formatInstant(record.billingDate)))!;
  await here.store.putBillingRow({
    ...item,
    billing_date: { S: formatInstant(billingDate) },
    subscription_id: { S: subscriptionId },
    ...fields,
  });
  return subscriptionId;
}

async function change(record: Subscription, fields: Record<string, AttributeValue>): Promise<void> {
  const item = (await here.store.billingRow(record.userId, formatInstant(record.billingDate)))!;
  await here.store.putBillingRow({ ...item, ...fields });
}

async function freeze(target: FreezeTarget): Promise<void> {
  const { client, tables } = here.store;
  const freezes = new DynamoFreezes({ client, table: tables.pipeline, timer: systemTimer });
  await freezes.freeze({ target, reason: 'returns are high', who: 'olga', at: TICK, until: null });
}

async function wantsToResume(record: RecordRef): Promise<void> {
  const { client, tables } = here.store;
  const Item = items.resume.write(
    { userId: record.userId, subscriptionId: record.subscriptionId },
    at('2026-11-15T08:00:00Z'),
  );
  await client.send(new PutItemCommand({ TableName: tables.pipeline, Item }));
}

/** The processor's answer to the first attempt is lost, so that it stays open: since yesterday, if it was still to be had then. */
async function leaveOpen(record: StoredSubscription, status: BillingStatus): Promise<void> {
  const match = { reference_id: record.subscriptionId };
  await here.faults([{ id: 'lost', service: 'payments', fault: 'error-after', match, times: 3 }]);
  const tooLate = plusDays(record.billingDate, DEFAULT_POLICY.oldSubscriptionDays);
  here.now = plusDays(TICK, -1) < tooLate ? plusDays(TICK, -1) : plusMs(record.billingDate, 7_200_000);
  const { verdict } = await here.collect('INITIAL', record);
  here.now = TICK;
  expect(verdict).toBe('unknown');
  await change(record, { billing_status: { S: status } });
}

/** Somebody of every kind that the rules tell apart. */
async function populate(process: BillingProcess): Promise<void> {
  const due = DUE[process];
  const member = (settings: object = {}, fields: Partial<Subscription> = {}) =>
    here.member(settings, { ...due, ...fields });
  const monthsAgo = { billingDate: at('2026-08-20T06:00:00Z') };
  const nextMonth = { billingDate: at('2026-12-20T06:00:00Z') };
  await Promise.all([
    member(),
    member({ balance: { amount: '1.00' } }),
    member({ has_debit_card: false }),
    member({ account: null }),
    member({ is_employee: true }),
    member({ status: 'BANNED' }),
    member({ status: 'PAUSED' }),
    member({ status: 'PROCESSING' }),
    member({}, nextMonth),
    member({ is_employee: true }, monthsAgo),
    member({ status: 'BANNED' }, monthsAgo),
    member({}, monthsAgo).then((behind) => change(behind, { pause_duration_months: { N: '2' } })),
    member().then((leaving) => change(leaving, { updated_event: { S: 'PENDING_CANCELLATION' } })),
    member().then(({ userId }) => freeze({ scope: 'user', userId })),
    member().then((unreadable) => change(unreadable, { billing_amount: { S: 'lots' } })),
    member().then((readable) =>
      another(readable, at('2026-01-09T06:00:00Z'), { billing_amount: { S: 'lots' } }),
    ),
    member().then(wantsToResume),
    here.member({}, nextMonth).then(wantsToResume),
    here.member({}, nextMonth).then(async (resuming) => {
      await change(resuming, { updated_event: { S: 'pause-pending-resume' } });
      await wantsToResume(resuming);
    }),
    member().then(async (owing) => {
      await another(owing, at('2026-11-09T06:00:00Z'));
      await another(owing, at('2026-10-09T06:00:00Z'));
    }),
  ]);
  const lastFriday = { billingDate: plusDays(due.billingDate, -3) };
  await leaveOpen(await here.member({}, lastFriday), due.billingStatus);
  const open = await here.member({}, lastFriday);
  await leaveOpen(open, due.billingStatus);
  const untried = { initial_run_date: { S: '0001-01-01T00:00:00Z' }, process: { S: '' } };
  await another(open, due.billingDate, untried);
}

/** Everything in the four tables, to the byte. */
async function everything(): Promise<string> {
  const { client, tables } = here.store;
  const { billing, history, locks, pipeline } = tables;
  const all = await Promise.all(
    [billing, history, locks, pipeline].map(async (TableName) => {
      const { Items = [], LastEvaluatedKey } = await client.send(new ScanCommand({ TableName }));
      expect(LastEvaluatedKey).toBeUndefined();
      return Items.map((item) => JSON.stringify(Object.entries(item).sort())).sort();
    }),
  );
  return JSON.stringify(all);
}

describe('a forecast', () => {
  // Workers take a member's records in any order. Out of one large page the newest can come first.
  const variants = BILLING_PROCESSES.flatMap((process) => [
    { process, order: 'oldest first', pageSize: 4, frozen: null } as const,
    { process, order: 'newest first', pageSize: 100, frozen: 'ACH' } as const,
  ]);

  it.each(variants)(
    'of a $process run foretells every plan and changes nothing ($order, frozen: $frozen)',
    async ({ process, order, pageSize, frozen }) => {
      await begin(pageSize);
      await populate(process);
      if (frozen !== null) await freeze({ scope: frozen });
      const before = await everything();
      const foretold = await forecast(process);
      expect(await everything()).toBe(before);

      const { report, due } = await drive(process, order);
      expect(foretold.byPlan).toEqual(report!.byPlan);
      expect(foretold.malformed).toBe(report!.byVerdict.malformed!.count);
      expect(compareWithForecast(foretold, report!)).toEqual([]);
      expect(foretold).toMatchObject({ process, asOf: TICK, unreachable: 0 });
      // Over several pages the first pass comes across periods that it has just opened itself.
      if (order === 'newest first') expect(foretold.due).toBe(due);
      else expect(foretold.due).toBeLessThanOrEqual(due);
      expect(foretold.records + foretold.malformed).toBe(report!.records);
      expect(foretold.amount).toBe(report!.amount);
    },
  );

  it('shows many kinds of plans for such members: the comparison is not of next to nothing', async () => {
    await begin(4);
    await populate('scheduled');
    const { byPlan } = await forecast('scheduled');
    expect(Object.keys(byPlan).sort()).toEqual(
      ['cancel', 'charge', 'deferred', 'go-stale', 'refuse', 'resume', 'skipped', 'waive'].sort(),
    );
    // Of August, of the September that the run would open after it, and the oldest of three that are owed.
    expect(byPlan['go-stale']).toMatchObject({ count: 3, reasons: { 'too-old': 3 } });
    // October after those, the other two that are owed, and the one beside an open attempt.
    expect(byPlan.skipped!.reasons).toEqual({ 'older-period-first': 4 });
  });

  it('counts whom a service could not be asked about, and goes on with the others', async () => {
    await begin(4);
    const [silent] = await Promise.all([here.member(), here.member()]);
    await another(silent, at('2026-11-09T06:00:00Z'));
    const match = { user_id: silent.userId };
    await here.faults([{ id: 'down', service: 'transactions', fault: 'error-before', match }]);
    expect(await forecast('scheduled')).toMatchObject({
      records: 1,
      due: 3,
      unreachable: 2,
      byPlan: { charge: { count: 1 } },
    });
  });

  it('fails when the store does: half a forecast would look like a whole one', async () => {
    await begin(4);
    await here.member();
    const broken = { readBackground: () => Promise.reject(new Error('the store is away')) };
    await expect(forecast('scheduled', { ...foreteller(), pipeline: broken })).rejects.toThrow('away');
  });

  it('is about our own members only, as the run is', async () => {
    await begin(4);
    const members = await Promise.all(Array.from({ length: 8 }, () => here.member()));
    const owned: OwnedUsers = { kind: 'range', from: 0, to: 0x7fff };
    const ours = members.filter(({ userId }) => owns(owned, userId)).length;
    const foretold = await forecast('scheduled', foreteller(owned));
    expect(foretold.due).toBe(ours);
    expect(foretold.byPlan).toEqual((await drive('scheduled', 'oldest first', owned)).report!.byPlan);
  });

  it('asks about a member once, at the rate that it is given, and tells how far it is', async () => {
    await begin(3);
    const owing = await here.member({}, { billingDate: at('2026-11-15T06:00:00Z') });
    await another(owing, at('2026-11-14T06:00:00Z'));
    await Promise.all(Array.from({ length: 5 }, () => here.member()));
    let asked = 0;
    let sleptMs = 0;
    const { users } = here.dependencies;
    const steps: ForecastProgress[] = [];
    await forecastRun(
      {
        ...foreteller(),
        users: { get: (userId) => ((asked += 1), users.get(userId)) },
        // Time stands still: each turn has to wait for all before it.
        timer: { elapsedMs: () => 0, sleep: async (ms) => void (sleptMs = Math.max(sleptMs, ms)) },
        ratePerS: 10,
      },
      { process: 'scheduled', asOf: TICK },
      ({ looked, due }) => steps.push({ looked, due }),
    );
    expect(asked).toBe(6);
    expect(sleptMs).toBe(500);
    expect(steps[0]).toEqual({ looked: 0, due: 3 });
    expect(steps.at(-1)).toEqual({ looked: 7, due: 7 });
  });
});
