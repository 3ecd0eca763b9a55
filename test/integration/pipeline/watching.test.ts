import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../src/embedded/free-port.ts';
import { cents } from '../../../src/domain/money.ts';
import { inboxDesk } from '../../support/inbox-desk.ts';
import { tellsMask } from '../../support/masks.ts';
import { eventually } from '../../support/processes.ts';
import type { Pipeline, RunningProcess } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';

let system: Pipeline;
let worker: RunningProcess;
let port: number;

beforeAll(async () => {
  port = await freePort();
  system = await pipeline({ LOG_LEVEL: 'debug' });
  worker = await system.worker({ env: { METRICS_PORT: String(port) } });
});
afterAll(() => system.close());

const metricsOf = async (at: number): Promise<string> =>
  (await fetch(`http://127.0.0.1:${at}/metrics`)).text();

describe('a worker process', () => {
  it('tells what it did in metrics, and logs ids but never personal data', async () => {
    const people = { email: 'somebody@example.com', account: { mask: '4242' }, tier: 'Plus' };
    const records = [
      ...(await system.members(3, people)),
      ...(await system.members(1, { ...people, balance: { amount: '0.10' } })),
    ];
    const { runId } = await system.start('scheduled');
    await system.over(runId);

    // The run is over in the store a moment before whoever ended it counts it.
    const metrics = await eventually('the run is counted', async () => {
      const text = await metricsOf(port);
      return /collections_run_duration_seconds_count\{process="scheduled"\} 1/.test(text) ? text : undefined;
    });
    expect(metrics).toContain(
      'collections_verdicts_total{path="INITIAL",verdict="collected",reason="PINLESS"} 3',
    );
    expect(metrics).toContain(
      'collections_verdicts_total{path="INITIAL",verdict="refused",reason="balance-too-low"} 1',
    );
    expect(metrics).toContain('collections_attempts_total{rail="PINLESS",result="COMPLETED"} 3');
    expect(metrics).toMatch(/collections_queue_jobs\{queue="collections-scheduled",state="waiting"\} 0/);
    for (const path of ['live', 'ready'])
      expect((await fetch(`http://127.0.0.1:${port}/health/${path}`)).status).toBe(200);

    expect(await worker.stop()).toBe(0);
    const logged = worker.output();
    for (const { userId, subscriptionId } of records) {
      expect(logged).toContain(userId);
      expect(logged).toContain(subscriptionId);
    }
    expect(logged).toContain(runId);
    expect(logged).not.toContain('example.com');
    expect(tellsMask(logged, people.account.mask)).toBe(false);
    for (const line of logged.trim().split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });
});

describe('a scheduler process', () => {
  it('tells how many payments nobody gives back any more', async () => {
    const { store, dependencies } = system.here;
    const { refusedRefunds } = dependencies.pipeline;
    const desk = inboxDesk(store.client, store.tables);
    const about = { confirmationId: 'p', code: 'not_refundable', amount: cents(499), at: TICK };
    const records = await system.members(3);
    for (const { userId, subscriptionId } of records)
      await desk.commit([refusedRefunds.note({ userId, subscriptionId, ...about })]);
    await desk.commit([refusedRefunds.forget(records[0]!.subscriptionId)]);
    await eventually('the index has them', async () => (await refusedRefunds.size()) === 2);

    const schedulerPort = await freePort();
    await system.scheduler({ METRICS_PORT: String(schedulerPort) });
    await eventually('its first round is over', async () =>
      (await metricsOf(schedulerPort)).includes('collections_refunds_refused 2'),
    );
  });
});

describe('a role whose configuration is wrong', () => {
  it('ends at once and names the variable and what is allowed', async () => {
    const wrong: [Record<string, string>, RegExp][] = [
      [{ QUEUES: 'janitor,collections-reply' }, /QUEUES names collections-reply; must be some of/],
      [{ COLLECTION_CONCURRENCY: 'many' }, /COLLECTION_CONCURRENCY is "many"; must be a whole number/],
      [{ PROCESSOR_TIMEOUT_MS: '2900' }, /LOCK_LEASE_MS is 3000; must be at least 4400/],
    ];
    for (const [env, message] of wrong)
      await expect(system.worker({ env: { ...env, METRICS_PORT: '' } })).rejects.toThrow(message);
  });
});
