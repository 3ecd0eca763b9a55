import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pipeline } from '../../support/pipeline.ts';
import { pipeline } from '../../support/pipeline.ts';
import { debits } from '../../support/world.ts';

let system: Pipeline;

beforeAll(async () => {
  system = await pipeline({ COLLECTION_CONCURRENCY: '20', PAGE_SIZE: '120' });
});
afterAll(() => system.close());

describe('a scheduled run over two worker processes', () => {
  it('charges each of 500 members once, and the audit finds nothing', async () => {
    const { here } = system;
    const records = [];
    for (let batch = 0; batch < 20; batch += 1) {
      records.push(...(await Promise.all(Array.from({ length: 25 }, () => here.member()))));
    }
    await Promise.all([system.worker(), system.worker()]);
    const { runId } = await system.start('scheduled');
    const run = await system.over(runId);

    expect(run).toMatchObject({ status: 'complete', due: 500 });
    expect(run.report).toMatchObject({ records: 500, byVerdict: { collected: { count: 500 } } });
    for (const record of records) expect(debits(await here.ledger(record))).toBe(1);
    expect(await system.audit()).toEqual([]);
  }, 180_000);
});
