import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatInstant, plusMs } from '../../../src/domain/instant.ts';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline, RunningProcess } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';

let system: Pipeline;
let worker: RunningProcess;
let ticks = 0;
const nextTick = () => plusMs(TICK, (ticks += 1) * 1_000);

beforeAll(async () => {
  system = await pipeline({ COLLECTION_CONCURRENCY: '3' });
});
afterAll(() => system.close());
beforeEach(async () => {
  worker = await system.worker();
});
afterEach(async () => {
  await system.here.faults([]);
  expect(await worker.stop()).toBe(0);
});

describe('a processor that is down', () => {
  it('holds the queue back for a while instead of failing jobs, and the run goes on when it is back', async () => {
    const records = await system.members(20);
    await system.here.faults([{ id: 'down', service: 'payments', fault: 'error-before' }]);
    const { runId } = await system.start('scheduled', nextTick());
    const queue = system.queues.get('collections-scheduled');
    // A limit that nothing but the breaker sets: it is there although no rate is configured.
    await eventually('the queue is held back', async () => (await queue.getRateLimitTtl(1)) > 1_500);
    expect(await queue.isPaused()).toBe(false);
    await eventually('the worker says why', () => worker.output().includes('"state":"open"'));
    await system.here.faults([]);

    const { report } = await system.over(runId);
    const { collected, unknown } = report!.byVerdict;
    // Those that were under way when it went down have no answer; the janitor asks about them.
    expect(unknown?.count ?? 0).toBeLessThanOrEqual(6);
    expect((collected?.count ?? 0) + (unknown?.count ?? 0)).toBe(20);
    expect(await queue.getJobCounts('failed')).toEqual({ failed: 0 });
    const charged = await debitsOf(system.here, records);
    expect(charged.every((count) => count <= 1)).toBe(true);
    expect(charged.filter((count) => count === 1)).toHaveLength(collected?.count ?? 0);
  });
});

describe('an answer that is lost after the charge was made', () => {
  it('leaves the record blocked on every path until the janitor learns it; there is one debit', async () => {
    const [record] = await system.members(1);
    const { userId } = record!;
    await system.here.faults([
      { id: randomUUID(), service: 'payments', fault: 'timeout-after', times: 3, match: { user_id: userId } },
    ]);
    const { runId } = await system.start('scheduled', nextTick());
    expect((await system.over(runId)).report).toMatchObject({ byVerdict: { unknown: { count: 1 } } });
    expect(await system.here.row(record!)).toMatchObject({ billingStatus: 'SCHEDULED' });
    // A member who pays by hand meanwhile is not charged for the same period again.
    expect(await system.here.collect('MANUAL_REPAYMENT', record!)).toMatchObject({ verdict: 'blocked' });

    const later = plusMs(TICK, 6 * 60_000);
    system.here.now = later;
    await system.here.bank('PUT', '/clock', { now: formatInstant(later), frozen: true });
    await eventually('the janitor has asked', async () => {
      await system.queues.get('janitor').add('round', {});
      return (await system.here.row(record!)).billingStatus === 'COMPLETED';
    });
    expect(await debitsOf(system.here, [record!])).toEqual([1]);
    expect(await system.audit()).toEqual([]);
  });
});
