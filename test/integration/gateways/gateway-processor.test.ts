import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Job } from 'bullmq';
import { DelayedError, UnrecoverableError, Worker } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY_PREFIX } from '../../../queues/connection.ts';
import { TRIES } from '../../../queues/options.ts';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { applyEvent } from '../../../src/app/gateways/apply-event.ts';
import type { ApplyEventDependencies } from '../../../src/app/gateways/apply-event.ts';
import { RecordChangedError, WriteUnknownError } from '../../../src/errors.ts';
import type { GatewaySubscriptions } from '../../../src/ports/gateways.ts';
import { gatewayProcessor } from '../../../workers/gateway-processor.ts';
import type { GatewayDesk } from '../../support/gateway-desk.ts';
import { gatewayDesk, newRef } from '../../support/gateway-desk.ts';
import { lemonSqueezy } from '../../support/gateway-payloads.ts';
import { eventually } from '../../support/processes.ts';

let desk: GatewayDesk;
let worker: Worker;
beforeAll(async () => {
  desk = await gatewayDesk();
  worker = new Worker('gateway-events', null, { connection: desk.redis.client, prefix: KEY_PREFIX });
});
afterAll(async () => {
  await worker.close();
  await desk.close();
});

/** An event that was received, and has a job that nobody has taken yet. */
async function received(ref = newRef()): Promise<string> {
  const custom = { app_id: 'app', user_id: `user-${randomUUID()}`, sku: 'pro' };
  const post = lemonSqueezy('subscription_created', { ref, at: '2026-11-01T10:00:00.000000Z', custom });
  const { body } = await desk.post(post);
  return body.event_id!;
}

/** Its job, as if it had been started and had failed so often before. */
async function take(eventId: string, { starts = 0, tries = 0 } = {}): Promise<Job> {
  const id = await eventually(
    'it has a job',
    async () => (await desk.queues.get('gateway-events').getJob(eventId))?.id,
  );
  await desk.redis.client.hset(`${KEY_PREFIX}:gateway-events:${id}`, { ats: starts, atm: tries });
  const job = await worker.getNextJob('token', { block: false });
  expect(job.id).toBe(eventId);
  return job;
}

/** With some of the store's answers replaced. */
const withStore = (change: Partial<GatewaySubscriptions>): ApplyEventDependencies => {
  const dependencies = desk.dependencies();
  const { gatewaySubscriptions: real } = dependencies;
  const gatewaySubscriptions: GatewaySubscriptions = {
    get: (id) => real.get(id),
    byRef: (gateway, ref) => real.byRef(gateway, ref),
    holderOf: (slot) => real.holderOf(slot),
    listByOwner: (ownerId, sku) => real.listByOwner(ownerId, sku),
    save: (one) => real.save(one),
    lapsed: (asOf, key) => real.lapsed(asOf, key),
    collisions: (key) => real.collisions(key),
    ...change,
  };
  return { ...dependencies, gatewaySubscriptions };
};

const run = (job: Job, gatewayEvents: ApplyEventDependencies = desk.dependencies()): Promise<unknown> =>
  gatewayProcessor({ gatewayEvents, queues: desk.queues, redis: desk.redis.client, log: NO_LOG })({
    job,
    token: 'token',
    queue: 'gateway-events',
  });

const outcomeOf = async (eventId: string) => (await desk.stores.gatewayEvents.get(eventId))?.outcome ?? null;

describe('the job of an event', () => {
  it('says what the event did, also when it did so before', async () => {
    const eventId = await received();
    const job = await take(eventId);
    const did = { result: 'applied', reason: 'paid', from: 'pending', to: 'active' };
    expect(await run(job)).toMatchObject(did);
    expect(await run(job)).toMatchObject(did);
    expect(JSON.parse(JSON.stringify(await run(job)))).toMatchObject(did);
  });

  it('of an event that is not there ends', async () => {
    const queue = desk.queues.get('gateway-events');
    await queue.add('x', { eventId: 'lemonsqueezy.1.nothing' }, { jobId: 'lemonsqueezy.1.nothing' });
    expect(await run(await take('lemonsqueezy.1.nothing'))).toEqual({ result: 'unknown-event' });
    await queue.add('x', {}, { jobId: 'nonsense' });
    const [job] = await queue.getJobs(['waiting']);
    await expect(run(job!)).rejects.toThrow(UnrecoverableError);
    await job!.remove();
  });

  it('waits for a store that does not know what it did, however long it takes', async () => {
    const eventId = await received();
    const job = await take(eventId, { starts: 5_000 });
    const unknown = withStore({ save: () => Promise.reject(new WriteUnknownError('nobody knows')) });
    await expect(run(job, unknown)).rejects.toThrow(DelayedError);
    expect(await outcomeOf(eventId)).toBeNull();
    await desk.queues.get('gateway-events').remove(eventId);
  });

  it('gives an event up that fails for a reason of its own, until somebody wants it again', async () => {
    const ref = newRef();
    const eventId = await received(ref);
    // As if somebody had mended a row by hand, and badly.
    const link = { pk: { S: `GATEWAYREF#lemonsqueezy#${ref}` }, sk: { S: 'LINK' } };
    const { client, tables } = desk.store;
    const put = (subscriptionId: string) =>
      client.send(
        new PutItemCommand({
          TableName: tables.pipeline,
          Item: { ...link, subscriptionId: { S: subscriptionId } },
        }),
      );
    await put('nothing');
    const job = await take(eventId, { tries: TRIES - 2 });
    await expect(run(job)).rejects.toThrow(/which is not there/);
    expect(await outcomeOf(eventId)).toBeNull();
    await desk.redis.client.hset(`${KEY_PREFIX}:gateway-events:${eventId}`, { atm: TRIES - 1 });
    const last = (await desk.queues.get('gateway-events').getJob(eventId))!;
    await expect(run(last)).rejects.toThrow(/which is not there/);
    expect(await outcomeOf(eventId)).toMatchObject({ result: 'failed', reason: 'unexpected-error' });
    expect(desk.alarms).toContainEqual(
      expect.objectContaining({ alarm: 'gateway-event', eventId, result: 'failed' }),
    );
    const { events } = await desk.stores.gatewayEvents.troubled(null);
    expect(events.map((event) => event.eventId)).toContain(eventId);
    // The sweep leaves it alone, and so does its job.
    expect(await run(last)).toMatchObject({ result: 'failed' });
  });
});

describe('whoever is slower', () => {
  it('decides again on what the other left, and gives up only for a while', async () => {
    const eventId = await received();
    let refusals = 3;
    const { gatewaySubscriptions: real } = desk.dependencies();
    const contended = withStore({
      save: (change) =>
        (refusals -= 1) >= 0
          ? Promise.reject(new RecordChangedError('somebody was faster'))
          : real.save(change),
    });
    expect(await applyEvent(contended, eventId)).toMatchObject({ result: 'applied' });
    const never = withStore({ save: () => Promise.reject(new RecordChangedError('somebody was faster')) });
    const other = await received();
    await expect(applyEvent(never, other)).rejects.toThrow(RecordChangedError);
    expect(await outcomeOf(other)).toBeNull();
  });

  it('finds that the other has applied the event', async () => {
    const eventId = await received();
    const dependencies = desk.dependencies();
    const { gatewaySubscriptions: real } = dependencies;
    let isFirst = true;
    const overtaken = withStore({
      async save(change) {
        if (isFirst) {
          isFirst = false;
          await applyEvent(dependencies, eventId);
        }
        return real.save(change);
      },
    });
    const outcome = await applyEvent(overtaken, eventId);
    expect(outcome).toEqual(await outcomeOf(eventId));
    expect((await real.get(outcome!.subscriptionId!))?.lockVersion).toBe(1);
  });
});
