import { describe, expect, it } from 'vitest';
import { readGauges } from '../../../dashboard/gauges.ts';
import { createMetrics } from '../../../src/adapters/metrics/prometheus.ts';

describe('what other processes say of themselves', () => {
  it('is read from their metrics: the worst shard of each stream, and an open breaker of any', async () => {
    const [workers, bridges] = [createMetrics(), createMetrics()];
    workers.attempt('ACH', 'ACHSENT');
    bridges.streamLag('users', 'shard-1', 500);
    bridges.streamLag('users', 'shard-2', 90_000);
    bridges.streamLag('payments', 'shard-1', 0);
    const texts = () => Promise.all([workers.text(), bridges.text()]);
    expect(await readGauges(texts)).toEqual({
      breaker: 'closed',
      lags: [
        { stream: 'payments', seconds: 0 },
        { stream: 'users', seconds: 90 },
      ],
    });
    workers.processorBreaker('open');
    expect((await readGauges(texts)).breaker).toBe('open');
  });

  it('is not made up where nobody has charged anything', async () => {
    expect(await readGauges(async () => [await createMetrics().text()])).toEqual({ breaker: null, lags: [] });
  });
});
