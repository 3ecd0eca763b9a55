import { randomUUID } from 'node:crypto';
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DynamoBypasses } from '../../../src/adapters/dynamodb/bypasses.ts';
import { DynamoFloats } from '../../../src/adapters/dynamodb/floats.ts';
import { Transactor } from '../../../src/adapters/dynamodb/transaction.ts';
import type { AttemptId } from '../../../src/domain/attempt.ts';
import type { Float, FloatId } from '../../../src/domain/floats/float.ts';
import {
  floatAchReturned,
  floatCollected,
  floatDeclined,
  floatSent,
} from '../../../src/domain/floats/outcomes.ts';
import { plusMs } from '../../../src/domain/instant.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import {
  IllegalTransitionError,
  LockLostError,
  MalformedRowError,
  OpenFloatError,
  RecordChangedError,
} from '../../../src/errors.ts';
import type { Fence } from '../../../src/ports/lock.ts';
import { impatientTimer } from '../../support/impatient-timer.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Faults } from '../../support/dynamo-faults.ts';
import { injectFaults, loseAnswer, timedOut } from '../../support/dynamo-faults.ts';
import { aFloat, day } from '../../support/floats.ts';
import { at } from '../../support/records.ts';

let store: BillingStore;
let floats: DynamoFloats;
let bypasses: DynamoBypasses;
let faults: Faults;
let user: UserId;
let fence: Fence;

const NOW = at('2026-11-16T09:30:00.000000001Z');

beforeAll(async () => {
  store = await billingStore({ withFloats: true });
  const { client, tables } = store;
  const transactor = new Transactor({
    client,
    locksTable: tables.locks,
    timer: impatientTimer,
    random: Math.random,
  });
  floats = new DynamoFloats({
    client,
    transactor,
    floatsTable: tables.floats,
    collectionHistoryTable: tables.collectionHistory,
    pageSize: 2,
    ids: randomUUID,
  });
  bypasses = new DynamoBypasses({ client, table: tables.bypass });
});
afterAll(() => store.drop());
beforeEach(async () => {
  faults = injectFaults(store.client);
  user = `member-${randomUUID()}` as UserId;
  fence = await store.takeLock(user);
});
afterEach(() => faults.remove());

const made = async (fields: Partial<Float> = {}): Promise<Float> => {
  const float = aFloat({ userId: user, ...fields });
  await floats.create(fence, float);
  return float;
};

const attempt = (rail: 'ACH' | 'PINLESS' = 'ACH') => ({
  attemptId: `attempt-${randomUUID()}` as AttemptId,
  process: 'TODAY6AM' as const,
  rail,
  confirmationId: 'conf-1',
  achModel: null,
});

const all = async (TableName: string) =>
  (await store.client.send(new ScanCommand({ TableName, ConsistentRead: true }))).Items!;

describe('a float', () => {
  it('is given back as it was made', async () => {
    const float = await made();
    expect(await floats.get(float.floatId)).toEqual(float);
    expect(await floats.get('no-such' as FloatId)).toBeNull();
    expect(await floats.openOf(user)).toEqual([float.floatId]);
  });

  it('is the only open one of its member, and the next may come when it is paid back', async () => {
    const first = await made();
    await expect(made()).rejects.toThrow(OpenFloatError);
    await expect(floats.create(fence, first)).rejects.toThrow(RecordChangedError);
    await floats.save(fence, first, floatCollected(first, attempt('PINLESS'), NOW));
    expect(await floats.openOf(user)).toEqual([]);
    const second = await made({ createdAt: at('2026-11-20T12:00:00Z') });
    expect((await floats.listByUserID(user)).floats.map(({ floatId }) => floatId)).toEqual([
      second.floatId,
      first.floatId,
    ]);
  });

  it('that the bank takes back is open again, also beside another', async () => {
    const first = await made();
    const paid = floatCollected(first, attempt(), NOW).float;
    await floats.save(fence, first, floatCollected(first, attempt(), NOW));
    const second = await made();
    const word = { returnCode: 'R01', message: null };
    await floats.save(fence, paid, floatAchReturned(paid, attempt(), word, plusMs(NOW, 1)));
    expect(new Set(await floats.openOf(user))).toEqual(new Set([first.floatId, second.floatId]));
  });

  it('changes with its row of the log, or not at all', async () => {
    const float = await made();
    const sent = floatSent(float, { ...attempt(), achModel: MODEL }, NOW);
    await floats.save(fence, float, sent);
    expect(await floats.get(float.floatId)).toEqual(sent.float);
    expect(await floats.getByFloatID(float.floatId)).toEqual([sent.entry]);
    // Somebody who read it before the change.
    const stale = floatDeclined(float, attempt('PINLESS'), '05', plusMs(NOW, 5));
    await expect(floats.save(fence, float, stale)).rejects.toThrow(RecordChangedError);
    expect(await floats.getByFloatID(float.floatId)).toEqual([sent.entry]);
  });

  it('does not change by the hand of one who lost the lock', async () => {
    const float = await made();
    await store.stealLock(user);
    const change = floatSent(float, attempt(), NOW);
    await expect(floats.save(fence, float, change)).rejects.toThrow(LockLostError);
    expect(await floats.get(float.floatId)).toEqual(float);
    expect(await floats.getByFloatID(float.floatId)).toEqual([]);
  });

  it('changes once when the answer is lost', async () => {
    const float = await made();
    const change = floatSent(float, attempt(), NOW);
    const script = faults.script('TransactWriteItemsCommand', loseAnswer(timedOut()));
    await floats.save(fence, float, change);
    expect(script.hits).toBe(1);
    expect(await floats.getByFloatID(float.floatId)).toEqual([change.entry]);
  });

  it('does not go where the table of transitions has no way', async () => {
    const float = await made();
    const impossible = { ...floatSent(float, attempt(), NOW), cause: 'ach-returned' as const };
    const saved = floats.save(fence, float, impossible);
    await expect(saved).rejects.toThrow(IllegalTransitionError);
    await expect(saved).rejects.toThrow('does not go from SCHEDULING to ACHSENT');
  });
});

const MODEL = {
  override: false,
  version: 'rule-1',
  features: { failed_ach: 1, balance_cents: 12_345 },
  probability: 0.57,
};

describe('what is due', () => {
  it('is found by status and due date, both ends included, page by page', async () => {
    const days = ['2031-01-09', '2031-01-10', '2031-01-11', '2031-01-12', '2031-01-13'].map(day);
    for (const dueDate of days) {
      user = `member-${randomUUID()}` as UserId;
      fence = await store.takeLock(user);
      await made({ dueDate });
    }
    const dates = { from: days[1]!, to: days[3]! };
    const first = await floats.due({ status: 'SCHEDULING', ...dates }, null);
    const second = await floats.due({ status: 'SCHEDULING', ...dates }, first.nextKey);
    const third =
      second.nextKey === null ? null : await floats.due({ status: 'SCHEDULING', ...dates }, second.nextKey);
    const found = [first, second, third].flatMap((page) => page?.floats ?? []);
    expect(found.map(({ dueDate }) => dueDate)).toEqual(days.slice(1, 4));
    expect([first.floats.length, third?.nextKey ?? null]).toEqual([2, null]);
    expect((await floats.due({ status: 'RETRY', ...dates }, null)).floats).toEqual([]);
  });

  it('is given by status with the latest first, and so many only', async () => {
    const days = ['2033-03-01', '2033-03-02', '2033-03-03'].map(day);
    for (const dueDate of days) {
      user = `member-${randomUUID()}` as UserId;
      fence = await store.takeLock(user);
      await made({ dueDate });
    }
    const { floats: found, nextKey } = await floats.newest('SCHEDULING', 2);
    expect(found.map(({ dueDate }) => dueDate)).toEqual([days[2], days[1]]);
    expect(nextKey).toBeNull();
    expect((await floats.newest('DEFAULTED', 2)).floats).toEqual([]);
  });

  it('is not hidden by a row that cannot be read', async () => {
    const float = await made({ dueDate: day('2032-01-01') });
    const [row] = (await all(store.tables.floats)).filter((item) => item['float_id']?.S === float.floatId);
    const Item = { ...row!, PK: { S: 'FLOAT#odd' }, float_id: { S: 'odd' }, amount: { S: 'much' } };
    await store.client.send(new PutItemCommand({ TableName: store.tables.floats, Item }));
    const dates = { from: day('2032-01-01'), to: day('2032-01-01') };
    const { floats: found, malformed } = await floats.due({ status: 'SCHEDULING', ...dates }, null);
    expect(found).toEqual([float]);
    expect(malformed.map(({ row: odd, attribute }) => [odd.subscriptionId, attribute])).toEqual([
      ['float.odd', 'amount'],
    ]);
  });

  it('does not disappear when one of its numbers cannot be held: it is reported', async () => {
    const float = await made({ dueDate: day('2032-01-02') });
    const [row] = (await all(store.tables.floats)).filter((item) => item['float_id']?.S === float.floatId);
    const last_run_time = { N: '10000000000000000.5' };
    const Item = { ...row!, PK: { S: 'FLOAT#long' }, float_id: { S: 'long' }, last_run_time };
    await store.client.send(new PutItemCommand({ TableName: store.tables.floats, Item }));
    const dates = { from: day('2032-01-02'), to: day('2032-01-02') };
    const { floats: found, malformed } = await floats.due({ status: 'SCHEDULING', ...dates }, null);
    expect(found).toEqual([float]);
    expect(malformed.map(({ row: odd, attribute }) => [odd.subscriptionId, attribute])).toEqual([
      ['float.long', 'last_run_time'],
    ]);
  });
});

describe('the log', () => {
  it('is as the service before us wrote it, with numbers that no double holds', async () => {
    const float = await made();
    const change = floatSent(float, { ...attempt(), achModel: MODEL }, NOW);
    await floats.save(fence, float, change);
    const [row] = (await all(store.tables.collectionHistory)).filter(
      (item) => item['loan_id']?.S === float.floatId,
    );
    expect(row).toEqual({
      loan_id: { S: float.floatId },
      run_time: { N: String(change.entry!.runTime) },
      user_id: { S: user },
      due_date: { S: '2026-11-16' },
      run_date: { S: '2026-11-16' },
      process: { S: 'TODAY6AM' },
      outcome: { S: 'ACHSENT' },
      confirmation_id: { S: 'conf-1' },
      method: { S: 'ACH' },
      attempt_id: { S: change.entry!.attemptId },
      ach_model_version: { S: 'rule-1' },
      ach_model_override: { BOOL: false },
      ach_model_features: { M: { failed_ach: { N: '1' }, balance_cents: { N: '12345' } } },
      ach_model_probability: { N: '0.57' },
    });
    expect(Number(row!['run_time']!.N)).not.toBe(change.entry!.runTime);
    expect(BigInt(row!['run_time']!.N!)).toBe(change.entry!.runTime);
  });

  const goRow = (loan: string, runTime: string, fields: Record<string, { S: string }> = {}) => ({
    loan_id: { S: loan },
    run_time: { N: runTime },
    user_id: { S: user },
    due_date: { S: '2026-11-10' },
    run_date: { S: '2026-11-11' },
    process: { S: 'RETRY' },
    outcome: { S: 'RETURNED' },
    ...fields,
  });
  const put = (Item: ReturnType<typeof goRow>) =>
    store.client.send(new PutItemCommand({ TableName: store.tables.collectionHistory, Item }));

  it('is read with the rows of the service before us, oldest first by number', async () => {
    const loan = randomUUID();
    await put(goRow(loan, '1762853400000000002'));
    await put(goRow(loan, '1762853400000000001', { confirmation_id: { S: 'c-9' } }));
    await put(goRow(loan, '999'));
    const rows = await floats.getByFloatID(loan as FloatId);
    expect(rows.map(({ runTime }) => runTime)).toEqual([999n, 1762853400000000001n, 1762853400000000002n]);
    expect(rows[1]).toMatchObject({ confirmationId: 'c-9', method: null, attemptId: null, achModel: null });
  });

  it('with a row that cannot be read gives no limits at all', async () => {
    const loan = randomUUID();
    await put(goRow(loan, '1', { outcome: { S: 'WHO_KNOWS' } }));
    await expect(floats.getByFloatID(loan as FloatId)).rejects.toThrow(MalformedRowError);
  });
});

describe('a bypass', () => {
  it('is kept, replaced and taken away', async () => {
    const bypass = { userId: user, expirationDate: day('2026-12-24'), reason: 'a good customer' };
    expect(await bypasses.get(user)).toBeNull();
    await bypasses.save({ ...bypass, reason: 'another' });
    await bypasses.save(bypass);
    expect(await bypasses.get(user)).toEqual(bypass);
    expect(await bypasses.remove(user)).toBe(true);
    expect([await bypasses.remove(user), await bypasses.get(user)]).toEqual([false, null]);
  });
});
