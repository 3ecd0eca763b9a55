import { UnrecoverableError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY_PREFIX, connectRedis } from '../../../queues/connection.ts';
import { pageJobId } from '../../../queues/jobs.ts';
import { QueueSet } from '../../../queues/queue-set.ts';
import { runId } from '../../../src/domain/runs.ts';
import { eventually } from '../../support/processes.ts';
import { at } from '../../support/records.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';

let server: PrivateRedis;
let redis: Redis;
let queues: QueueSet;
beforeAll(async () => {
  server = await privateRedis();
  redis = connectRedis({ url: server.url, whenDown: 'wait', onError: () => undefined });
  queues = new QueueSet(redis);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

async function working(): Promise<{ readonly taken: unknown[]; stop(): Promise<void> }> {
  const taken: unknown[] = [];
  const process = async ({ data }: { readonly data: unknown }): Promise<void> => void taken.push(data);
  const worker = new Worker('collection-pages', process, { connection: redis, prefix: KEY_PREFIX });
  worker.on('error', () => undefined);
  await worker.waitUntilReady();
  return { taken, stop: () => worker.close() };
}

it('a page that was done while its run stood elsewhere is taken again, and one that waits is not added twice', async () => {
  const page = { runId: runId('scheduled', at('2026-11-16T08:00:00Z')), pass: 2, page: 0 };
  const queue = queues.get('collection-pages');
  await queues.addPage(page);
  await queues.ensurePage(page);
  expect(await queue.getJobCounts('waiting')).toEqual({ waiting: 1 });
  const worker = await working();
  await eventually('it is done', async () => (await queue.getJobCounts('completed'))['completed'] === 1);
  await queues.addPage(page);
  expect(worker.taken).toHaveLength(1);
  await queues.ensurePage(page);
  await eventually('it is taken again', () => worker.taken.length === 2);
  await worker.stop();
});

it('a page that failed comes back however many call it, and may fail as often as a new one', async () => {
  const page = { runId: runId('scheduled', at('2026-11-17T08:00:00Z')), pass: 1, page: 0 };
  await queues.addPage(page);
  const worker = new Worker('collection-pages', null, { connection: redis, prefix: KEY_PREFIX });
  const job = await worker.getNextJob('token', { block: false });
  await job.moveToFailed(new UnrecoverableError('odd'), 'token', false);
  await Promise.all([1, 2, 3].map(() => queues.ensurePage(page)));
  const back = (await queues.get('collection-pages').getJob(pageJobId(page)))!;
  expect([await back.getState(), back.attemptsMade]).toEqual(['waiting', 0]);
  await worker.close();
});
