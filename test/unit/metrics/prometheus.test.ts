import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import type { Metrics } from '../../../src/ports/metrics.ts';

const ours = async (metrics: Metrics): Promise<string[]> =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith('collections_'));

const reasonsIn = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /reason="([^"]*)"/.exec(line)?.[1] ?? []);

describe('the metrics', () => {
  it('count what happened under the names that dashboards know', async () => {
    const metrics = createMetrics();
    metrics.verdict('INITIAL', 'collected', 'PINLESS');
    metrics.verdict('INITIAL', 'collected', 'PINLESS');
    metrics.verdict('RETRY', 'refused', 'balance-too-low');
    metrics.attempt('ACH', 'ACHSENT');
    metrics.attempt('PINLESS', 'UNKNOWN');
    metrics.lockBusy('WEBHOOK');
    metrics.runStopped('retry');
    metrics.runFinished('scheduled', 42);
    metrics.membershipApplied('UNPAUSE', 'no-op', 'nothing-paused');
    const lines = await ours(metrics);
    for (const line of [
      'collections_verdicts_total{path="INITIAL",verdict="collected",reason="PINLESS"} 2',
      'collections_verdicts_total{path="RETRY",verdict="refused",reason="balance-too-low"} 1',
      'collections_attempts_total{rail="ACH",result="ACHSENT"} 1',
      'collections_attempts_total{rail="PINLESS",result="UNKNOWN"} 1',
      'collections_lock_busy_total{path="WEBHOOK"} 1',
      'collections_membership_events_total{type="UNPAUSE",result="no-op",reason="nothing-paused"} 1',
      'collections_runs_stopped_total{process="retry"} 1',
      'collections_run_duration_seconds_count{process="scheduled"} 1',
      'collections_run_duration_seconds_sum{process="scheduled"} 42',
      'collections_run_duration_seconds_bucket{le="15",process="scheduled"} 0',
      'collections_run_duration_seconds_bucket{le="60",process="scheduled"} 1',
    ])
      expect(lines).toContain(line);
  });

  it('tell whether the breaker is open, also before it ever was', async () => {
    const metrics = createMetrics();
    const open = async () => (await ours(metrics)).filter((line) => line.includes('breaker'));
    expect(await open()).toEqual(['collections_processor_breaker_open 0']);
    metrics.processorBreaker('open');
    expect(await open()).toEqual(['collections_processor_breaker_open 1']);
    metrics.processorBreaker('closed');
    expect(await open()).toEqual(['collections_processor_breaker_open 0']);
  });

  it('show a return rate as long as there is one', async () => {
    const metrics = createMetrics();
    const rates = async () => (await ours(metrics)).filter((line) => line.includes('return_rate'));
    metrics.achReturnRate('unauthorized', 0.0055);
    metrics.achReturnRate('overall', null);
    expect(await rates()).toEqual(['collections_ach_return_rate{class="unauthorized"} 0.0055']);
    metrics.achReturnRate('unauthorized', null);
    expect(await rates()).toEqual([]);
  });

  it('count the records of each stream by what became of them', async () => {
    const metrics = createMetrics();
    metrics.streamRecord('users', 'not-owned');
    metrics.streamRecord('billing', 'published');
    metrics.streamRecord('billing', 'published');
    metrics.streamRecord('billing', 'not-owned');
    const records = (await ours(metrics)).filter((line) => line.includes('stream_records'));
    expect(records).toEqual([
      'collections_stream_records_total{stream="users",fate="not-owned"} 1',
      'collections_stream_records_total{stream="billing",fate="published"} 2',
      'collections_stream_records_total{stream="billing",fate="not-owned"} 1',
    ]);
  });

  it('tell how far each shard is behind for as long as it is read here', async () => {
    const metrics = createMetrics();
    const lags = async () => (await ours(metrics)).filter((line) => line.includes('stream_lag'));
    metrics.streamLag('billing', 'shard-1', 2_500);
    metrics.streamLag('users', 'shard-1', 0);
    expect(await lags()).toEqual([
      'collections_stream_lag_seconds{stream="billing",shard="shard-1"} 2.5',
      'collections_stream_lag_seconds{stream="users",shard="shard-1"} 0',
    ]);
    metrics.streamLag('billing', 'shard-1', null);
    expect(await lags()).toEqual(['collections_stream_lag_seconds{stream="users",shard="shard-1"} 0']);
  });

  it('hold those of the process, and share nothing with another set', async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.lockBusy('RETRY');
    expect(await one.text()).toContain('process_cpu_seconds_total');
    expect(one.contentType).toContain('text/plain');
    expect((await ours(other)).filter((line) => line.includes('lock_busy'))).toEqual([]);
  });

  describe('reasons', () => {
    it.each([
      ['not-due', 'not-due'],
      ['INSUFFICIENT_FUNDS', 'INSUFFICIENT_FUNDS'],
      ['R01', 'R01'],
      ['a'.repeat(60), 'a'.repeat(60)],
      ['a'.repeat(61), 'other'],
      ['billing row u-1/2026: amount is no amount', 'other'],
      ['1234567890', 'other'],
      ['', 'other'],
    ])('%j is counted as %s', async (reason, label) => {
      const metrics = createMetrics();
      metrics.verdict('RETRY', 'malformed', reason);
      expect(reasonsIn(await ours(metrics))).toEqual([label]);
    });

    it('are limited in number, however many a processor thinks up', async () => {
      const metrics = createMetrics();
      metrics.verdict('RETRY', 'declined', 'first');
      for (let i = 0; i < 1_000; i += 1) metrics.verdict('RETRY', 'declined', `code-${i}`);
      metrics.verdict('RETRY', 'declined', 'first');
      const lines = await ours(metrics);
      expect(new Set(reasonsIn(lines)).size).toBeLessThanOrEqual(151);
      expect(lines).toContain('collections_verdicts_total{path="RETRY",verdict="declined",reason="first"} 2');
      expect(lines.some((line) => line.includes('reason="other"'))).toBe(true);
    });
  });

  describe('the depth of the queues', () => {
    const depths = async (metrics: Metrics) =>
      (await ours(metrics)).filter((line) => line.startsWith('collections_queue_jobs'));

    it('is asked for at each scrape, and what is gone is gone', async () => {
      const metrics = createMetrics();
      expect(await depths(metrics)).toEqual([]);
      const answers = [
        [
          { queue: 'janitor', state: 'waiting', count: 7 },
          { queue: 'janitor', state: 'failed', count: 1 },
        ],
        [{ queue: 'janitor', state: 'waiting', count: 5 }],
      ];
      metrics.onQueueDepth(async () => answers.shift() ?? []);
      expect(await depths(metrics)).toEqual([
        'collections_queue_jobs{queue="janitor",state="waiting"} 7',
        'collections_queue_jobs{queue="janitor",state="failed"} 1',
      ]);
      expect(await depths(metrics)).toEqual(['collections_queue_jobs{queue="janitor",state="waiting"} 5']);
    });

    it.each([
      ['fails', () => Promise.reject(new Error('Redis is away'))],
      ['never comes', () => new Promise<never>(() => undefined)],
    ])('leaves the other figures alone when the answer %s', async (_, read) => {
      const metrics = createMetrics();
      metrics.onQueueDepth(async () => [{ queue: 'janitor', state: 'waiting', count: 7 }]);
      await metrics.text();
      metrics.onQueueDepth(read);
      metrics.lockBusy('RETRY');
      const lines = await ours(metrics);
      expect(lines).toContain('collections_lock_busy_total{path="RETRY"} 1');
      expect(lines.filter((line) => line.startsWith('collections_queue_jobs'))).toEqual([]);
    });
  });
});
