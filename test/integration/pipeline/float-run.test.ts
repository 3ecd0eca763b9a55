import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CollectionStep } from '../../../src/ports/steps.ts';
import type { FloatDesk } from '../../support/float-desk.ts';
import { floatDesk } from '../../support/float-desk.ts';
import { keepWorking } from '../../support/keep-working.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';
import { debits } from '../../support/world.ts';

const STEPS: readonly CollectionStep[] = ['locked', 'intent-written', 'charged', 'outcome-written'];

let system: Pipeline;
let desk: FloatDesk;
beforeAll(async () => {
  system = await pipeline({ COLLECTION_CONCURRENCY: '4' });
  desk = floatDesk(system.here);
});
afterAll(() => system.close());

describe('a run of floats, with workers that are killed at every step', () => {
  it('is completed; nobody is debited twice, and every attempt is in the log', async () => {
    const victims = await Promise.all(STEPS.map(() => desk.float()));
    const others = await Promise.all([
      desk.float(),
      desk.float({ has_debit_card: false }),
      desk.float({ pinless: { mode: 'decline', code: '62' } }),
    ]);
    const crashPoints = STEPS.map((step, index) => ({
      step,
      userId: victims[index]!.userId,
      signal: 'SIGKILL' as const,
    }));
    const { runId } = await system.start('float-today');
    expect(await keepWorking(system, crashPoints, system.over(runId))).toBe(STEPS.length);

    const { report } = (await system.runs.get(runId))!;
    expect(report).toMatchObject({
      records: 7,
      byVerdict: { collected: { count: 5 }, sent: { count: 2 } },
      byPlan: { charge: { reasons: { PINLESS: 6, ACH: 1 } } },
    });
    for (const float of [...victims, ...others]) expect(debits(await desk.ledger(float))).toBe(1);
    for (const float of victims) {
      expect((await desk.row(float)).status).toBe('COMPLETED');
      expect(await desk.log(float)).toMatchObject([
        { process: 'TODAY6AM', outcome: 'COMPLETED', method: 'PINLESS' },
      ]);
    }
    expect((await desk.log(others[2])).map(({ method, outcome }) => [method, outcome])).toEqual([
      ['PINLESS', 'RETURNED'],
      ['ACH', 'ACHSENT'],
    ]);
    expect(await system.audit()).toEqual([]);
  }, 180_000);
});
