import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NextStep, RunDependencies } from '../../../src/app/run-collections.ts';
import { startRun, takePage } from '../../../src/app/run-collections.ts';
import type { Run } from '../../../src/ports/runs.ts';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import type { RecordRef } from '../../../src/ports/runs.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { drive, inProcess } from '../../support/in-process-run.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

const TICK = at('2026-11-16T08:00:00Z');

let here: World;
let handedOver: RecordRef[][];

beforeAll(async () => {
  here = await world({ pageSize: 4 });
});
afterAll(() => here.close());
beforeEach(async () => {
  handedOver = [];
  here.now = TICK;
  // Every test has the table for itself: what earlier ones left is not due.
  for (const { userId, billingDate } of leftovers.splice(0))
    await here.store.removeBillingRow(userId, billingDate);
});
const leftovers: StoredSubscription[] = [];

const member = async (settings = {}, fields = {}): Promise<StoredSubscription> => {
  const record = await here.member(settings, fields);
  leftovers.push(record);
  return record;
};

const members = (count: number): Promise<StoredSubscription[]> =>
  Promise.all(Array.from({ length: count }, () => member()));

const runner = (lose?: (pass: number, index: number) => boolean): RunDependencies =>
  inProcess(here, { handedOver, ...(lose === undefined ? {} : { lose }) });

let ticks = 0;
/** A tick of a test's own, within the same second's range of due records. */
const nextTick = () => plusMs(TICK, (ticks += 1) * 1_000);

describe('a run', () => {
  it('considers every due record once, over pages, and reports what came of them', async () => {
    const paying = await members(10);
    const poor = await member({ balance: { amount: '1.00' } });
    await member({}, { billingDate: at('2026-12-01T06:00:00Z') });
    const dependencies = runner();
    const run = await drive(dependencies, await startRun(dependencies, 'scheduled', nextTick()));

    expect(
      handedOver
        .flat()
        .map(({ subscriptionId }) => subscriptionId)
        .sort(),
    ).toEqual([...paying, poor].map(({ subscriptionId }) => subscriptionId).sort());
    expect(Math.max(...handedOver.map((page) => page.length))).toBeLessThanOrEqual(4);
    expect(run).toMatchObject({ status: 'complete', enqueued: 11, pass: 2 });
    expect(run.report).toEqual({
      records: 11,
      amount: 11 * 499,
      byVerdict: {
        collected: { count: 10, amount: 4990, reasons: { PINLESS: 10 } },
        refused: { count: 1, amount: 499, reasons: { 'balance-too-low': 1 } },
      },
      byPlan: {
        charge: { count: 10, amount: 4990, reasons: { PINLESS: 10 } },
        refuse: { count: 1, amount: 499, reasons: { 'balance-too-low': 1 } },
      },
    });
  });

  it('that finds nothing due has a report of nothing, without looking for verdicts', async () => {
    const dependencies = runner();
    const verdicts = vi.spyOn(dependencies.runs, 'verdicts');
    const run = await drive(dependencies, await startRun(dependencies, 'scheduled', nextTick()));
    expect(run).toMatchObject({ status: 'complete', due: 0, pass: 1 });
    expect(run.report).toEqual({ records: 0, amount: 0, byVerdict: {}, byPlan: {} });
    expect(verdicts).not.toHaveBeenCalled();
  });

  it('of several lists passes the empty ones on one page', async () => {
    const dependencies = runner();
    const resumes = vi.spyOn(dependencies.runs, 'resumes');
    const run = await drive(dependencies, await startRun(dependencies, 'pause', nextTick()));
    expect(run).toMatchObject({ status: 'complete', due: 0, pass: 1, page: 0 });
    expect(resumes.mock.calls.length).toBeGreaterThan(1);
  });

  it('started twice, and driven by two at once, is one run: each record is charged once', async () => {
    const paying = await members(9);
    const dependencies = runner();
    const tick = nextTick();
    const [first, second] = await Promise.all([
      startRun(dependencies, 'scheduled', tick),
      startRun(dependencies, 'scheduled', tick),
    ]);
    expect(second.runId).toBe(first.runId);
    const driven = await Promise.allSettled([drive(dependencies, first), drive(dependencies, second)]);
    // A collection that meets the other's lock fails here; workers would look again.
    for (const result of driven) {
      if (result.status === 'fulfilled') continue;
      expect(result.reason).toEqual(new Error('somebody else works on this member'));
      await drive(dependencies, first);
    }
    for (const record of paying) expect(debits(await here.ledger(record))).toBe(1);
    const run = (await dependencies.runs.get(first.runId))!;
    expect(run.report?.byVerdict.collected).toMatchObject({ count: 9 });
  });

  it('goes on from its mark where two took one page at once and found different ends of it', async () => {
    await members(9);
    const dependencies = runner();
    const run = await startRun(dependencies, 'scheduled', nextTick());
    const { runs } = dependencies;
    // The other was quicker, and is a page further.
    const overtaken = {
      ...dependencies,
      runs: Object.assign(Object.create(runs) as typeof runs, {
        advance: async (from: Run, to: Run) => {
          await runs.advance(from, { ...to, pass: 1, page: 7 });
          return runs.advance(from, to);
        },
      }),
    };
    const { page } = (await runs.get(run.runId))!;
    expect(await takePage(overtaken, run.runId, { pass: 1, page })).toMatchObject({
      then: 'page',
      at: { pass: 1, page: 7 },
    });
    expect((await drive(dependencies, run)).status).toBe('complete');
  });

  it('finds in a second pass what the first has lost, and what came late into the index', async () => {
    const paying = await members(6);
    const dependencies = runner((pass, index) => pass === 1 && index === 0);
    const run = await startRun(dependencies, 'scheduled', nextTick());
    let step: NextStep = { then: 'page', at: run };
    let late: StoredSubscription | null = null;
    while ('at' in step) {
      step = await takePage(dependencies, run.runId, step.at);
      if (step.then === 'next-pass' && late === null) late = await member();
    }
    for (const record of [...paying, late!]) expect(debits(await here.ledger(record))).toBe(1);
    expect((await dependencies.runs.get(run.runId))?.report?.byVerdict.collected).toMatchObject({ count: 7 });
  });

  it('that died between handing over and moving its mark reads the page again, harmlessly', async () => {
    const paying = await members(5);
    const dependencies = runner();
    let crashed = false;
    const dying: RunDependencies = {
      ...dependencies,
      async enqueue(run, records) {
        await dependencies.enqueue(run, records);
        if (!crashed) {
          crashed = true;
          throw new Error('died');
        }
      },
    };
    const run = await startRun(dying, 'scheduled', nextTick());
    await expect(takePage(dying, run.runId, run)).rejects.toThrow('died');
    expect((await drive(dying, run)).report?.byVerdict.collected).toMatchObject({ count: 5 });
    for (const record of paying) expect(debits(await here.ledger(record))).toBe(1);
  });

  it('a page job that comes late finds the run further on, and goes on from there', async () => {
    await members(5);
    const dependencies = runner();
    const run = await startRun(dependencies, 'scheduled', nextTick());
    const next = await takePage(dependencies, run.runId, run);
    expect(await takePage(dependencies, run.runId, { pass: 1, page: 0 })).toMatchObject({
      then: 'page',
      at: { page: 1 },
    });
    expect(handedOver).toHaveLength(1);
    expect(next).toMatchObject({ then: 'page', at: { pass: 1, page: 1 } });
    await drive(dependencies, (await dependencies.runs.get(run.runId))!);
    expect(await takePage(dependencies, run.runId, { pass: 1, page: 0 })).toEqual({ then: 'was-over' });
  });

  it('reports a row that cannot be read and goes on', async () => {
    const [bad, good] = await members(2);
    const item = (await here.store.billingRow(bad!.userId, '2026-11-16T06:00:00Z'))!;
    await here.store.putBillingRow({ ...item, billing_amount: { S: 'lots' } });
    const dependencies = runner();
    const run = await drive(dependencies, await startRun(dependencies, 'scheduled', nextTick()));
    expect(run.report?.byVerdict.malformed).toMatchObject({ count: 1 });
    expect(debits(await here.ledger(good!))).toBe(1);
  });

  it('of retries stops where the run of write-offs begins', async () => {
    const cut = plusDays(TICK, -30);
    const fresh = await member({}, { billingDate: plusMs(cut, 1_000), billingStatus: 'ERROR' });
    const old = await member({}, { billingDate: cut, billingStatus: 'ERROR' });
    const dependencies = runner();
    const retry = await drive(dependencies, await startRun(dependencies, 'retry', TICK));
    expect(retry.report?.byVerdict).toMatchObject({ collected: { count: 1 } });
    expect(retry.report?.records).toBe(1);
    const stale = await drive(dependencies, await startRun(dependencies, 'stale', TICK));
    expect(stale.report?.byVerdict).toMatchObject({ stale: { count: 1 } });
    expect(await here.row(fresh)).toMatchObject({ billingStatus: 'COMPLETED' });
    expect(await here.row(old)).toMatchObject({ billingStatus: 'STALE' });
  });

  it('of pauses moves paused periods on', async () => {
    await member({}, { billingStatus: 'PAUSED', pauseDurationMonths: 1 });
    const dependencies = runner();
    const run = await drive(dependencies, await startRun(dependencies, 'pause', nextTick()));
    expect(run.report?.byVerdict).toMatchObject({
      'pause-skipped': { count: 1, reasons: { 'pause-is-over': 1 } },
    });
  });

  it('is listed, newest first', async () => {
    const dependencies = runner();
    const later = plusDays(TICK, 300);
    const first = await startRun(dependencies, 'scheduled', later);
    const second = await startRun(dependencies, 'retry', plusMs(later, 1_000));
    expect((await dependencies.runs.list(2)).map(({ runId }) => runId)).toEqual([second.runId, first.runId]);
    expect(await dependencies.runs.get('nonsense' as typeof first.runId)).toBeNull();
  });
});
