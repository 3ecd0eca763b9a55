import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { janitorRound } from '../../../src/app/janitor-round.ts';
import type { AchSettlement } from '../../../src/app/settle-ach.ts';
import { settleAch } from '../../../src/app/settle-ach.ts';
import type { Settlement } from '../../../src/app/settle-attempt.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import type { Float } from '../../../src/domain/floats/float.ts';
import { recordIdOf } from '../../../src/domain/floats/record-id.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import { MalformedRowError } from '../../../src/errors.ts';
import type { Lock } from '../../../src/ports/lock.ts';
import { floatLockKey, subscriptionLockKey } from '../../../src/ports/lock.ts';
import type { Attempt } from '../../../src/ports/pipeline.ts';
import type { FloatNewsDesk } from '../../support/float-news.ts';
import { floatNews } from '../../support/float-news.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let here: World;
let on: FloatNewsDesk;
/** A Monday. Each test has its own, because the bank's clock does not go back. */
let start: Instant = at('2026-11-30T09:30:00Z');

beforeAll(async () => {
  here = await world({ withFloats: true });
  on = floatNews(here);
});
afterAll(async () => {
  await on.payments.close();
  await here.close();
});
beforeEach(async () => {
  start = plusDays(start, 28);
  await on.at(start);
});
afterEach(() => here.faults([]));

const row = (float: Float) => on.desk.row(float);
const outcomes = async (float: Float) =>
  (await on.desk.log(float)).map(({ process, outcome, method }) => [process, outcome, method]);

/** A float whose charge was sent three times and never answered. */
async function unanswered(
  fault: 'error-after' | 'error-before',
  settings: object = { has_debit_card: true },
): Promise<{ float: Float; attempt: Attempt }> {
  const float = await on.due(settings);
  const match = { user_id: float.userId };
  await here.faults([{ id: randomUUID(), service: 'payments', fault, times: 3, match }]);
  expect(await on.desk.collect('TODAY6AM', float, 'run-1')).toMatchObject({ verdict: 'unknown' });
  await here.faults([]);
  return { float: await row(float), attempt: (await on.openAttempt(float))! };
}

const settle = (attempt: Attempt): Promise<Settlement> =>
  settleAttempt(here.dependencies, { abandonAfterMs: 24 * HOUR }, attempt);
const ask = ({ userId, floatId }: Float): Promise<AchSettlement> =>
  settleAch(here.dependencies, { userId, subscriptionId: recordIdOf(floatId) });

async function locked<T>(key: string, work: () => Promise<T>): Promise<T> {
  // Another process: one client would know that it holds the lock itself.
  const acquired = await on.payments.dependencies.locks.acquire(key);
  const { lock } = acquired as { lock: Lock };
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

describe('a charge for a float whose answer was lost', () => {
  it('and was made is recorded from the processor’s word: one debit, one row', async () => {
    const { float, attempt } = await unanswered('error-after');
    expect(await settle(attempt)).toMatchObject({ settled: { verdict: 'collected', triggerId: 'run-1' } });
    expect(await row(float)).toMatchObject({ status: 'COMPLETED', completedAt: here.now });
    expect(await outcomes(float)).toEqual([['TODAY6AM', 'COMPLETED', 'PINLESS']]);
    expect(debits(await on.desk.ledger(float))).toBe(1);
    expect(await settle(attempt)).toEqual({ left: 'resolved-meanwhile' });
    expect(await on.desk.collect('TODAY6AM', float, 'run-1')).toMatchObject({ verdict: 'collected' });
  });

  it('and was sent by ACH waits for the bank, with what decided so in the log', async () => {
    const { float, attempt } = await unanswered('error-after', {});
    expect(await settle(attempt)).toMatchObject({ settled: { verdict: 'sent' } });
    const { confirmationId, status } = await row(float);
    expect(status).toBe('ACHSENT');
    expect(await on.watch(float)).toMatchObject({ confirmationId, attemptId: attempt.attemptId });
    const [entry] = await on.desk.log(float);
    expect(entry).toMatchObject({ outcome: 'ACHSENT', achModel: { version: 'rule-1' } });
  });

  it('and was declined is retried', async () => {
    const broken = { has_debit_card: true, pinless: { mode: 'decline', code: '14' } };
    const { float, attempt } = await unanswered('error-after', broken);
    expect(await settle(attempt)).toMatchObject({ settled: { verdict: 'declined', reason: 'PINLESS-14' } });
    expect(await row(float)).toMatchObject({ status: 'RETRY' });
    expect(await outcomes(float)).toEqual([['TODAY6AM', 'RETURNED', 'PINLESS']]);
  });

  it('and that came back meanwhile counts as sent, and then as returned', async () => {
    const returns = { ach: { mode: 'return', code: 'R02', after_banking_days: 1 } };
    const { float, attempt } = await unanswered('error-after', returns);
    await on.at(plusDays(start, 7));
    expect(await settle(attempt)).toMatchObject({ settled: { verdict: 'sent' } });
    expect(await ask(float)).toMatchObject({ settled: { status: 'RETRY' } });
    expect(await on.outcomes(float)).toEqual(['ACHSENT', 'RETURNED']);
    expect(await on.entries(float)).toMatchObject([{ rail: 'ACH', result: 'RETURNED', returnCode: 'R02' }]);
    expect(await on.block(float)).toBe('R02');
  });

  it('and that nobody knows stays open, is asked about again, and given up after a day', async () => {
    const { float, attempt } = await unanswered('error-before');
    for (const later of [5 * MINUTE, HOUR]) {
      await on.at(plusMs(start, later));
      expect(await settle(attempt)).toEqual({ left: 'no-word-yet' });
      expect(await on.desk.collect('SUPPORT', float)).toMatchObject({ verdict: 'blocked' });
    }
    await on.at(plusDays(start, 1));
    expect(await settle(attempt)).toMatchObject({
      settled: { verdict: 'declined', reason: 'PINLESS-abandoned' },
    });
    expect(await row(float)).toMatchObject({
      status: 'RETRY',
      error: 'abandoned: the processor never knew of it',
    });
    expect(await on.desk.collect('RETRY', float)).toMatchObject({ verdict: 'collected' });
    expect(debits(await on.desk.ledger(float))).toBe(1);
  });

  it('and that never reached the processor is no failed ACH debit, however often', async () => {
    const float = await on.put(await on.due(), { status: 'RETRY' });
    const gated = { floatPolicy: { ...here.dependencies.floatPolicy, twoFailuresGate: true } };
    const match = { user_id: float.userId };
    for (const days of [0, 2, 4]) {
      await on.at(plusDays(start, days));
      await here.faults([{ id: randomUUID(), service: 'payments', fault: 'error-before', times: 3, match }]);
      expect(await on.desk.collect('RETRY', float, undefined, gated)).toMatchObject({ verdict: 'unknown' });
      await here.faults([]);
      await on.at(plusDays(start, days + 1));
      await settle((await on.openAttempt(float))!);
    }
    expect((await on.desk.log(float)).map(({ outcome, remark }) => [outcome, remark])).toEqual(
      [1, 2, 3].map(() => ['RETURNED', 'not-presented']),
    );
    await on.at(plusDays(start, 7));
    expect(await on.desk.collect('RETRY', float, undefined, gated)).toMatchObject({ verdict: 'sent' });
  });

  it('is not touched while somebody else holds the member’s lock on floats; that on subscriptions is another', async () => {
    const { float, attempt } = await unanswered('error-after');
    await locked(floatLockKey(float.userId), async () => {
      expect(await settle(attempt)).toEqual({ left: 'busy' });
    });
    expect(await row(float)).toEqual(float);
    await locked(subscriptionLockKey(float.userId), async () => {
      expect(await settle(attempt)).toMatchObject({ settled: { verdict: 'collected' } });
    });
  });
});

describe('a float that was sent to the bank', () => {
  it('and is paid is completed, once', async () => {
    const float = await on.sent();
    await on.at(plusDays(start, 7));
    expect(await ask(float)).toMatchObject({ settled: { status: 'COMPLETED' } });
    expect(await row(float)).toMatchObject({ status: 'COMPLETED', completedAt: here.now });
    expect(await on.watch(float)).toBeNull();
    expect(await outcomes(float)).toEqual([
      ['TODAY6AM', 'ACHSENT', 'ACH'],
      ['TODAY6AM', 'COMPLETED', 'ACH'],
    ]);
    expect(await ask(float)).toEqual({ left: 'settled-meanwhile' });
    const [event] = await on.receiveFromBank(float);
    expect(await on.apply(event!)).toMatchObject({ result: 'no-op', reason: 'float-is-completed' });
    expect(await on.outcomes(float)).toHaveLength(2);
  });

  it('and came back is owed again; a hard code stops ACH to the account', async () => {
    const float = await on.sent({ ach: { mode: 'return', code: 'R10' } });
    await on.at(plusDays(start, 7));
    expect(await ask(float)).toMatchObject({ settled: { status: 'RETRY' } });
    expect((await row(float)).error).toMatch(/^R10: /);
    expect(await on.watch(float)).toBeNull();
    expect(await on.block(float)).toBe('R10');
  });

  it('of which the bank says nothing yet is asked about again', async () => {
    const float = await on.sent();
    await on.at(plusDays(start, 1));
    expect(await ask(float)).toEqual({ left: 'no-word-yet' });
    expect(await on.watch(float)).toMatchObject({ checks: 1 });
    expect(await row(float)).toEqual(float);
  });

  it('and that somebody else brought to its end is not asked about: its watch goes', async () => {
    const float = await on.put(await on.sent(), { status: 'COMPLETED', completedAt: start });
    await on.at(plusDays(start, 7));
    await here.faults([{ id: 'down', service: 'lookups', fault: 'error-before' }]);
    expect(await ask(float)).toEqual({ left: 'settled-meanwhile' });
    expect(await on.watch(float)).toBeNull();
    expect(await row(float)).toEqual(float);
  });

  it('and stands for another payment by now is not settled by the word about this one, which is written down', async () => {
    const float = await on.put(await on.sent(), { status: 'ACHSENT', confirmationId: 'another' });
    await on.at(plusDays(start, 7));
    expect(await ask(float)).toMatchObject({ settled: { status: 'ACHSENT', confirmationId: 'another' } });
    expect(await row(float)).toMatchObject({ status: 'ACHSENT', confirmationId: 'another' });
    expect(await ask(float)).toEqual({ left: 'settled-meanwhile' });
    expect(await on.watch(float)).toBeNull();
  });

  it('is left alone while somebody works on the member’s floats', async () => {
    const float = await on.sent();
    await on.at(plusDays(start, 7));
    await locked(floatLockKey(float.userId), async () => {
      expect(await ask(float)).toEqual({ left: 'busy' });
    });
    expect(await row(float)).toEqual(float);
    expect(await on.watch(float)).toMatchObject({ checks: 0 });
  });

  it('is not settled by somebody who lost the lock: nothing of it is written', async () => {
    const float = await on.sent({ ach: { mode: 'return', code: 'R02' } });
    await on.at(plusDays(start, 7));
    const { processor } = here.dependencies;
    const robbed: typeof processor = {
      charge: (key, request) => processor.charge(key, request),
      refund: (key, id) => processor.refund(key, id),
      findByKey: (key) => processor.findByKey(key),
      findByConfirmation: async (id) => {
        const Item = marshall({ PartitionKey: floatLockKey(float.userId), ownerName: 'somebody-else' });
        await here.store.client.send(new PutItemCommand({ TableName: here.store.tables.locks, Item }));
        return processor.findByConfirmation(id);
      },
    };
    const subscriptionId = recordIdOf(float.floatId);
    await expect(
      settleAch({ ...here.dependencies, processor: robbed }, { userId: float.userId, subscriptionId }),
    ).rejects.toMatchObject({ code: 'lock-lost' });
    expect(await row(float)).toEqual(float);
    expect(await on.entries(float)).toMatchObject([{ result: 'ACHSENT' }]);
    expect(await on.block(float)).toBeNull();
    expect(await on.watch(float)).not.toBeNull();
  });
});

it('a round of the janitor settles floats and billing records, whatever cannot be read among them', async () => {
  const lost = await unanswered('error-after');
  const [paid, spoilt] = [await on.sent(), await on.sent()];
  const period = { billingDate: plusMs(start, -HOUR) };
  const record = await here.member({ has_debit_card: false }, period);
  expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
  await expect(on.put(spoilt, { status: 'ODD' as Float['status'] })).rejects.toThrow(MalformedRowError);
  await on.at(plusDays(start, 7));

  const troubles: { ids: object; error: unknown }[] = [];
  const counts = await janitorRound(here.dependencies, { abandonAfterMs: 100 * 24 * HOUR }, (ids, error) =>
    troubles.push({ ids, error }),
  );
  expect(counts.failed).toBe(1);
  expect(troubles).toEqual([
    {
      ids: { userId: spoilt.userId, subscriptionId: recordIdOf(spoilt.floatId) },
      error: expect.any(MalformedRowError) as MalformedRowError,
    },
  ]);
  expect(await row(lost.float)).toMatchObject({ status: 'COMPLETED' });
  expect(await row(paid)).toMatchObject({ status: 'COMPLETED' });
  expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED' });
});
