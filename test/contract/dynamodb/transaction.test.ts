import { randomUUID } from 'node:crypto';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rowIsNew } from '../../../src/adapters/dynamodb/conditions.ts';
import { Transactor, asWrite } from '../../../src/adapters/dynamodb/transaction.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import { LockLostError, RecordChangedError, WriteUnknownError } from '../../../src/errors.ts';
import type { Fence } from '../../../src/ports/lock.ts';
import type { Timer } from '../../../src/ports/timer.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Write } from '../../../src/ports/transaction.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Fault, Faults } from '../../support/dynamo-faults.ts';
import {
  cancelled,
  connectionReset,
  fail,
  inTurn,
  injectFaults,
  loseAnswer,
  pass,
  serverFailed,
  throttled,
  timedOut,
} from '../../support/dynamo-faults.ts';
import { subscription } from '../../support/records.ts';

const TRANSACTION = 'TransactWriteItemsCommand';

let store: BillingStore;
let faults: Faults;
let userId: UserId;
let fence: Fence;
let record: StoredSubscription;

beforeAll(async () => {
  store = await billingStore();
});
afterAll(() => store.drop());
beforeEach(async () => {
  userId = `user-${randomUUID()}` as UserId;
  fence = await store.takeLock(userId);
  record = await store.subscriptions.add(fence, subscription({ userId }), await context());
  faults = injectFaults(store.client);
});
afterEach(() => {
  faults.remove();
});

const context = (also: Write[] = []) => store.context(userId, { cause: 'plan-changed', also });

const change = async (also: Write[] = []) =>
  store.subscriptions.add(fence, { ...record, updatedEvent: 'changed' }, await context(also));

const rowNow = async () => (await store.billingRow(userId, '2026-11-16T06:00:00Z'))!['updated_event']!.S;

/** Whatever happened on the way: changed once, with one history row for it. */
async function expectMadeOnce(): Promise<void> {
  expect(await rowNow()).toBe('changed');
  expect(await store.historyRows(userId)).toHaveLength(2);
}

async function expectNotMade(): Promise<void> {
  expect(await rowNow()).toBe('');
  expect(await store.historyRows(userId)).toHaveLength(1);
}

describe('when the store stumbles', () => {
  const stumbles: [string, Fault][] = [
    ['is throttled', fail(throttled())],
    [
      'conflicts with another request on the lock row',
      fail(cancelled('TransactionConflict', 'None', 'None')),
    ],
    [
      'conflicts with another request on the billing row',
      fail(cancelled('None', 'None', 'TransactionConflict')),
    ],
    ['is cancelled for capacity', fail(cancelled('None', 'ThrottlingError', 'None'))],
    ['gets a server error before it is made', fail(serverFailed())],
    ['gets a server error after it was made', loseAnswer(serverFailed())],
    ['times out before it is made', fail(timedOut())],
    ['times out after it was made', loseAnswer(timedOut())],
    ['loses its connection before it is made', fail(connectionReset())],
    ['loses its connection after it was made', loseAnswer(connectionReset())],
  ];

  it.each(stumbles)('a change that %s is made once', async (_, fault) => {
    faults.script(TRANSACTION, fault);
    const written = await change();
    expect(written.updatedEvent).toBe('changed');
    await expectMadeOnce();
  });

  it.each(stumbles)('a change that %s three times in a row is made once', async (_, fault) => {
    faults.script(TRANSACTION, fault, { times: 3 });
    await change();
    await expectMadeOnce();
  });

  it('sends the same token each time', async () => {
    const tokens = new Set<unknown>();
    faults.script(TRANSACTION, fail(timedOut()), {
      times: 3,
      when: (input) => tokens.add(input['ClientRequestToken']).size > 0,
    });
    await change();
    expect(tokens.size).toBe(1);
  });

  it('gives different changes different tokens', async () => {
    const tokens: unknown[] = [];
    faults.script(TRANSACTION, pass, {
      times: Infinity,
      when: (input) => tokens.push(input['ClientRequestToken']) > 0,
    });
    record = await change();
    await store.subscriptions.add(fence, { ...record, updatedEvent: 'again' }, await context());
    expect(new Set(tokens).size).toBe(2);
  });
});

describe('when the answer stays away for good', () => {
  it('finds its own history row and knows that the change was made', async () => {
    faults.script(TRANSACTION, inTurn(loseAnswer(timedOut()), fail(timedOut())), { times: Infinity });
    await change();
    await expectMadeOnce();
  });

  it('says that it does not know when the change was not seen', async () => {
    faults.script(TRANSACTION, fail(timedOut()), { times: Infinity });
    await expect(change()).rejects.toThrow(WriteUnknownError);
    await expectNotMade();
  });

  it('says that it does not know when not even the history can be read', async () => {
    faults.script(TRANSACTION, loseAnswer(timedOut()), { times: Infinity });
    faults.script('GetItemCommand', fail(timedOut()), { times: Infinity });
    await expect(change()).rejects.toThrow(WriteUnknownError);
    faults.clear();
    await expectMadeOnce();
  });

  it('says that it does not know when a refusal cannot be checked against its own history row', async () => {
    faults.script(TRANSACTION, fail(cancelled('None', 'ConditionalCheckFailed', 'None')));
    faults.script('GetItemCommand', fail(timedOut()), { times: Infinity });
    await expect(change()).rejects.toThrow(WriteUnknownError);
  });

  it('looks for its history row consistently', async () => {
    let consistent: unknown;
    faults.script(TRANSACTION, fail(cancelled('None', 'ConditionalCheckFailed', 'None')));
    faults.script('GetItemCommand', pass, {
      when: (input) => (consistent = input['ConsistentRead']) === true,
    });
    await expect(change()).rejects.toThrow(RecordChangedError);
    expect(consistent).toBe(true);
  });

  it('does not say so when every try was turned away: nothing was written', async () => {
    faults.script(TRANSACTION, fail(cancelled('TransactionConflict', 'None', 'None')), { times: Infinity });
    await expect(change()).rejects.toThrow(/TransactionConflict/);
    await expectNotMade();
  });

  it('does not take the change of another for its own', async () => {
    faults.script(TRANSACTION, fail(cancelled('None', 'ConditionalCheckFailed', 'None')));
    const foreign = await context();
    const another = store.subscriptions.add(fence, { ...record, usioError: 'foreign' }, foreign);
    await expect(another).rejects.toThrow(RecordChangedError);
    await expect(change()).resolves.toBeDefined();
    await expect(change()).rejects.toThrow(RecordChangedError);
  });
});

describe('when the lock is lost on the way', () => {
  it('refuses the repetition, and does not claim a write that another holder prevented', async () => {
    faults.script(TRANSACTION, async () => {
      await store.stealLock(userId);
      throw timedOut();
    });
    await expect(change()).rejects.toThrow(LockLostError);
    await expectNotMade();
  });

  it('still knows of a write that was made before the lock was lost', async () => {
    faults.script(TRANSACTION, async (send) => {
      await send();
      await store.stealLock(userId);
      throw timedOut();
    });
    await change();
    await expectMadeOnce();
  });

  it('does not claim that nothing was written while a try may still be on its way', async () => {
    faults.script(TRANSACTION, fail(timedOut()));
    let tries = 0;
    const losing: Fence = {
      ...fence,
      exclusively: (write) =>
        (tries += 1) === 1 ? write() : Promise.reject(new LockLostError('lease over')),
    };
    const attempt = store.subscriptions.add(losing, { ...record, updatedEvent: 'changed' }, await context());
    await expect(attempt).rejects.toThrow(WriteUnknownError);
  });

  it('does not send at all once the holder knows', async () => {
    const lost: Fence = { ...fence, exclusively: () => Promise.reject(new LockLostError('lease over')) };
    const attempt = store.subscriptions.add(lost, { ...record, updatedEvent: 'changed' }, await context());
    await expect(attempt).rejects.toThrow(LockLostError);
    expect(faults.calls(TRANSACTION)).toBe(0);
    await expectNotMade();
  });
});

it('waits longer before each repetition, by a random part', async () => {
  const waits: number[] = [];
  const timer: Timer = {
    elapsedMs: () => 0,
    // With a signal it is the time limit of a request, which does not run out here.
    sleep: (ms, signal) =>
      signal === undefined ? Promise.resolve(void waits.push(ms)) : new Promise<void>(() => undefined),
  };
  const transactor = new Transactor({
    client: store.client,
    locksTable: store.tables.locks,
    timer,
    random: () => 0.5,
  });
  faults.script(TRANSACTION, fail(throttled()), { times: Infinity });
  const key = { user_id: { S: userId }, last_run_date: { S: 'none' } };
  const evidence = { table: store.tables.history, key, attribute: 'x' };
  const commit = transactor.commit({ authority: fence, writes: [], token: 't', evidence });
  await expect(commit).rejects.toThrow('injected: rate exceeded');
  expect(waits).toEqual([25, 50, 100, 200, 400, 500, 500]);
});

describe('what goes along', () => {
  const pk = () => ({ pk: { S: userId }, sk: { S: 'ATTEMPT#1' } });
  const attempt = (): Write =>
    asWrite({
      item: { Put: { TableName: store.tables.pipeline, Item: pk(), ...rowIsNew('pk') } },
      refused: () => new RecordChangedError('the attempt exists'),
    });
  const attemptRow = async () =>
    (await store.client.send(new GetItemCommand({ TableName: store.tables.pipeline, Key: pk() }))).Item;

  it('is written in the same transaction, or nothing is', async () => {
    record = await change([attempt()]);
    expect(await attemptRow()).toEqual(pk());

    const again = store.subscriptions.add(
      fence,
      { ...record, updatedEvent: 'again' },
      await context([attempt()]),
    );
    await expect(again).rejects.toThrow('the attempt exists');
    expect(await rowNow()).toBe('changed');
  });

  it('is refused by name when it is too much for one transaction', async () => {
    const many = Array.from({ length: 100 }, attempt);
    await expect(change(many)).rejects.toThrow(/too many items/);
  });

  it('comes with the last record when there are too many for one transaction', async () => {
    const many = Array.from({ length: 60 }, (_, i) =>
      subscription({
        userId,
        billingStatus: 'PAUSED',
        billingDate: (record.billingDate + BigInt(i + 1) * 86_400_000_000_000n) as never,
      }),
    );
    faults.script(TRANSACTION, inTurn(...(Array(30).fill(pass) as [Fault]), fail(new Error('crash'))), {
      times: 31,
    });
    await expect(store.subscriptions.addAll(fence, many, await context([attempt()]))).rejects.toThrow(
      'crash',
    );
    expect(await attemptRow()).toBeUndefined();

    const { subscriptions } = await store.subscriptions.listByUserID(userId);
    const missing = many.filter(
      ({ billingDate }) => !subscriptions.some((row) => row.billingDate === billingDate),
    );
    expect(missing).toHaveLength(30);
    await store.subscriptions.addAll(fence, missing, await context([attempt()]));
    expect(await attemptRow()).toEqual(pk());
  });
});

describe('reads and single requests below the SDK', () => {
  it('are repeated by the SDK when they are throttled or fail', async () => {
    const below = injectFaults(store.client, { at: 'attempt' });
    below.script('QueryCommand', inTurn(fail(throttled()), fail(serverFailed()), fail(timedOut())), {
      times: 3,
    });
    const { subscriptions } = await store.subscriptions.listByUserID(userId);
    expect(subscriptions).toHaveLength(1);
    expect(below.calls('QueryCommand')).toBe(4);
    below.remove();
  });
});
