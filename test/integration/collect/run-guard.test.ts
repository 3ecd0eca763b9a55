import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunDependencies } from '../../../src/app/run-collections.ts';
import { startRun, takePage } from '../../../src/app/run-collections.ts';
import { reportOf } from '../../../src/app/run-report.ts';
import { owns } from '../../../src/domain/ownership.ts';
import type { RecordRef } from '../../../src/ports/runs.ts';
import { drive, inProcess } from '../../support/in-process-run.ts';
import { fail, injectFaults, throttled } from '../../support/dynamo-faults.ts';
import { debitsOf } from '../../support/debits.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { world } from '../../support/world.ts';

const TICK = at('2026-11-16T08:00:00Z');

let here: World;
beforeEach(async () => {
  here = await world();
});
afterEach(() => here.close());

const members = (count: number, settings = {}) =>
  Promise.all(Array.from({ length: count }, () => here.member(settings)));

const statusesOf = async (records: readonly Parameters<World['row']>[0][]): Promise<string[]> =>
  Promise.all(records.map(async (record) => (await here.row(record)).billingStatus));

describe('members who are said to be gone', () => {
  it('are cancelled in a later pass, when it is known that they are few', async () => {
    const banned = await members(3, { status: 'BANNED' });
    const paying = await members(4);
    const handedOver: RecordRef[][] = [];
    const dependencies = inProcess(here, { handedOver });
    const run = await drive(dependencies, await startRun(dependencies, 'scheduled', TICK));
    expect(run).toMatchObject({ status: 'complete', due: 7, pass: 3 });
    expect(run.report?.byVerdict).toMatchObject({
      collected: { count: 4 },
      cancelled: { count: 3, reasons: { 'user-banned': 3 } },
    });
    expect(run.report?.byVerdict.held).toBeUndefined();
    expect(handedOver.map((page) => page.length)).toEqual([7, 3]);
    expect(await statusesOf(banned)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
    expect(await debitsOf(here, paying)).toEqual([1, 1, 1, 1]);
  });

  it('stop the run when they are too many: nobody is cancelled, and the others were charged', async () => {
    const gone = [...(await members(30, { status: 'BANNED' })), ...(await members(22, { status: 'PAUSED' }))];
    const paying = await members(8);
    const dependencies = inProcess(here);
    const run = await startRun(dependencies, 'scheduled', TICK);
    const next = await takePage(dependencies, run.runId, run);
    expect(next).toMatchObject({ then: 'next-pass', at: { pass: 2 } });
    expect(await takePage(dependencies, run.runId, { pass: 2, page: 0 })).toEqual({
      then: 'stopped',
      doubtful: 52,
      due: 60,
    });
    const stopped = (await dependencies.runs.get(run.runId))!;
    expect(stopped).toMatchObject({ status: 'stopped' });
    expect(stopped.report?.byVerdict).toMatchObject({ held: { count: 52 }, collected: { count: 8 } });
    expect(new Set(await statusesOf(gone))).toEqual(new Set(['SCHEDULED']));
    expect(await debitsOf(here, paying)).toEqual(paying.map(() => 1));
    expect(await takePage(dependencies, run.runId, { pass: 2, page: 0 })).toEqual({ then: 'was-over' });
  });

  it('are counted once however often their job runs, and not cancelled by a job of the same pass', async () => {
    const [banned] = await members(1, { status: 'BANNED' });
    const dependencies = inProcess(here);
    const { runId } = await startRun(dependencies, 'scheduled', TICK);
    const collect = (pass: number) => here.collect('INITIAL', banned!, runId, { runId, pass });
    for (let time = 0; time < 3; time += 1) {
      expect(await collect(1)).toMatchObject({ verdict: 'held', reason: 'user-banned', heldIn: 1 });
    }
    expect(await dependencies.runs.doubtful(runId)).toBe(1);
    expect(await collect(2)).toMatchObject({ verdict: 'cancelled' });
    expect(await collect(2)).toMatchObject({ verdict: 'cancelled' });
    expect(await dependencies.runs.doubtful(runId)).toBe(1);
  });

  it('are counted also when the counter could not be written at first', async () => {
    const [banned] = await members(1, { status: 'BANNED' });
    const dependencies = inProcess(here);
    const { runId } = await startRun(dependencies, 'scheduled', TICK);
    const faults = injectFaults(here.store.client);
    const isCounter = (input: Record<string, unknown>) =>
      String(input['UpdateExpression']).includes('doubtful');
    faults.script('UpdateItemCommand', fail(throttled()), { when: isCounter });
    const collect = () => here.collect('INITIAL', banned!, runId, { runId, pass: 1 });
    await expect(collect()).rejects.toThrow('injected: rate exceeded');
    faults.remove();
    expect(await collect()).toMatchObject({ verdict: 'held' });
    expect(await dependencies.runs.doubtful(runId)).toBe(1);
  });

  it('are held also when the first pass lost their jobs: no pass cancels whom none has counted', async () => {
    const gone = await members(55, { status: 'BANNED' });
    const dependencies = inProcess(here, { lose: (pass) => pass === 1 });
    const run = await drive(dependencies, await startRun(dependencies, 'scheduled', TICK));
    expect(run).toMatchObject({ status: 'stopped' });
    expect(new Set(await statusesOf(gone))).toEqual(new Set(['SCHEDULED']));
  });

  it('whom a single request asks about are cancelled at once', async () => {
    const [banned] = await members(1, { status: 'BANNED' });
    expect(await here.collect('BATCH', banned!)).toMatchObject({ verdict: 'cancelled' });
  });
});

describe('a run', () => {
  it('leaves the users of the older service alone, and says how many there were', async () => {
    const records = await members(12);
    const owned = { kind: 'range', from: 0, to: 0x7fff } as const;
    const ours = records.filter(({ userId }) => owns(owned, userId));
    const dependencies: RunDependencies = { ...inProcess(here), owned };
    const run = await drive(dependencies, await startRun(dependencies, 'scheduled', TICK));
    expect(run).toMatchObject({ due: ours.length, notOwned: 12 - ours.length });
    expect(await debitsOf(here, records)).toEqual(records.map(({ userId }) => (owns(owned, userId) ? 1 : 0)));
  });

  it('of pauses also charges whoever asked to be charged on resuming, whatever the date, once', async () => {
    const record = await here.member(
      {},
      { billingDate: at('2026-12-20T06:00:00Z'), updatedEvent: 'pause-pending-resume' },
    );
    const { pipeline } = here.dependencies;
    await pipeline.rememberResume(record, here.now);
    const dependencies = inProcess(here);
    const run = await drive(dependencies, await startRun(dependencies, 'pause', TICK));
    expect(run.report?.byVerdict).toMatchObject({ collected: { count: 1 } });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'COMPLETED',
      updatedEvent: 'pause-resume',
    });

    const nextDay = await drive(
      dependencies,
      await startRun(dependencies, 'pause', at('2026-11-17T08:00:00Z')),
    );
    expect(nextDay.report?.byVerdict).toMatchObject({ 'no-op': { count: 1 } });
    expect((await dependencies.runs.resumes(null)).records).toEqual([]);
    expect(await debitsOf(here, [record])).toEqual([1]);
  });

  it('waits with its report for an index that lags behind, but not for ever', async () => {
    await members(3);
    const whole = inProcess(here);
    let isBehind = true;
    const lagging: RunDependencies = {
      ...whole,
      runs: Object.assign(Object.create(whole.runs) as typeof whole.runs, {
        async verdicts(...args: Parameters<typeof whole.runs.verdicts>) {
          const page = await whole.runs.verdicts(...args);
          return isBehind ? { ...page, verdicts: page.verdicts.slice(1) } : page;
        },
      }),
    };
    const run = await startRun(lagging, 'scheduled', TICK);
    expect(await takePage(lagging, run.runId, run)).toMatchObject({ then: 'next-pass' });
    const last = { pass: 2, page: 0 };
    expect(await takePage(lagging, run.runId, last)).toEqual({ then: 'wait-for-index' });
    expect(await lagging.runs.get(run.runId)).toMatchObject({ status: 'running', pass: 2 });
    isBehind = false;
    expect(await takePage(lagging, run.runId, last)).toEqual({ then: 'over' });
    expect((await lagging.runs.get(run.runId))?.report?.records).toBe(3);

    isBehind = true;
    const second = await startRun(lagging, 'scheduled', at('2026-11-16T08:00:01Z'));
    await members(1);
    await takePage(lagging, second.runId, second);
    expect(await takePage(lagging, second.runId, last)).toEqual({ then: 'wait-for-index' });
    expect(await takePage(lagging, second.runId, last, { patient: false })).toEqual({ then: 'over' });
    expect((await reportOf(whole.runs, second.runId)).records).toBe(1);
  });
});
