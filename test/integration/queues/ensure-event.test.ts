import type { Job } from 'bullmq';
import { UnrecoverableError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY_PREFIX, connectRedis } from '../../../queues/connection.ts';
import { eventJobId } from '../../../queues/jobs.ts';
import { QueueSet } from '../../../queues/queue-set.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { InboxEvent } from '../../../src/ports/inbox.ts';
import { at } from '../../support/records.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';

const TOKEN = 'token';
const EVENT: InboxEvent = {
  stream: 'users',
  shardId: 'shard-0',
  sequence: '1',
  identity: 'event-1',
  userId: 'user-1' as UserId,
  type: 'CANCEL',
  receivedAt: at('2026-11-16T08:00:00Z'),
  data: {},
};

let server: PrivateRedis;
let redis: Redis;
let queues: QueueSet;
let worker: Worker;
beforeAll(async () => {
  server = await privateRedis();
  redis = connectRedis({ url: server.url, whenDown: 'wait', onError: () => undefined });
  queues = new QueueSet(redis);
  worker = new Worker('membership-events', null, { connection: redis, prefix: KEY_PREFIX });
});
afterAll(async () => {
  await worker.close();
  await queues.close();
  redis.disconnect();
  await server.stop();
});

const jobOf = async (event: InboxEvent): Promise<Job> =>
  (await queues.get('membership-events').getJob(eventJobId(event)))!;

it('an event’s job that failed comes back with what it held and what was wrong, however many call it', async () => {
  await queues.addEvents([EVENT]);
  const job = await worker.getNextJob(TOKEN, { block: false });
  const data = { ...(job.data as object), note: 'of its own' };
  await job.updateData(data);
  await job.moveToFailed(new UnrecoverableError('odd'), TOKEN, false);
  expect(await (await jobOf(EVENT)).getState()).toBe('failed');

  await Promise.all([1, 2, 3].map(() => queues.ensureEvent(EVENT)));
  const back = await jobOf(EVENT);
  expect([await back.getState(), back.attemptsMade]).toEqual(['waiting', 0]);
  expect(back.data).toEqual(data);
  expect(back.stacktrace?.join()).toContain('odd');
});
