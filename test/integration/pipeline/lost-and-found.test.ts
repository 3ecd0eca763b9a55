import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plusMs } from '../../../src/domain/instant.ts';
import type { RunId } from '../../../src/domain/runs.ts';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';

let system: Pipeline;

beforeAll(async () => {
  system = await pipeline({ COLLECTION_CONCURRENCY: '4', PAGE_SIZE: '10' });
});
afterAll(() => system.close());

const verdictsSoFar = async (runId: RunId): Promise<number> => {
  const ids = (await system.runs.get(runId))?.enqueued ?? 0;
  if (ids === 0) return 0;
  let count = 0;
  let key: Awaited<ReturnType<typeof system.runs.verdicts>>['nextKey'] = null;
  do {
    const page: Awaited<ReturnType<typeof system.runs.verdicts>> = await system.runs.verdicts(runId, key);
    count += page.verdicts.length;
    key = page.nextKey;
  } while (key !== null);
  return count;
};

describe('a run', () => {
  it('whose Redis forgets everything in the middle is completed by its next pass', async () => {
    // Slow enough that the others are still to be done while we look.
    const records = await system.members(60, { answer_delay_ms: 300 });
    const worker = await system.worker();
    const { runId } = await system.start('scheduled');
    await eventually('some are done', async () => (await verdictsSoFar(runId)) >= 5);
    await system.redis.client.flushall();
    expect((await system.runs.get(runId))?.status).toBe('running');

    const scheduler = await system.scheduler();
    const run = await system.over(runId);
    expect(run.report).toMatchObject({ records: 60, byVerdict: { collected: { count: 60 } } });
    expect(await debitsOf(system.here, records)).toEqual(records.map(() => 1));
    expect(await system.audit()).toEqual([]);
    for (const running of [worker, scheduler]) expect(await running.stop()).toBe(0);
  });

  it('and another of the same process, started together, handle each record once', async () => {
    const records = await system.members(20);
    await Promise.all([system.worker(), system.worker()]);
    const [one, two] = await Promise.all([
      system.start('scheduled', plusMs(TICK, 1_000)),
      system.start('scheduled', plusMs(TICK, 2_000)),
    ]);
    const reports = await Promise.all([system.over(one.runId), system.over(two.runId)]);
    const collected = reports.map(({ report }) => report?.byVerdict.collected?.count ?? 0);
    // What one began and the other brought to its end is told to both.
    expect(collected.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(20);
    expect(await debitsOf(system.here, records)).toEqual(records.map(() => 1));
    expect(await system.audit()).toEqual([]);
  });
});
