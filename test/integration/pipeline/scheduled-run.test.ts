import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';

let system: Pipeline;

beforeAll(async () => {
  system = await pipeline({ COLLECTION_CONCURRENCY: '20', PAGE_SIZE: '120' });
});
afterAll(() => system.close());

describe('a scheduled run over two worker processes', () => {
  it('charges each of 500 members once, and the audit finds nothing', async () => {
    const records = await system.members(500);
    const [one, two] = await Promise.all([system.worker(), system.worker()]);
    const { runId } = await system.start('scheduled');
    const run = await system.over(runId);

    expect(run).toMatchObject({ status: 'complete', due: 500 });
    expect(run.report).toMatchObject({ records: 500, byVerdict: { collected: { count: 500 } } });
    expect(await debitsOf(system.here, records)).toEqual(records.map(() => 1));
    expect(await system.audit()).toEqual([]);
    for (const worker of [one, two]) expect(await worker.stop()).toBe(0);
  });
});
