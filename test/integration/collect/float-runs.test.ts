import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compareWithForecast } from '../../../src/app/compare-forecast.ts';
import { forecastRun } from '../../../src/app/forecast-run.ts';
import { startRun } from '../../../src/app/run-collections.ts';
import type { Float } from '../../../src/domain/floats/float.ts';
import type { FloatProcess } from '../../../src/domain/floats/runs.ts';
import { FLOAT_PROCESSES } from '../../../src/domain/floats/runs.ts';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import type { OwnedUsers } from '../../../src/domain/ownership.ts';
import { owns } from '../../../src/domain/ownership.ts';
import type { Run } from '../../../src/ports/runs.ts';
import type { FloatDesk } from '../../support/float-desk.ts';
import { floatDesk } from '../../support/float-desk.ts';
import { day } from '../../support/floats.ts';
import { drive, inProcess } from '../../support/in-process-run.ts';
import { at } from '../../support/records.ts';
import { debits, world } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

/** A Monday. */
const TICK = at('2026-11-16T09:30:00Z');

const DUE: Record<FloatProcess, Partial<Float>> = {
  'float-tomorrow': { dueDate: day('2026-11-17') },
  'float-today': {},
  'float-retry': { dueDate: day('2026-11-09'), status: 'RETRY' },
};

let here: World;
let desk: FloatDesk;
// Two to a page: a status's floats are on several, and the next status begins on a page of its own.
beforeEach(async () => {
  here = await world({ withFloats: true, pageSize: 2 });
  here.now = TICK;
  desk = floatDesk(here);
});
afterEach(() => here.close());

async function run(process: FloatProcess, other = {}): Promise<Run> {
  const dependencies = { ...inProcess(here), ...other };
  const started = await startRun(dependencies, process, here.now);
  // What happens in a run happens after its start.
  here.now = plusMs(here.now, 1_000);
  return drive(dependencies, started);
}

const foretell = (process: FloatProcess, owned: OwnedUsers = { kind: 'all' }) =>
  forecastRun(
    { ...inProcess(here), ...here.dependencies, owned, ratePerS: 10_000 },
    { process, asOf: here.now },
    () => undefined,
  );

/** Somebody of every kind that the rules tell apart, and a few whom the run must not look at. */
async function populate(process: FloatProcess): Promise<void> {
  const due = DUE[process];
  const float = (settings: object = {}, fields: Partial<Float> = {}) =>
    desk.float(settings, { ...due, ...fields });
  await Promise.all([
    float(),
    float({ has_debit_card: false }),
    float({ account: null }),
    float({ balance: { amount: '1.00' } }),
    float({ status: 'BANNED' }),
    float({ status: 'PAUSED' }),
    float({ status: 'INVESTIGATE' }),
    float({ pinless: { mode: 'decline', code: '62' } }),
    float({ pinless: { mode: 'decline', code: '14' } }),
    float({}, { status: 'UNCOLLECTABLE' }),
    float({ account: null }, { status: 'UNCOLLECTABLE' }),
    float({}, { dueDate: day('2026-08-17') }),
    float({}, { dueDate: day('2026-12-24') }),
    float({}, { status: 'COMPLETED' }),
    float({}, { status: 'ACHSENT' }),
  ]);
}

describe.each(FLOAT_PROCESSES)('a %s run', (process) => {
  it('decides as it was foretold, about each float once', async () => {
    await populate(process);
    const foretold = await foretell(process);
    const { report, due } = await run(process);
    expect(foretold.byPlan).toEqual(report!.byPlan);
    expect(compareWithForecast(foretold, report!)).toEqual([]);
    expect(foretold).toMatchObject({ process, asOf: TICK, due, malformed: 0, unreachable: 0 });
    expect([foretold.records, foretold.amount]).toEqual([report!.records, report!.amount]);
    // Not a comparison of next to nothing.
    expect(report!.byPlan.charge!.count).toBeGreaterThan(0);
    expect(report!.byPlan.deferred!.count).toBe(2);
    expect(due).toBe({ 'float-tomorrow': 9, 'float-today': 10, 'float-retry': 12 }[process]);
  });
});

describe('a run of floats', () => {
  it('is about our own members only', async () => {
    const floats = await Promise.all(Array.from({ length: 8 }, () => desk.float()));
    const owned: OwnedUsers = { kind: 'range', from: 0, to: 0x7fff };
    const ours = floats.filter(({ userId }) => owns(owned, userId)).length;
    expect((await foretell('float-today', owned)).due).toBe(ours);
    expect(await run('float-today', { owned })).toMatchObject({ due: ours, notOwned: 8 - ours });
  });

  it('finds what its workers have forgotten', async () => {
    const floats = await Promise.all(Array.from({ length: 5 }, () => desk.float()));
    const forgetful = inProcess(here, { lose: (pass, index) => pass === 1 && index === 0 });
    const { report, due, enqueued } = await run('float-today', { enqueue: forgetful.enqueue });
    expect(report!.byVerdict).toMatchObject({ collected: { count: 5 } });
    expect([due, enqueued]).toEqual([5, 8]);
    for (const float of floats) expect(debits(await desk.ledger(float))).toBe(1);
  });

  it('does not retry what was declined while it was under way; the next day’s does', async () => {
    const float = await desk.float({ pinless: { mode: 'decline', code: '14' } });
    const dependencies = inProcess(here);
    const retries = await startRun(dependencies, 'float-retry', TICK);
    here.now = at('2026-11-16T09:40:00Z');
    await run('float-today');
    expect((await desk.row(float)).status).toBe('RETRY');
    expect(await drive(dependencies, retries)).toMatchObject({ status: 'complete', due: 0 });
    here.now = plusDays(TICK, 1);
    expect((await run('float-retry')).report!.byVerdict).toMatchObject({ declined: { count: 1 } });
  });

  it('takes up again what it began itself, when the worker died and the jobs are lost', async () => {
    const float = await desk.float({}, DUE['float-retry']);
    let dies = true;
    here.onStep = (step) => {
      if (step === 'intent-written' && dies) {
        dies = false;
        throw new Error('killed');
      }
    };
    const dependencies = inProcess(here);
    const begun = await startRun(dependencies, 'float-retry', TICK);
    here.now = plusMs(TICK, 1_000);
    await expect(desk.collect('RETRY', float, begun.runId)).rejects.toThrow('killed');
    expect((await drive(dependencies, begun)).report!.byVerdict).toMatchObject({ collected: { count: 1 } });
    expect(debits(await desk.ledger(float))).toBe(1);
  });

  it('retries once a day, however often it is started', async () => {
    const float = await desk.float({ pinless: { mode: 'decline', code: '14' } }, DUE['float-retry']);
    expect((await run('float-retry')).report!.byVerdict).toMatchObject({ declined: { count: 1 } });
    here.now = at('2026-11-16T15:00:00Z');
    expect((await run('float-retry')).report!.byVerdict).toMatchObject({
      skipped: { count: 1, reasons: { 'retried-today': 1 } },
    });
    expect(await desk.log(float)).toHaveLength(1);
  });
});
