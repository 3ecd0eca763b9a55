import { randomUUID } from 'node:crypto';
import { ExpiredIteratorException, ProvisionedThroughputExceededException } from '@aws-sdk/client-kinesis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BatchReader } from '../../../src/adapters/dynamodb/batch-reader.ts';
import { BatchWriter } from '../../../src/adapters/dynamodb/batch-writer.ts';
import { DynamoInbox } from '../../../src/adapters/dynamodb/inbox.ts';
import { DynamoQuarantine } from '../../../src/adapters/dynamodb/quarantine.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import { createLogger } from '../../../src/adapters/logging/logger.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { receiveEvents } from '../../../src/app/bridge/receive-events.ts';
import type { Deliver } from '../../../src/app/bridge/shard-reader.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { InboxEvent } from '../../../src/ports/inbox.ts';
import type { BridgeBench } from '../../support/bridges.ts';
import { bridgeBench } from '../../support/bridges.ts';
import { connectionReset, fail } from '../../support/dynamo-faults.ts';
import { shardId } from '../../support/event-stream.ts';
import { eventually } from '../../support/processes.ts';
import { at } from '../../support/records.ts';

const SHARD = shardId(0);
const $metadata = { httpStatusCode: 400 };
const expired = () =>
  fail(new ExpiredIteratorException({ message: 'injected: iterator expired', $metadata }));
const throttled = () =>
  fail(new ProvisionedThroughputExceededException({ message: 'injected: rate exceeded', $metadata }));

let here: BridgeBench;
let delivered: string[];

beforeEach(async () => {
  here = await bridgeBench(1);
  delivered = [];
});
afterEach(() => here.close());

const texts = (records: readonly { readonly data: Uint8Array }[]): string[] =>
  records.map(({ data }) => Buffer.from(data).toString());
const deliver: Deliver<Uint8Array> = async (_, records) => void delivered.push(...texts(records));
const put = (...names: string[]) => here.stream.put(names.map((data) => ({ key: 'user', data })));
const arrive = (...names: string[]) =>
  eventually(`${names.join(', ')} delivered`, () => delivered.length >= names.length);
const checkpoint = async () => (await here.checkpoints.list(here.stream.name)).get(SHARD);

/** Holds the delivery of the first batch until it is opened. */
function heldDelivery(): { deliver: Deliver<Uint8Array>; reached: Promise<void>; open: () => void } {
  let reach = (): void => undefined;
  let open = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    reached,
    open: () => open(),
    async deliver(id, records) {
      reach();
      await opened;
      await deliver(id, records);
    },
  };
}

describe('trouble with the stream', () => {
  it('an expired iterator is replaced by one after the checkpoint', async () => {
    const givenUp: string[] = [];
    const onLag = (id: string, lagMs: number | null) => void (lagMs === null && givenUp.push(id));
    const { kinesis } = here.bridge(deliver, { onLag });
    await put('a', 'b');
    await arrive('a', 'b');
    const script = kinesis.script('GetRecordsCommand', expired(), { times: 3 });
    await eventually('the iterator expired', () => script.hits === 3);
    await put('c');
    await arrive('a', 'b', 'c');
    expect(delivered).toEqual(['a', 'b', 'c']);
    // By the same reader: the shard need not find another one first.
    expect(givenUp).toEqual([]);
  });

  it('throttling is waited out at the same place', async () => {
    await put('a', 'b');
    const { kinesis } = here.bridge(deliver, {}, (faults) => {
      faults.script('GetRecordsCommand', throttled(), { times: 3 });
    });
    await arrive('a', 'b');
    expect(delivered).toEqual(['a', 'b']);
    // No new iterator: in a shard with few records it would begin the search for the next one anew.
    expect(kinesis.calls('GetShardIteratorCommand')).toBe(1);
  });

  it('a request for an iterator or for the shards that fails is made again', async () => {
    await put('a');
    here.bridge(deliver, {}, (faults) => {
      faults.script('ListShardsCommand', fail(connectionReset()), { times: 2 });
      faults.script('GetShardIteratorCommand', throttled(), { times: 2 });
      faults.script('GetRecordsCommand', fail(connectionReset()), { times: 2 });
    });
    await arrive('a');
    expect(delivered).toEqual(['a']);
  });
});

it('a shard that is gone before it was read to its end raises an alarm, once; one that was read does not', async () => {
  const { stream, store, checkpoints } = here;
  const lease = await store.takeLock(stream.name);
  await checkpoints.advance(lease, { stream: stream.name, shardId: shardId(7) }, '1');
  await checkpoints.advance(lease, { stream: stream.name, shardId: shardId(8) }, '1');
  await checkpoints.finish(lease, { stream: stream.name, shardId: shardId(8) });
  const alarms: unknown[] = [];
  const write = (line: string): void => {
    const { alarm, shardId: id } = JSON.parse(line) as Record<string, unknown>;
    if (alarm !== undefined) alarms.push([alarm, id]);
  };
  here.bridge(deliver, { log: createLogger({ role: 'test', level: 'info', destination: { write } }) });
  await put('a');
  await arrive('a');
  await eventually('both are forgotten', async () => {
    const known = await checkpoints.list(stream.name);
    return !known.has(shardId(7)) && !known.has(shardId(8));
  });
  expect(alarms).toEqual([['events-lost', shardId(7)]]);
});

describe('trouble with the delivery', () => {
  it('the same records come again, and the checkpoint waits for them', async () => {
    await put('a', 'b');
    let refusals = 0;
    here.bridge(async (id, records) => {
      if (refusals < 3) {
        refusals += 1;
        expect(await checkpoint()).toBeUndefined();
        throw new Error('injected: the inbox is away');
      }
      await deliver(id, records);
    });
    await arrive('a', 'b');
    expect(delivered).toEqual(['a', 'b']);
    await eventually('the checkpoint moves', async () => (await checkpoint())?.sequence);
  });

  it('a bridge that lost its lease in the middle of a batch never moves the checkpoint', async () => {
    await put('a', 'b');
    const held = heldDelivery();
    const { bridge } = here.bridge(held.deliver);
    await held.reached;
    await here.stealLease(SHARD);
    held.open();
    await eventually('it no longer reads the shard', () => bridge.reads.length === 0);
    expect(delivered).toEqual(['a', 'b']);
    expect(await checkpoint()).toBeUndefined();
    expect((await here.leaseRow(SHARD))?.['ownerName']?.S).toBe('somebody-else');
  });

  it('a bridge that is stopped in the middle of a batch finishes it, checkpoints, and gives the lease back', async () => {
    await put('a', 'b');
    const held = heldDelivery();
    const running = here.bridge(held.deliver);
    await held.reached;
    let isStopped = false;
    const stopped = running.stop().then(() => (isStopped = true));
    await put('c');
    expect(isStopped).toBe(false);
    held.open();
    await stopped;
    expect(delivered).toEqual(['a', 'b']);
    expect((await here.leaseRow(SHARD))?.['isReleased']?.S).toBe('1');
    here.bridge(deliver);
    await arrive('a', 'b', 'c');
    expect(delivered).toEqual(['a', 'b', 'c']);
  });
});

describe('where a stream is begun', () => {
  it('is now for LATEST, also for a bridge that is started again before the first event', async () => {
    await put('before');
    const now = { timestamp: at(new Date(Date.now() + 1).toISOString()) };
    await here.checkpoints.begin(here.stream.name, now);
    await eventually('the time has come', () => Date.now() > Number(now.timestamp / 1_000_000n));
    await put('after');
    // Whoever comes later says another time; the first word stands.
    here.bridge(deliver, { beginning: { timestamp: at('2026-01-01T00:00:00Z') } });
    await arrive('after');
    expect(delivered).toEqual(['after']);
  });
});

describe('a poison record', () => {
  it('goes to quarantine, and the shard moves on', async () => {
    const { client, tables } = here.store;
    const options = { client, table: tables.pipeline, timer: systemTimer, random: Math.random };
    const reader = new BatchReader(options);
    const transactor = new Transactor({ ...options, locksTable: tables.locks });
    const both = { client, table: tables.pipeline, reader, transactor, ids: randomUUID };
    const inbox = new DynamoInbox({ ...both, writer: new BatchWriter(options) });
    const quarantine = new DynamoQuarantine(both);
    const enqueued: InboxEvent[] = [];
    const event = (id: string, type = 'CANCEL') =>
      JSON.stringify({ id, type, source: 'test', data: { user_id: 'user-1' } });
    const lists = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const deep = event('e-5').replace('"user-1"', `"user-2","x":${lists}`);
    const cutOff = '{"id": "e-2", "type": "CANCEL", ';
    await put(event('e-1'), cutOff, deep, event('e-3'), event('e-4', 'USER_CREATED'));
    const fates: string[] = [];
    here.bridge(
      receiveEvents(
        {
          inbox,
          clock: { now: () => at('2026-11-16T08:00:00Z') },
          owned: { kind: 'all' },
          enqueue: async (events) => {
            enqueued.push(...events);
            throw new Error('injected: Redis is away');
          },
          count: (_, fate) => void fates.push(fate),
          log: createLogger({ role: 'test', level: 'silent' }),
        },
        'users',
      ),
    );
    await eventually('the checkpoint moves', async () => (await checkpoint())?.sequence);
    expect(fates).toEqual(['stored', 'quarantined', 'quarantined', 'stored', 'other-type']);
    expect(enqueued.map(({ identity }) => identity)).toEqual(['e-1', 'e-3']);
    expect(await inbox.earliest('users', 'user-1' as UserId)).toMatchObject({
      identity: 'e-1',
      shardId: SHARD,
    });
    const { items } = await quarantine.list(null);
    expect(items).toMatchObject([
      { reason: 'not JSON', shardId: SHARD, userId: 'user' },
      { reason: 'nested too deeply', shardId: SHARD, userId: 'user-2' },
    ]);
    expect(items.map(({ raw }) => Buffer.from(raw!, 'base64').toString())).toEqual([cutOff, deep]);
  });
});
