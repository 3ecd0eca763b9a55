import { randomUUID } from 'node:crypto';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant, plusMs } from '../../../src/domain/instant.ts';
import type { Float } from '../../../src/domain/floats/float.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { EventStreamBench } from '../../support/event-stream.ts';
import { eventStream } from '../../support/event-stream.ts';
import { floatDesk } from '../../support/float-desk.ts';
import type { Pipeline, RunningProcess } from '../../support/pipeline.ts';
import { TICK, pipeline } from '../../support/pipeline.ts';
import { eventually } from '../../support/processes.ts';
import { sharedStack } from '../../support/stack.ts';
import { DynamoQuarantine } from '../../../src/adapters/dynamodb/quarantine.ts';
import { BatchReader } from '../../../src/adapters/dynamodb/batch-reader.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';

let system: Pipeline;
let users: EventStreamBench;
let payments: EventStreamBench;
let worker: RunningProcess;

beforeAll(async () => {
  [system, users, payments] = await Promise.all([pipeline(), eventStream(2), eventStream(1)]);
  await system.bridge({
    AWS_ENDPOINT_URL_KINESIS: sharedStack().kinesisUrl,
    USERS_STREAM: users.name,
    PAYMENTS_STREAM: payments.name,
  });
  worker = await system.worker();
});
afterAll(async () => {
  users.close();
  payments.close();
  await system.close();
});
afterEach(() => system.here.faults([]));

const record = (userId: string, type: string, data: object = {}) => ({
  key: userId,
  data: JSON.stringify({ id: randomUUID(), type, source: 'UserService', data: { user_id: userId, ...data } }),
});

const becomes = (what: StoredSubscription, expected: object) =>
  eventually(`${what.userId} becomes ${JSON.stringify(expected)}`, async () => {
    const row = await system.here.row(what);
    return Object.entries(expected).every(([name, value]) => row[name as keyof typeof row] === value);
  });

/** What the worker said about each event of the user, in its order. */
function eventsSaid(userId: string): string[] {
  const output = worker.output();
  return output
    .slice(0, output.lastIndexOf('\n'))
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(userId))
    .map((line) => JSON.parse(line) as { msg: string; type?: string; eventType?: string })
    .filter(({ type, eventType }) => type !== undefined || eventType !== undefined)
    .map(({ msg, type, eventType }) => `${type ?? eventType}: ${msg}`);
}

describe('membership events on the stream', () => {
  it('change the records of their members, in each one’s order', async () => {
    const members = await system.members(5);
    const [cancelled, paused, resumed, closed, retracted] = members as [
      StoredSubscription,
      StoredSubscription,
      StoredSubscription,
      StoredSubscription,
      StoredSubscription,
    ];
    await users.put([
      record(cancelled.userId, 'CANCEL'),
      record(paused.userId, 'SUB_PAUSED', { pause_duration_months: 2 }),
      record(resumed.userId, 'SUB_PAUSED', { pause_duration_months: 1 }),
      record(resumed.userId, 'UNPAUSE'),
      record(closed.userId, 'CLOSEACCOUNT'),
      record(retracted.userId, 'CANCEL'),
      record(retracted.userId, 'RETRACT', { term: 'MONTHLY' }),
      record(cancelled.userId, 'UPGRADE'),
    ]);
    await becomes(cancelled, { billingStatus: 'SCHEDULED', updatedEvent: 'PENDING_CANCELLATION' });
    await becomes(paused, { billingStatus: 'PAUSED', pauseDurationMonths: 2 });
    await becomes(resumed, { billingStatus: 'SCHEDULED', updatedEvent: 'UNPAUSE' });
    await becomes(closed, { billingStatus: 'CANCELLED', updatedEvent: 'account-closed' });
    const causes = async ({ subscriptionId }: StoredSubscription) =>
      (await system.here.store.history.getByID(subscriptionId)).entries.map(({ data }) => data['cause']);
    await eventually('both were applied', async () => (await causes(retracted)).length === 3);
    expect(await causes(retracted)).toEqual(['plan-changed', 'membership-cancelled', 'membership-retracted']);
    expect(await system.audit()).toEqual([]);
  });

  it('wait for the user service, in their order, and nobody lands in quarantine; others go on', async () => {
    const [waiting, other] = await system.members(2);
    await system.here.faults([
      { id: 'down', service: 'users', fault: 'error-before', match: { user_id: waiting!.userId } },
    ]);
    await users.put([
      record(waiting!.userId, 'SUB_PAUSED', { pause_duration_months: 1 }),
      record(waiting!.userId, 'UNPAUSE'),
      record(other!.userId, 'CANCEL'),
    ]);
    await becomes(other!, { updatedEvent: 'PENDING_CANCELLATION' });
    await eventually('it was tried', () => worker.output().includes('service-down'));
    expect(await system.here.row(waiting!)).toMatchObject({ billingStatus: 'SCHEDULED', updatedEvent: '' });
    // Whoever may have cancelled is not charged meanwhile.
    const known = await system.here.dependencies.pipeline.readBackground({
      ...waiting!,
      triggerId: '',
      accountId: null,
    });
    expect(known.membershipEvent).toBe('unapplied');
    await system.here.faults([]);
    await becomes(waiting!, { billingStatus: 'SCHEDULED', updatedEvent: 'UNPAUSE' });
  });

  it('that fail three times go to quarantine; the next one of the member waits until then, others do not', async () => {
    const [troubled, other] = await system.members(2, {}, { term: 'YEARLY' });
    const { userId, subscriptionId } = troubled!;
    // Only whoever changes the term looks whether the record is being charged, and this cannot be read.
    const { client, tables } = system.here.store;
    const state = { TableName: tables.pipeline, Key: marshall({ pk: `SUB#${subscriptionId}`, sk: 'STATE' }) };
    await client.send(new PutItemCommand({ ...state, Item: { ...state.Key, open: { S: 'spoilt' } } }));
    await users.put([
      record(userId, 'SUB_PAUSED', { pause_duration_months: 1 }),
      record(userId, 'CANCEL'),
      record(other!.userId, 'CANCEL'),
    ]);
    await becomes(other!, { updatedEvent: 'PENDING_CANCELLATION' });
    await becomes(troubled!, { billingStatus: 'SCHEDULED', updatedEvent: 'PENDING_CANCELLATION' });
    // The second was applied after the last try of the first.
    const said = await eventually('the worker says so', () => {
      const lines = eventsSaid(userId);
      return lines.some((line) => line.startsWith('CANCEL')) && lines;
    });
    expect(said).toEqual([
      ...Array.from({ length: 3 }, () => 'SUB_PAUSED: an event failed'),
      'SUB_PAUSED: an event waits for somebody',
      'CANCEL: membership event applied',
    ]);
    // The member is deferred until somebody has looked at the first.
    await client.send(new DeleteItemCommand(state));
    const known = () =>
      system.here.dependencies.pipeline.readBackground({ ...troubled!, triggerId: '', accountId: null });
    await eventually('only the mark is left', async () => (await known()).membershipEvent === 'quarantined');
  });

  it('are applied in the end although Redis forgot their jobs', async () => {
    const members = await system.members(3);
    await system.here.faults([{ id: 'down', service: 'users', fault: 'error-before' }]);
    await users.put(
      members.flatMap(({ userId }) => [
        record(userId, 'SUB_PAUSED', { pause_duration_months: 1 }),
        record(userId, 'UNPAUSE'),
      ]),
    );
    await eventually('their jobs wait', async () => {
      const depths = await system.queues.depths(['membership-events']);
      return depths.find(({ state }) => state === 'delayed')?.count === 2 * members.length;
    });
    await system.redis.client.flushall();
    expect(await system.queues.isDrained('membership-events')).toBe(true);
    await system.here.faults([]);
    await system.here.bank('PUT', '/clock', { now: formatInstant(plusMs(TICK, 120_000)), frozen: true });
    const scheduler = await system.scheduler();
    for (const member of members)
      await becomes(member, { billingStatus: 'SCHEDULED', updatedEvent: 'UNPAUSE' });
    expect(await scheduler.stop()).toBe(0);
  });

  it('a poison record in the middle goes to quarantine, and those behind it are applied', async () => {
    const [member] = await system.members(1);
    const { userId } = member!;
    await users.put([{ key: userId, data: '{"id": "cut off' }, record(userId, 'CANCEL')]);
    await becomes(member!, { updatedEvent: 'PENDING_CANCELLATION' });
    const { client, tables } = system.here.store;
    const machine = { client, timer: systemTimer, random: Math.random };
    const quarantine = new DynamoQuarantine({
      client,
      table: tables.pipeline,
      reader: new BatchReader({ ...machine, table: tables.pipeline }),
      transactor: new Transactor({ ...machine, locksTable: tables.locks }),
      ids: randomUUID,
    });
    const { items } = await quarantine.list(null);
    const unread = items.filter(({ event }) => event === null);
    expect(unread).toMatchObject([{ stream: 'users' }]);
    expect(Buffer.from(unread[0]!.raw!, 'base64').toString()).toBe('{"id": "cut off');
  });
});

describe('payment events on the stream', () => {
  const payment = (userId: string, type: string, data: object) => ({
    key: userId,
    data: JSON.stringify({
      id: (data as { confirmation_id: string }).confirmation_id,
      type,
      source: 'PaymentsService',
      data: { user_id: userId, amount: '4.99', ...data },
    }),
  });

  it('complete what was sent to the bank, once however often they come, and take back what came back', async () => {
    const [paid, returned] = await system.members(2, { has_debit_card: false });
    for (const record_ of [paid!, returned!])
      expect(await system.here.collect('INITIAL', record_)).toMatchObject({ verdict: 'sent' });
    const confirmation = async (one: StoredSubscription) => ({
      subscription_id: one.subscriptionId,
      confirmation_id: (await system.here.row(one)).transactionId,
    });
    const completed = payment(paid!.userId, 'SUBSCRIPTION_COMPLETED', {
      ...(await confirmation(paid!)),
      status: 'COMPLETED',
    });
    await payments.put([
      completed,
      completed,
      payment(returned!.userId, 'SUBSCRIPTION_RETURNED', {
        ...(await confirmation(returned!)),
        status: 'FAILED',
        return_code: 'R01',
        error_message: 'insufficient funds',
      }),
      payment(paid!.userId, 'SOMETHING_ELSE', { confirmation_id: 'x' }),
    ]);
    await becomes(paid!, { billingStatus: 'COMPLETED', updatedEvent: 'payment-completed' });
    await becomes(returned!, { billingStatus: 'ERROR' });
    await eventually('nothing waits any more', () => system.queues.isDrained('ach-events'));
    const causes = (await system.here.store.history.getByID(paid!.subscriptionId)).entries.map(
      ({ data }) => data['cause'],
    );
    expect(causes.filter((cause) => cause === 'ach-completed')).toHaveLength(1);
  });

  it('bring floats to where the bank has them, and send whose advance came back', async () => {
    const desk = floatDesk(system.here);
    const sent = async (): Promise<Float> => {
      const float = await desk.float({ has_debit_card: false });
      expect(await desk.collect('TODAY6AM', float)).toMatchObject({ verdict: 'sent' });
      return desk.row(float);
    };
    const [paid, returned, sentBack] = [await sent(), await sent(), await sent()];
    const told = ({ floatId, confirmationId }: Float, status: string) => ({
      float_id: floatId,
      confirmation_id: confirmationId,
      status,
    });
    await payments.put([
      payment(paid.userId, 'FLOAT_DEBIT_COMPLETED', told(paid, 'COMPLETED')),
      payment(returned.userId, 'FLOAT_DEBIT_RETURNED', told(returned, 'FAILED')),
      payment(sentBack.userId, 'FLOAT_CREDIT_RETURNED', {
        ...told(sentBack, 'FAILED'),
        confirmation_id: 'credit',
      }),
    ]);
    const ends = [
      [paid, 'COMPLETED'],
      [returned, 'RETRY'],
      [sentBack, 'DEFAULTED'],
    ] as const;
    for (const [float, status] of ends)
      await eventually(`it is ${status}`, async () => (await desk.row(float)).status === status);
    expect(await system.here.dependencies.users.get(sentBack.userId)).toMatchObject({ status: 'BANNED' });
  });
});
