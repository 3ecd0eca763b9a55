import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Float } from '../../../src/domain/floats/float.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { CollectionStep } from '../../../src/ports/steps.ts';
import type { FloatDesk } from '../../support/float-desk.ts';
import { floatDesk } from '../../support/float-desk.ts';
import { keepWorking } from '../../support/keep-working.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { debits } from '../../support/world.ts';

const STEPS: readonly CollectionStep[] = ['locked', 'intent-written', 'charged', 'outcome-written'];

let system: Pipeline;
let desk: FloatDesk;
beforeAll(async () => {
  // One at a time: who dies takes nobody along who was to die elsewhere.
  system = await pipeline({ COLLECTION_CONCURRENCY: '1' });
  desk = floatDesk(system.here);
});
afterAll(() => system.close());

/** Pages, jobs and a worker, until the run is over. */
async function complete(tick: Instant) {
  const { runId } = await system.start('float-today', tick);
  const worker = await system.worker();
  const { report } = await system.over(runId);
  await worker.stop();
  return report;
}

describe('a run of floats', () => {
  it('charges cards, turns to accounts, and puts every attempt into the log', async () => {
    const [card, account, noMoney] = await Promise.all([
      desk.float(),
      desk.float({ has_debit_card: false }),
      desk.float({ pinless: { mode: 'decline', code: '62' } }),
    ]);
    expect(await complete(TICK)).toMatchObject({
      records: 3,
      byVerdict: { collected: { count: 1 }, sent: { count: 2 } },
      byPlan: { charge: { reasons: { PINLESS: 2, ACH: 1 } } },
    });
    const rowsOf = async (float: Float) =>
      (await desk.log(float)).map(({ method, outcome }) => [method, outcome]);
    expect(await rowsOf(card)).toEqual([['PINLESS', 'COMPLETED']]);
    expect(await rowsOf(account)).toEqual([['ACH', 'ACHSENT']]);
    expect(await rowsOf(noMoney)).toEqual([
      ['PINLESS', 'RETURNED'],
      ['ACH', 'ACHSENT'],
    ]);
  });

  it('with workers that are killed at every step is completed, and nobody is debited twice', async () => {
    const victims = await Promise.all(STEPS.map(() => desk.float()));
    const crashPoints = STEPS.map((step, index) => ({
      step,
      userId: victims[index]!.userId,
      signal: 'SIGKILL' as const,
    }));
    const { runId } = await system.start('float-today', plusMs(TICK, 60_000));
    expect(await keepWorking(system, crashPoints, system.over(runId))).toBe(STEPS.length);

    const { report } = (await system.runs.get(runId))!;
    expect(report).toMatchObject({ records: 4, byVerdict: { collected: { count: 4 } } });
    for (const float of victims) {
      expect(debits(await desk.ledger(float))).toBe(1);
      expect((await desk.row(float)).status).toBe('COMPLETED');
      expect(await desk.log(float)).toMatchObject([
        { process: 'TODAY6AM', outcome: 'COMPLETED', method: 'PINLESS' },
      ]);
    }
    expect(await system.audit()).toEqual([]);
  });
});
