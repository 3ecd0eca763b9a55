import type { Job } from 'bullmq';
import { DelayedError, UnrecoverableError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY_PREFIX, connectRedis } from '../../../queues/connection.ts';
import { collectionJobId } from '../../../queues/jobs.ts';
import { TRIES } from '../../../queues/options.ts';
import { QueueSet } from '../../../queues/queue-set.ts';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { createMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import type { NotifyDependencies } from '../../../src/app/notify/notify-record.ts';
import type { RunId } from '../../../src/domain/runs.ts';
import { ServiceDownError } from '../../../src/errors.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { notificationProcessor } from '../../../workers/notification-processor.ts';
import type { MembershipDesk } from '../../support/membership-desk.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import { accepted, askedFor, noticeDesk } from '../../support/notice-desk.ts';
import { at } from '../../support/records.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';
import type { World } from '../../support/world.ts';
import { world } from '../../support/world.ts';

const RUN = 'notify-20261116T150000Z' as RunId;
const A_DAY_OF_LOOKS = 24 * 60;

let here: World;
let desk: NotifyDependencies;
let memberships: MembershipDesk;
let redis: PrivateRedis;
let connection: Redis;
let queues: QueueSet;
let worker: Worker;
let record: StoredSubscription;

beforeAll(async () => {
  [here, redis] = await Promise.all([world(), privateRedis()]);
  desk = noticeDesk(here);
  memberships = membershipDesk(here);
  here.now = at('2026-11-16T15:00:00Z');
  connection = connectRedis({ url: redis.url, whenDown: 'wait', onError: () => undefined });
  queues = new QueueSet(connection);
  worker = new Worker('notifications', null, { connection, prefix: KEY_PREFIX });
});
afterAll(async () => {
  await worker.close();
  await queues.close();
  connection.disconnect();
  await redis.stop();
  await here.close();
});
beforeEach(async () => {
  // A job that was put off for a moment would come back among those of the next test.
  await queues.get('notifications').obliterate({ force: true });
  record = await here.member({}, { billingDate: at('2026-11-20T06:00:00Z') });
});
afterEach(() => here.faults([]));

/** The record's job, taken by a worker, as if it had been started and had failed so often before. */
async function take(before: { starts?: number; tries?: number } = {}, runId = RUN): Promise<Job> {
  const { userId, subscriptionId } = record;
  const data = { runId, pass: 1, userId, subscriptionId };
  const id = collectionJobId(data);
  await queues.get('notifications').add('notify', data, { jobId: id });
  const { starts = 0, tries = 0 } = before;
  await redis.client.hset(`${KEY_PREFIX}:notifications:${id}`, { ats: starts, atm: tries });
  const job = await worker.getNextJob('token', { block: false });
  expect(job.id).toBe(id);
  return job;
}

const run = (job: Job, notify: NotifyDependencies = desk): Promise<unknown> =>
  notificationProcessor({
    notify,
    queues,
    redis: redis.client,
    log: NO_LOG,
    metrics: createMetrics(),
  })({ job, token: 'token', queue: 'notifications' });

const verdict = async () => {
  const { userId, subscriptionId } = record;
  const query = { userId, subscriptionId, triggerId: RUN, accountId: null };
  return (await here.dependencies.pipeline.readBackground(query)).verdict;
};

const usersDown = () =>
  here.faults([{ id: 'down', service: 'users', fault: 'error-before', match: { user_id: record.userId } }]);

describe('a notice', () => {
  it('is of the day that its run is about', async () => {
    expect(await run(await take())).toEqual({ verdict: 'notified', reason: 'three_day_notification' });
    expect(await accepted(here, record)).toMatchObject([
      { dedupe_key: `${record.subscriptionId}.2026-11-20.three_day_notification` },
    ]);
  });

  it('of a run of another kind is never looked at again', async () => {
    const job = await take({}, 'scheduled-20261116T080000Z' as RunId);
    await expect(run(job)).rejects.toThrow(UnrecoverableError);
    expect(await askedFor(here, record)).toBe(0);
  });

  it.each([
    [1, 2_000],
    [30, 60_000],
  ])('waits for an event that is not applied, after %i looks for another %i ms', async (starts, waitMs) => {
    await memberships.store(record.userId, 'CANCEL');
    const job = await take({ starts });
    await expect(run(job)).rejects.toThrow(DelayedError);
    expect(await job.getState()).toBe('delayed');
    const { delay } = (await queues.get('notifications').getJob(job.id!))!;
    expect(Math.abs(delay - waitMs)).toBeLessThan(1_000);
    expect([await verdict(), await askedFor(here, record)]).toEqual([null, 0]);
  });

  it('waits for it no longer after a day, and the run is told why', async () => {
    await memberships.store(record.userId, 'CANCEL');
    const job = await take({ starts: A_DAY_OF_LOOKS - 1 });
    const deferred = { verdict: 'deferred', reason: 'membership-event-unapplied' };
    expect(await run(job)).toEqual(deferred);
    expect(await verdict()).toMatchObject(deferred);
  });

  it('waits for a service that is down, and it is not a failed try', async () => {
    await usersDown();
    const job = await take({ starts: A_DAY_OF_LOOKS - 2, tries: TRIES - 1 });
    await expect(run(job)).rejects.toThrow(DelayedError);
    expect([await job.getState(), await verdict()]).toEqual(['delayed', null]);
  });

  it('for which a service was down for a day fails like any other', async () => {
    await usersDown();
    const job = await take({ starts: A_DAY_OF_LOOKS - 1 });
    await expect(run(job)).rejects.toThrow(ServiceDownError);
    expect(await verdict()).toBeNull();
  });

  it('that failed for the last time leaves a verdict, or the run would not end', async () => {
    const broken = { ...desk, notices: { ...desk.notices, find: () => Promise.reject(new Error('odd')) } };
    await expect(run(await take({ tries: TRIES - 1 }), broken)).rejects.toThrow('odd');
    expect(await verdict()).toMatchObject({ verdict: 'failed', reason: 'unexpected-error' });
  });

  it('that will be tried again leaves none', async () => {
    const broken = { ...desk, notices: { ...desk.notices, find: () => Promise.reject(new Error('odd')) } };
    await expect(run(await take({ tries: TRIES - 2 }), broken)).rejects.toThrow('odd');
    expect(await verdict()).toBeNull();
  });
});
