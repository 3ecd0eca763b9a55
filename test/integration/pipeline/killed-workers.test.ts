import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { debitsOf } from '../../support/debits.ts';
import { keepWorking } from '../../support/keep-working.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';
import type { CollectionStep } from '../../../src/ports/steps.ts';

const STEPS: readonly CollectionStep[] = ['locked', 'intent-written', 'charged', 'outcome-written'];

let system: Pipeline;

beforeAll(async () => {
  // One at a time: who dies takes nobody along who was to die elsewhere.
  system = await pipeline({ COLLECTION_CONCURRENCY: '1' });
});
afterAll(() => system.close());

describe('workers that are killed at every step', () => {
  it('complete the run; nobody is charged twice, no period is lost', async () => {
    const others = await system.members(12);
    const victims = await system.members(STEPS.length);
    const crashPoints = STEPS.map((step, index) => ({
      step,
      userId: victims[index]!.userId,
      signal: 'SIGKILL' as const,
    }));
    const { runId } = await system.start('scheduled');
    const deaths = await keepWorking(system, crashPoints, system.over(runId));

    expect(deaths).toBe(STEPS.length);
    const { report } = (await system.runs.get(runId))!;
    expect(report).toMatchObject({ records: 16, byVerdict: { collected: { count: 16 } } });
    expect(await debitsOf(system.here, [...others, ...victims])).toEqual(Array(16).fill(1));
    for (const record of victims) {
      const [paid, next, ...more] = await system.here.partition(record.userId);
      expect(more).toEqual([]);
      expect(paid).toMatchObject({ billingStatus: 'COMPLETED' });
      expect(next).toMatchObject({ billingStatus: 'SCHEDULED' });
    }
    expect(await system.audit()).toEqual([]);
  });

  it('after a decline was written do not try again: the job finds its verdict', async () => {
    const declines = { pinless: { mode: 'decline', code: '14' } };
    const [record] = await system.members(1, declines, { billingStatus: 'ERROR' });
    const crashPoints = [
      { step: 'outcome-written' as const, userId: record!.userId, signal: 'SIGKILL' as const },
    ];
    const { runId } = await system.start('retry');
    const deaths = await keepWorking(system, crashPoints, system.over(runId));

    expect(deaths).toBe(1);
    expect((await system.runs.get(runId))?.report).toMatchObject({
      records: 1,
      byVerdict: { declined: { count: 1 } },
    });
    const asked = (await system.here.ledger(record!)).filter(({ type }) => type === 'payment.applied');
    expect(asked).toHaveLength(1);
  });
});
