import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plusMs } from '../../../src/domain/instant.ts';
import { debitsOf } from '../../support/debits.ts';
import type { Pipeline } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { closedPort, eventually } from '../../support/processes.ts';
import { tcpGate } from '../../support/tcp-gate.ts';

const AT_ONCE = 5;
/** For a bank that takes its time: a charge may take it, under the lease. */
const PATIENT = { PROCESSOR_TIMEOUT_MS: '15000', LOCK_LEASE_MS: '30000' };

let system: Pipeline;

beforeAll(async () => {
  system = await pipeline({ COLLECTION_CONCURRENCY: String(AT_ONCE) });
});
afterAll(() => system.close());

async function heldLocks(): Promise<number> {
  const { client, tables } = system.here.store;
  const { Items = [] } = await client.send(
    new ScanCommand({ TableName: tables.locks, FilterExpression: 'attribute_not_exists(isReleased)' }),
  );
  return Items.length;
}

const debitsSoFar = async (): Promise<number> => {
  const page = (await system.here.bank('GET', '/ledger?effect=debit&limit=5000')) as { entries: unknown[] };
  return page.entries.length;
};

describe('a worker that is asked to stop in the middle of a run', () => {
  it('finishes what is in flight, releases its locks, and leaves the rest to others', async () => {
    const records = await system.members(40);
    const bank = await tcpGate(system.here.url);
    bank.hang();
    const worker = await system.worker({ env: { PAYMENTS_SERVICE_URL: bank.url, ...PATIENT } });
    const { runId } = await system.start('scheduled');
    await eventually('it is in the middle', () => bank.waiting() === AT_ONCE);
    const stopped = worker.stop();
    await eventually('it knows that it is to stop', () => worker.output().includes('"stopping"'));
    bank.goOn();
    expect(await stopped).toBe(0);
    await bank.cut();
    expect(await heldLocks()).toBe(0);
    expect(await system.queues.get('collections-scheduled').getActiveCount()).toBe(0);
    expect(await debitsSoFar()).toBe(AT_ONCE);

    const other = await system.worker();
    expect((await system.over(runId)).report).toMatchObject({ byVerdict: { collected: { count: 40 } } });
    expect(await debitsOf(system.here, records)).toEqual(records.map(() => 1));
    expect(await other.stop()).toBe(0);
  });

  it('leaves also when Redis was away from its start', async () => {
    const port = await closedPort();
    const starting = system.worker({ env: { REDIS_URL: `redis://127.0.0.1:${port}` } });
    starting.catch(() => undefined);
    const lost = await eventually('it has begun', () =>
      system.started().find((process) => process.output().includes('ECONNREFUSED')),
    );
    expect(await lost.stop()).toBe(0);
  });

  it('leaves within thirty seconds also while Redis is away', async () => {
    await system.members(40, { answer_delay_ms: 50 });
    const worker = await system.worker();
    const scheduler = await system.scheduler();
    const before = await debitsSoFar();
    await system.start('scheduled', plusMs(TICK, 1_000));
    await eventually('it is in the middle', async () => (await debitsSoFar()) >= before + 5);
    await system.redis.kill();

    const asked = performance.now();
    expect(await Promise.all([worker.stop(), scheduler.stop()])).toEqual([0, 0]);
    expect(performance.now() - asked).toBeLessThan(30_000);
    expect(await heldLocks()).toBe(0);
    expect(await system.audit()).toEqual([]);
  });
});
