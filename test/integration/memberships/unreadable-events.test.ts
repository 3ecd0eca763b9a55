import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BatchReader } from '../../../src/adapters/dynamodb/batch-reader.ts';
import { DynamoQuarantine } from '../../../src/adapters/dynamodb/quarantine.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { receiveEvents } from '../../../src/app/bridge/receive-events.ts';
import type { ReplayDependencies } from '../../../src/app/quarantine.ts';
import { dropQuarantined, replayQuarantined } from '../../../src/app/quarantine.ts';
import { readAgain } from '../../../src/app/read-again.ts';
import type { Quarantine } from '../../../src/ports/inbox.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { MembershipDesk } from '../../support/membership-desk.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

/* Somebody may have cancelled with what we cannot read: until somebody has looked at it, nobody charges them. */

const SHARD = 'shardId-000000000000';

let here: World;
let desk: MembershipDesk;
let quarantine: Quarantine;
let record: StoredSubscription;
let sequence = 1_000;

beforeAll(async () => {
  here = await world();
  desk = membershipDesk(here);
  const { client, tables } = here.store;
  const tools = { client, table: tables.pipeline, timer: systemTimer, random: Math.random };
  quarantine = new DynamoQuarantine({
    ...tools,
    reader: new BatchReader(tools),
    transactor: new Transactor({ ...tools, locksTable: tables.locks }),
    ids: () => crypto.randomUUID(),
  });
});
afterAll(() => here.close());
beforeEach(async () => {
  sequence += 1;
  record = await here.member();
});

const OWNED = { kind: 'all' } as const;
const clock = { now: () => here.now };

/** A record of the users stream as the bridge gets it; its key is the member. */
const arrives = (text: string): Promise<void> =>
  receiveEvents(
    {
      inbox: desk.inbox,
      clock,
      owned: OWNED,
      enqueue: async () => undefined,
      count: () => undefined,
      log: NO_LOG,
    },
    'users',
  )(SHARD, [
    {
      sequence: String(sequence),
      partitionKey: record.userId,
      data: Buffer.from(text),
      approximateArrival: here.now,
    },
  ]);

const event = (fields: object = {}, data: object = {}): string =>
  JSON.stringify({
    id: `e-${sequence}`,
    type: 'CANCEL',
    source: 'UserService',
    data: { user_id: record.userId, ...data },
    ...fields,
  });

const UNREADABLE: [string, () => string][] = [
  ['without a source', () => event({ source: undefined })],
  ['with null for its time', () => event({ time: null })],
  ['with a number for its id', () => event({ id: 7 })],
  ['cut off', () => event().slice(0, -9)],
  ['with a number for its user', () => event({}, { user_id: 7 })],
  ['that is too large', () => event({}, { text: 'x'.repeat(300_000) })],
  [
    'nested as deep as nobody writes',
    () => event().replace('}}', `,"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`),
  ],
];

const waits = async (): Promise<void> => {
  expect(await here.collect('INITIAL', record)).toMatchObject({
    verdict: 'deferred',
    reason: 'membership-event-quarantined',
  });
  expect(debits(await here.ledger(record))).toBe(0);
};

describe('a cancellation', () => {
  it.each(UNREADABLE)('%s: its member is not charged until somebody has dropped it', async (_, text) => {
    await arrives(text());
    await waits();
    const [item] = await quarantine.ofUser(record.userId);
    expect(item).toMatchObject({ userId: record.userId, event: null });
    await arrives(text());
    const by = { who: 'olga', reason: 'the member wants to stay' };
    expect(await dropQuarantined({ quarantine, clock }, item!.quarantineId, by)).toEqual({
      result: 'dropped',
    });
    await here.collect('INITIAL', record);
    expect(debits(await here.ledger(record))).toBe(1);
  });

  it('that can be read meanwhile is applied when it is replayed, and nobody is charged in between', async () => {
    const text = event();
    await desk.inbox.quarantineRaw(
      { stream: 'users', shardId: SHARD, sequence: String(sequence), userId: record.userId },
      Buffer.from(text),
      'an older reading',
      here.now,
    );
    await waits();
    const dependencies: ReplayDependencies = {
      quarantine,
      locks: here.dependencies.locks,
      clock,
      log: NO_LOG,
      readAgain: (item) => readAgain(item, { owned: OWNED, receivedAt: here.now }),
      enqueue: async () => undefined,
    };
    const [item] = await quarantine.ofUser(record.userId);
    const replay = await replayQuarantined(dependencies, item!.quarantineId, { force: false });
    if (replay.result !== 'replayed') throw new Error(replay.result);
    expect(await here.collect('INITIAL', record)).toMatchObject({ reason: 'membership-event-unapplied' });
    await desk.apply(replay.event);
    await here.collect('INITIAL', record);
    expect(debits(await here.ledger(record))).toBe(0);
    expect(await here.row(record)).toMatchObject({ billingStatus: 'CANCELLED' });
  });
});
