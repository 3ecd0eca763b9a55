import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Job } from 'bullmq';
import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { userInfo } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KEY_PREFIX, connectRedis } from '../../../queues/connection.ts';
import { QueueSet } from '../../../queues/queue-set.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { InboxEvent } from '../../../src/ports/inbox.ts';
import { cli, figuresOf } from '../../support/cli.ts';
import type { InboxDesk } from '../../support/inbox-desk.ts';
import { CHANGED, NOW, anEvent, inboxDesk, newUser } from '../../support/inbox-desk.ts';
import { closedPort } from '../../support/processes.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';
import { sharedStack } from '../../support/stack.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';

let store: BillingStore;
let redis: PrivateRedis;
let connection: Redis;
let queues: QueueSet;
let desk: InboxDesk;
let user: UserId;
let event: InboxEvent;
let id: string;
beforeAll(async () => {
  [store, redis] = await Promise.all([billingStore(), privateRedis()]);
  desk = inboxDesk(store.client, store.tables);
  connection = connectRedis({ url: redis.url, whenDown: 'wait', onError: () => undefined });
  queues = new QueueSet(connection);
});
afterAll(async () => {
  await queues.close();
  connection.disconnect();
  await redis.stop();
  await store.drop();
});
beforeEach(async () => {
  user = newUser();
  event = anEvent(user, 1);
  id = `users.${user}.1`;
  await desk.inbox.store([event]);
  await desk.inbox.quarantine(event, 'the tier has no price', NOW);
});

const quarantine = (...args: string[]) => quarantineOn(redis.url, ...args);
const quarantineOn = (redisUrl: string, ...args: string[]) =>
  cli(['quarantine', ...args], {
    REDIS_URL: redisUrl,
    AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
    BILLING_TABLE: store.tables.billing,
    HISTORY_TABLE: store.tables.history,
    LOCKS_TABLE: store.tables.locks,
    PIPELINE_TABLE: store.tables.pipeline,
  });
const seen = () => desk.membershipEvent(user);
const inInbox = () => desk.inbox.earliest('users', user);
const jobs = () => queues.get('membership-events');

describe('quarantine list', () => {
  it('says what is in it and why, oldest first, for people and for machines', async () => {
    const raw = { stream: 'payments', shardId: user, sequence: '2', userId: 'somebody' as UserId } as const;
    await desk.inbox.quarantineRaw(raw, Buffer.from('{'), 'not JSON', plusMs(NOW, 1_000));
    const { code, error, out } = await quarantine('list', '--json');
    expect(code).toBe(0);
    expect(error).toMatch(new RegExp(`${id} .*2026-11-16T08:00:00Z .*CANCEL .*${user} .*has no price`));
    expect(error).toMatch(
      new RegExp(`payments.${user}.2 .*2026-11-16T08:00:01Z .*not readable .*somebody .*not JSON`),
    );
    const { quarantined } = figuresOf({ code, error, out }) as { quarantined: { id: string }[] };
    expect(quarantined.filter((one) => one.id.includes(user))).toEqual([
      {
        id,
        stream: 'users',
        at: '2026-11-16T08:00:00Z',
        reason: 'the tier has no price',
        user_id: user,
        type: 'CANCEL',
        data: event.data,
        raw: null,
        cut: false,
      },
      expect.objectContaining({ id: `payments.${user}.2`, user_id: 'somebody', type: null, raw: 'ew==' }),
    ]);
    expect((await quarantine('list')).out).toContain(id);
  });
});

describe('quarantine replay', () => {
  it('puts the event back into the inbox and hands it to the workers', async () => {
    const { code, out } = await quarantine('replay', id);
    expect([code, out]).toEqual([0, expect.stringContaining(`replayed: ${id} is back in the inbox`)]);
    expect(out).toContain('the workers have it');
    expect([await inInbox(), await seen()]).toEqual([event, 'unapplied']);
    const job = await jobs().getJob(id);
    expect([job?.name, job?.data, await job?.getState()]).toEqual([
      'CANCEL',
      { stream: 'users', shardId: user, sequence: '1', userId: user, type: 'CANCEL' },
      'waiting',
    ]);
  });

  it('hands it to the workers although its old job is still kept', async () => {
    await queues.addEvents([event]);
    const worker = new Worker(jobs().name, null, { connection, prefix: KEY_PREFIX });
    try {
      let taken: Job;
      do taken = await worker.getNextJob('token');
      while (taken.id !== id);
      await (await jobs().getJob(id))!.moveToCompleted({ result: 'quarantined' }, 'token', false);
    } finally {
      await worker.close();
    }
    expect(await (await jobs().getJob(id))!.getState()).toBe('completed');
    expect((await quarantine('replay', id)).out).toContain('the workers have it');
    expect(await (await jobs().getJob(id))!.getState()).toBe('waiting');
  });

  it('says so when Redis does not answer: the event is back, and the sweep does the rest', async () => {
    const { code, out } = await quarantineOn(`redis://127.0.0.1:${await closedPort()}`, 'replay', id);
    expect([code, out]).toEqual([0, expect.stringContaining(`replayed: ${id} is back in the inbox`)]);
    expect(out).toContain('! Redis does not answer: the sweep will hand it to the workers');
    expect(out).not.toContain('the workers have it');
    expect([await inInbox(), await seen()]).toEqual([event, 'unapplied']);
    expect(await jobs().getJob(id)).toBeUndefined();
  });

  it('shows later events that were applied, and then wants to be forced', async () => {
    const later = anEvent(user, 2, { type: 'RETRACT' });
    await desk.inbox.store([later]);
    await desk.commit(desk.inbox.applied(later, CHANGED, NOW));
    await desk.inbox.liftFlag(user);
    const refused = await quarantine('replay', id);
    expect(refused.code).toBe(1);
    expect(refused.out).toContain('applied meanwhile: RETRACT 2 at 2026-11-16T08:00:00Z');
    expect(refused.error).toContain(`1 later event was applied: --force replays ${id} all the same`);
    expect([await inInbox(), await seen()]).toEqual([null, 'quarantined']);
    const forced = await quarantine('replay', id, '--force');
    expect([forced.code, forced.out]).toEqual([0, expect.stringContaining('applied before it: RETRACT 2')]);
    expect(await inInbox()).toEqual(event);
  });

  it('reads a record again that could not be read, and says when it still cannot', async () => {
    const readable = { id: 'e-1', type: 'CANCEL', source: 'UserService', data: { user_id: user } };
    const bytes = (content: unknown) => Buffer.from(JSON.stringify(content));
    const position = (sequence: string) =>
      ({ stream: 'users', shardId: user, sequence, userId: user }) as const;
    await desk.inbox.quarantineRaw(position('0'), bytes(readable), 'an older reading of it', NOW);
    await desk.inbox.quarantineRaw(position('3'), bytes({ ...readable, data: {} }), 'no user', NOW);
    expect((await quarantine('replay', `users.${user}.0`)).code).toBe(0);
    expect(await inInbox()).toMatchObject({
      sequence: '0',
      userId: user,
      identity: 'e-1',
      data: readable.data,
    });
    const { code, error } = await quarantine('replay', `users.${user}.3`);
    expect([code, error]).toEqual([1, expect.stringContaining('still cannot be read')]);
  });

  it('is refused when the same event was applied after it was delivered again', async () => {
    const readable = { id: 'e-again', type: 'CANCEL', source: 'UserService', data: { user_id: user } };
    const position = { stream: 'users', shardId: user, sequence: '5', userId: user } as const;
    await desk.inbox.quarantineRaw(position, Buffer.from(JSON.stringify(readable)), 'an older reading', NOW);
    const again = anEvent(user, 7, { identity: 'e-again' });
    await desk.inbox.store([again]);
    await desk.inbox.saveApplied(again, CHANGED, NOW);
    const { code, error } = await quarantine('replay', `users.${user}.5`, '--force');
    expect([code, error]).toEqual([1, expect.stringContaining('was dealt with when it was delivered again')]);
    expect(await inInbox()).toBeNull();
    expect((await quarantine('drop', `users.${user}.5`, '--reason', 'applied as 7')).code).toBe(0);
  });

  it('waits for whoever works on the member', async () => {
    await store.takeLock(user);
    const { code, error } = await quarantine('replay', id);
    expect([code, error]).toEqual([1, expect.stringContaining('somebody works on this member right now')]);
    expect(await seen()).toBe('quarantined');
    await store.releaseLock(user);
    expect((await quarantine('replay', id)).code).toBe(0);
  });
});

describe('quarantine drop', () => {
  it.each([
    [[], userInfo().username],
    [['--who', 'olga'], 'olga'],
  ])('gives the event up, %j', async (who, name) => {
    const { code, out } = await quarantine('drop', id, '--reason', 'the member agreed', ...who);
    expect([code, out]).toEqual([0, expect.stringContaining(`dropped: ${id}`)]);
    expect([await inInbox(), await seen()]).toEqual([null, null]);
    const row = await store.client.send(
      new GetItemCommand({
        TableName: store.tables.pipeline,
        Key: { pk: { S: `QUARANTINE#${id}` }, sk: { S: 'ITEM' } },
      }),
    );
    expect(row.Item).toMatchObject({ decidedBy: { S: name }, decidedBecause: { S: 'the member agreed' } });
    expect((await quarantine('replay', id)).error).toContain('is not in quarantine');
  });

  it('wants a reason', async () => {
    expect((await quarantine('drop', id)).error).toContain('--reason');
    expect((await quarantine('drop', id, '--reason', ' ')).code).toBe(1);
    expect(await seen()).toBe('quarantined');
  });
});

it.each([[['replay', 'users.shard.9']], [['drop', 'users.shard.9', '--reason', 'x']]])(
  '%j says that there is no such thing',
  async (args) => {
    const { code, error } = await quarantine(...args);
    expect([code, error]).toEqual([1, expect.stringContaining('is not in quarantine; `quarantine list`')]);
  },
);

it.each(['list', 'replay', 'drop'])('%s has help', async (name) => {
  const { code, out } = await quarantine(name, '--help');
  expect([code, out]).toEqual([0, expect.stringContaining(`Usage: collections quarantine ${name}`)]);
});
