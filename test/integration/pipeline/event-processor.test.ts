import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Job } from 'bullmq';
import { DelayedError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY_PREFIX, connectRedis } from '../../../queues/connection.ts';
import type { EventJob } from '../../../queues/jobs.ts';
import { QUEUE_OF_STREAM, eventJobId } from '../../../queues/jobs.ts';
import { QueueSet } from '../../../queues/queue-set.ts';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { applyMembership } from '../../../src/app/apply-membership.ts';
import { applyPaymentEvent } from '../../../src/app/apply-payment-event.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { EventStream, InboxEvent } from '../../../src/ports/inbox.ts';
import { EVENT_STREAMS } from '../../../src/ports/inbox.ts';
import { floatLockKey, subscriptionLockKey } from '../../../src/ports/lock.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { ApplyEvent } from '../../../workers/event-processor.ts';
import { eventProcessor } from '../../../workers/event-processor.ts';
import type { Fault, Faults } from '../../support/dynamo-faults.ts';
import {
  cancelled,
  connectionReset,
  fail,
  injectFaults,
  serverFailed,
  throttled,
  timedOut,
} from '../../support/dynamo-faults.ts';
import type { MembershipDesk } from '../../support/membership-desk.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import type { PaymentDesk } from '../../support/payment-desk.ts';
import { paymentDesk } from '../../support/payment-desk.ts';
import { at } from '../../support/records.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';
import type { World } from '../../support/world.ts';
import { world } from '../../support/world.ts';

const NOW = at('2026-11-16T08:00:00Z');
const TOKEN = 'token';

let here: World;
let memberships: MembershipDesk;
let payments: PaymentDesk;
let redis: PrivateRedis;
let connection: Redis;
let queues: QueueSet;
let workers: Record<EventStream, Worker>;
let faults: Faults;
let record: StoredSubscription;

beforeAll(async () => {
  [here, redis] = await Promise.all([world({ withFloats: true }), privateRedis()]);
  memberships = membershipDesk(here);
  payments = paymentDesk(here);
  connection = connectRedis({ url: redis.url, whenDown: 'wait', onError: () => undefined });
  queues = new QueueSet(connection);
  const worker = (stream: EventStream) =>
    new Worker(QUEUE_OF_STREAM[stream], null, { connection, prefix: KEY_PREFIX });
  workers = { users: worker('users'), payments: worker('payments') };
});
afterAll(async () => {
  for (const stream of EVENT_STREAMS) await workers[stream].close();
  await queues.close();
  connection.disconnect();
  await redis.stop();
  await payments.close();
  await here.close();
});
beforeEach(async () => {
  here.now = NOW;
  faults = injectFaults(here.store.client);
  for (const stream of EVENT_STREAMS) await queues.get(QUEUE_OF_STREAM[stream]).obliterate({ force: true });
  record = await here.member();
});
afterEach(async () => {
  faults.remove();
  await here.faults([]);
});

/** The event's job, in the hands of a worker; one that was put off is called first. */
async function take(event: InboxEvent): Promise<Job<EventJob>> {
  await queues.ensureEvent(event);
  const job = (await workers[event.stream].getNextJob(TOKEN, { block: false })) as Job<EventJob>;
  expect(job.id).toBe(eventJobId(event));
  return job;
}

const APPLY: Record<EventStream, ApplyEvent> = {
  users: (event, seen) => applyMembership(memberships.dependencies, event, seen),
  payments: (event, seen) => applyPaymentEvent(payments.dependencies, event, seen),
};

async function run(job: Job<EventJob>, apply = APPLY[job.data.stream]): Promise<unknown> {
  const { dependencies: collect } = here;
  const context = { collect, inbox: memberships.inbox, queues, redis: redis.client, log: NO_LOG };
  const queue = QUEUE_OF_STREAM[job.data.stream];
  const result = await eventProcessor(context, apply)({ job, token: TOKEN, queue });
  await job.moveToCompleted(result, TOKEN, false);
  return result;
}

/** By how long it was put off. */
async function putOff(job: Job<EventJob>, apply?: ApplyEvent): Promise<number> {
  await expect(run(job, apply)).rejects.toThrow(DelayedError);
  expect(await job.getState()).toBe('delayed');
  return (await queues.get(QUEUE_OF_STREAM[job.data.stream]).getJob(job.id!))!.delay;
}

/** Counts one itself. */
const triesOf = async (event: InboxEvent): Promise<number> =>
  (await memberships.inbox.countTry(event, 'the test looks')) - 1;
const stateOf = async (event: InboxEvent): Promise<unknown> =>
  (await queues.get(QUEUE_OF_STREAM[event.stream]).getJob(eventJobId(event)))?.getState();
const seen = async (): Promise<unknown> => {
  const { userId, subscriptionId } = record;
  const query = { userId, subscriptionId, triggerId: '', accountId: null };
  return (await here.dependencies.pipeline.readBackground(query)).membershipEvent;
};

const QUARANTINED = { result: 'quarantined' };

describe('an event of its user', () => {
  it('waits for the one before it while that fails, and is called when that is in quarantine', async () => {
    const first = await memberships.store(record.userId, 'SUB_PAUSED', { pause_duration_months: 1 });
    const second = await memberships.store(record.userId, 'CANCEL');
    const applied: InboxEvent[] = [];
    const apply: ApplyEvent = async (event, before) => {
      applied.push(event);
      if (event.identity === first.identity) throw new Error('odd');
      return APPLY.users(event, before);
    };
    const early = await take(second);
    expect(await putOff(early, apply)).toBeGreaterThan(0);
    expect(applied).toEqual([]);
    // It would come by itself in a moment, among the tries of the first.
    await early.changeDelay(600_000);
    for (const tries of [1, 2]) {
      expect(await putOff(await take(first), apply)).toBeGreaterThan(0);
      expect([applied.length, await stateOf(second)]).toEqual([tries, 'delayed']);
    }
    expect(await run(await take(first), apply)).toMatchObject({ ...QUARANTINED, reason: 'unexpected-error' });
    expect(await stateOf(second)).toBe('waiting');
    expect(await run(await take(second), apply)).toMatchObject({ result: 'changed' });
    expect(await here.row(record)).toMatchObject({ updatedEvent: 'PENDING_CANCELLATION' });
    expect(await seen()).toBe('quarantined');
  });

  it('that waits for its turn looks by itself more and more seldom', async () => {
    await memberships.store(record.userId, 'SUB_PAUSED', { pause_duration_months: 1 });
    const second = await memberships.store(record.userId, 'CANCEL');
    const waits: number[] = [];
    for (let look = 1; look <= 8; look += 1) waits.push(await putOff(await take(second)));
    const seconds = waits.map((ms) => Math.round(ms / 1_000));
    expect(seconds).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('is called when the one before it ends between its look and its going to wait', async () => {
    const first = await memberships.store(record.userId, 'CANCEL');
    const second = await memberships.store(record.userId, 'RETRACT');
    const early = await take(second);
    const goToWait = early.moveToDelayed.bind(early);
    early.moveToDelayed = async (...args) => {
      expect(await run(await take(first))).toMatchObject({ result: 'changed' });
      expect(await stateOf(second)).toBe('active');
      await goToWait(...args);
    };
    await expect(run(early)).rejects.toThrow(DelayedError);
    expect(await stateOf(second)).toBe('waiting');
    expect(await run(await take(second))).toMatchObject({ result: 'changed' });
  });

  it('that was dealt with before is not applied again, and nobody waits for it', async () => {
    const event = await memberships.store(record.userId, 'CANCEL');
    const later = await memberships.store(record.userId, 'RETRACT');
    await putOff(await take(later));
    const again = await take(event);
    await APPLY.users(event, undefined);
    expect(await run(again)).toEqual({ result: 'no-op', reason: 'dealt-with' });
    // Whoever applied it died before calling the next one.
    expect(await stateOf(later)).toBe('waiting');
    expect(await run(await take(later))).toMatchObject({ result: 'changed' });
  });

  it('about a record that is not there yet is looked at again for fifteen minutes, then in quarantine', async () => {
    const unknown = { ...record, subscriptionId: 'nobody-knows-it' as typeof record.subscriptionId };
    const event = await payments.receive('COMPLETED', unknown, { confirmation_id: 'c-1' });
    here.now = plusMs(NOW, 899_000);
    expect(Math.abs((await putOff(await take(event))) - 30_000)).toBeLessThan(1_000);
    expect(await payments.isWaiting(event)).toBe(true);
    here.now = plusMs(NOW, 900_000);
    expect(await run(await take(event))).toEqual({ ...QUARANTINED, reason: 'unknown-record' });
    expect(await payments.isWaiting(event)).toBe(false);
  });

  it('about a float that is not there yet is waited for as long', async () => {
    const data = {
      user_id: record.userId,
      float_id: 'nobody-knows-it',
      confirmation_id: 'c-2',
      amount: '60.00',
    };
    const event = await payments.receiveRaw({
      type: 'FLOAT_DEBIT_COMPLETED',
      userId: record.userId,
      data: { ...data, status: 'COMPLETED' },
    });
    here.now = plusMs(NOW, 899_000);
    expect(Math.abs((await putOff(await take(event))) - 30_000)).toBeLessThan(1_000);
    here.now = plusMs(NOW, 900_000);
    expect(await run(await take(event))).toEqual({ ...QUARANTINED, reason: 'unknown-record' });
    expect(await payments.isWaiting(event)).toBe(false);
    // Only what may be a cancellation holds anybody up.
    expect(await seen()).toBeNull();
  });
});

describe('what is nobody’s fault', () => {
  it('is not counted while the user service is down, however often it is tried', async () => {
    await here.faults([
      { id: 'down', service: 'users', fault: 'error-before', match: { user_id: record.userId } },
    ]);
    const event = await memberships.store(record.userId, 'CANCEL');
    for (const starts of [0, 5, 100, 10_000]) {
      await queues.ensureEvent(event);
      await redis.client.hset(`${KEY_PREFIX}:membership-events:${eventJobId(event)}`, { ats: starts });
      expect(await putOff(await take(event))).toBeLessThanOrEqual(60_000);
    }
    expect([await triesOf(event), await seen()]).toEqual([0, 'unapplied']);
    await here.faults([]);
    expect(await run(await take(event))).toMatchObject({ result: 'changed' });
  });

  const readsRecords = (input: Record<string, unknown>): boolean =>
    input['TableName'] === here.store.tables.billing;
  const hiccups: [string, string, Fault][] = [
    ['reads are throttled', 'QueryCommand', fail(throttled())],
    ['it fails at reads', 'QueryCommand', fail(serverFailed())],
    ['reads are not answered', 'QueryCommand', fail(timedOut())],
    ['it cannot be reached', 'QueryCommand', fail(connectionReset())],
    [
      'its name cannot be found',
      'QueryCommand',
      fail(Object.assign(new Error('injected'), { code: 'ENOTFOUND' })),
    ],
  ];

  it.each(hiccups)('is not counted while the store has a hiccup: %s', async (_, command, fault) => {
    const event = await memberships.store(record.userId, 'CANCEL');
    const script = faults.script(command, fault, { times: Infinity, when: readsRecords });
    for (let round = 1; round <= 4; round += 1) {
      expect(await putOff(await take(event))).toBeGreaterThan(0);
      expect(script.hits).toBe(round);
    }
    faults.clear();
    expect([await triesOf(event), await seen()]).toEqual([0, 'unapplied']);
    expect(await run(await take(event))).toMatchObject({ result: 'changed' });
  });

  it('is not counted, and fails no job, while nobody can tell whose turn it is', async () => {
    const event = await memberships.store(record.userId, 'CANCEL');
    const readsInbox = ({ TableName }: Record<string, unknown>): boolean =>
      TableName === here.store.tables.pipeline;
    faults.script('QueryCommand', fail(timedOut()), { times: Infinity, when: readsInbox });
    for (let round = 1; round <= 4; round += 1) expect(await putOff(await take(event))).toBeGreaterThan(0);
    faults.clear();
    expect([await triesOf(event), await seen()]).toEqual([0, 'unapplied']);
    expect(await run(await take(event))).toMatchObject({ result: 'changed' });
  });

  const writesLocks = (input: Record<string, unknown>): boolean =>
    input['TableName'] === here.store.tables.locks;
  const silences: [string, Fault][] = [
    ['its writes are throttled', fail(throttled())],
    ['its writes are not answered', fail(timedOut())],
    ['it cannot be reached', fail(connectionReset())],
  ];

  it.each(silences)('is not counted while the table of the locks does not answer: %s', async (_, fault) => {
    const event = await memberships.store(record.userId, 'CANCEL');
    faults.script('PutItemCommand', fault, { times: Infinity, when: writesLocks });
    for (let round = 1; round <= 4; round += 1) expect(await putOff(await take(event))).toBeGreaterThan(0);
    faults.clear();
    expect([await triesOf(event), await seen()]).toEqual([0, 'unapplied']);
    expect(await run(await take(event))).toMatchObject({ result: 'changed' });
  });

  it.each([
    ['writes are throttled', fail(throttled())],
    ['others write the same', fail(cancelled('None', 'TransactionConflict'))],
  ])('is not counted when the store takes no change for long: %s', async (_, fault) => {
    const event = await memberships.store(record.userId, 'CANCEL');
    const script = faults.script('TransactWriteItemsCommand', fault, { times: 8 });
    expect(await putOff(await take(event))).toBeGreaterThan(0);
    expect(script.hits).toBe(8);
    expect(await triesOf(event)).toBe(0);
    expect(await run(await take(event))).toMatchObject({ result: 'changed' });
  });

  it('is not counted when Redis forgets the job while somebody else works on its user', async () => {
    const event = await memberships.store(record.userId, 'CANCEL');
    const job = await take(event);
    const busy: ApplyEvent = async () => {
      await redis.client.flushall();
      return { busy: { version: 'somebody', leaseMs: 3_000 } };
    };
    await expect(run(job, busy)).rejects.toThrow('Missing key for job');
    expect(await triesOf(event)).toBe(0);
    expect(await run(await take(event))).toMatchObject({ result: 'changed' });
  });
});

describe('an event that cannot be applied', () => {
  /** Its identity is quoted when it is refused, and must not be taken for what went wrong. */
  const malformed = async (): Promise<InboxEvent> => {
    const event = memberships.event(record.userId, 'CANCEL', { term: 'WEEKLY' });
    const named = { ...event, identity: `socket-timeout-${event.identity}` };
    await memberships.inbox.store([named]);
    return named;
  };

  const malformedFloat = (): Promise<InboxEvent> =>
    payments.receiveRaw({
      type: 'FLOAT_DEBIT_COMPLETED',
      userId: record.userId,
      data: { confirmation_id: 'c-3' },
    });

  it.each([
    ['user', malformed, subscriptionLockKey],
    ['floats', malformedFloat, floatLockKey],
  ])('goes to quarantine under the lock of its %s', async (_, event, lockKey) => {
    const job = await take(await event());
    const gate = faults.hold('TransactWriteItemsCommand');
    const result = run(job);
    await gate.reached;
    const key = lockKey(record.userId);
    expect(await payments.dependencies.locks.acquire(key)).toHaveProperty('busy');
    gate.open();
    expect(await result).toEqual({ ...QUARANTINED, reason: 'malformed-event' });
    const free = await payments.dependencies.locks.acquire(key);
    expect(free).toHaveProperty('lock');
    if ('lock' in free) await free.lock.release();
  });

  /** A lock whose holder says nothing any more. */
  const somebodyDied = (): Promise<unknown> =>
    here.store.client.send(
      new PutItemCommand({
        TableName: here.store.tables.locks,
        Item: {
          PartitionKey: { S: subscriptionLockKey(record.userId) },
          ownerName: { S: 'dead' },
          recordVersionNumber: { S: 'its-last' },
          leaseDuration: { S: '20s' },
        },
      }),
    );

  it('waits for whoever works on its user, and takes the lock of one who is dead', async () => {
    const event = await malformed();
    await somebodyDied();
    expect(await putOff(await take(event))).toBeLessThan(1_000);
    const job = await take(event);
    const { seen: first } = job.data;
    expect(first).toMatchObject({ looks: 1 });
    const longAgo = { ...first!, seenAtMs: first!.seenAtMs - first!.leaseMs - 60_000 };
    await job.updateData({ ...job.data, seen: longAgo });
    expect(await run(job)).toEqual({ ...QUARANTINED, reason: 'malformed-event' });
    expect(await seen()).toBe('quarantined');
  });
});
