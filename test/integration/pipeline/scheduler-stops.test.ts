import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { createMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { startScheduler } from '../../../workers/start-scheduler.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';
import { sharedStack } from '../../support/stack.ts';

let store: BillingStore;
let redis: PrivateRedis;
beforeAll(async () => {
  [store, redis] = await Promise.all([billingStore(), privateRedis()]);
});
afterAll(async () => {
  await redis.stop();
  await store.drop();
});

it('a scheduler that has stopped keeps no timer, which would keep its process', async () => {
  const sleep = vi.spyOn(systemTimer, 'sleep');
  const environment = {
    REDIS_URL: redis.url,
    AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
    BILLING_TABLE: store.tables.billing,
    HISTORY_TABLE: store.tables.history,
    LOCKS_TABLE: store.tables.locks,
    PIPELINE_TABLE: store.tables.pipeline,
  };
  const scheduler = await startScheduler(environment, { log: NO_LOG, metrics: createMetrics() });
  sleep.mockClear();
  await scheduler.stop();
  const slept = sleep.mock.calls.map(([, signal]) => signal?.aborted);
  expect(slept.length).toBeGreaterThan(0);
  expect(slept.filter((aborted) => aborted !== true)).toEqual([]);
  sleep.mockRestore();
});
