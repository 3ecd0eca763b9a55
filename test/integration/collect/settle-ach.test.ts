import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readEntry } from '../../../src/app/ach-entry.ts';
import { recordAchOutcome } from '../../../src/app/record-ach-outcome.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { settleAch } from '../../../src/app/settle-ach.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import { subscriptionLockKey } from '../../../src/ports/lock.ts';
import type { AchWatch } from '../../../src/ports/ach-watches.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Bench } from '../../audit/bench.ts';
import { bench } from '../../audit/bench.ts';
import { injectFaults } from '../../support/dynamo-faults.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits } from '../../support/world.ts';

const HOUR = 3_600_000;

let on: Bench;
let here: World;
/** A Monday. Each test has its own, because the bank's clock does not go back. */
let start: Instant = at('2026-11-30T08:00:00Z');

beforeAll(async () => {
  on = await bench();
  here = on.here;
});
afterAll(() => on.close());
beforeEach(async () => {
  start = plusDays(start, 56);
  await on.at(start);
});
afterEach(async () => {
  await here.faults([]);
  expect((await on.audit()).violations).toEqual([]);
});

/** A member without a card whose period was sent to the bank on that Monday. */
async function sent(settings: object = {}, billedDaysAgo = 0): Promise<StoredSubscription> {
  const billingDate = plusDays(plusMs(start, -2 * HOUR), -billedDaysAgo);
  const record = await here.member({ has_debit_card: false, ...settings }, { billingDate });
  expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
  return here.row(record);
}

async function dueWatches(): Promise<AchWatch[]> {
  const found: AchWatch[] = [];
  let key = null;
  do {
    const page: Awaited<ReturnType<typeof here.dependencies.pipeline.watches.due>> =
      await here.dependencies.pipeline.watches.due(here.now, key);
    found.push(...page.watches);
    key = page.nextKey;
  } while (key !== null);
  return found;
}

const isDue = async ({ subscriptionId }: StoredSubscription): Promise<boolean> =>
  (await dueWatches()).some((watch) => watch.subscriptionId === subscriptionId);
const watchOn = ({ subscriptionId }: StoredSubscription) =>
  here.dependencies.pipeline.watches.get(subscriptionId);
const settle = (record: StoredSubscription) => settleAch(here.dependencies, record);

const background = (record: StoredSubscription, accountId: string | null = null) =>
  here.dependencies.pipeline.readBackground({ ...record, triggerId: '', accountId });
const entries = async (record: StoredSubscription) => (await background(record)).state.past;
const accountOf = async ({ userId }: StoredSubscription) =>
  (await here.dependencies.accounts.primary(userId))!.accountId;
const causes = async ({ subscriptionId }: StoredSubscription) =>
  (await here.store.history.getByID(subscriptionId)).entries.map(({ data }) => data['cause']);

describe('an ACH entry that was sent', () => {
  it('is watched from the transaction that says so, and asked about when the third banking day is over', async () => {
    const record = await sent();
    const { state } = await background(record);
    expect(state.open).toBeNull();
    expect(await watchOn(record)).toMatchObject({
      userId: record.userId,
      confirmationId: record.transactionId,
      sentAt: start,
      checks: 0,
    });
    expect((await watchOn(record))!.attemptId).toMatch(/^[0-9a-f]{40}$/);
    // Sent on a Monday. Winter in New York: Thursday is over at 05:00 UTC on Friday.
    const friday = plusMs(plusDays(start, 4), -3 * HOUR);
    await on.at(plusMs(friday, -1));
    expect(await isDue(record)).toBe(false);
    await on.at(friday);
    expect(await isDue(record)).toBe(true);
  });

  it.each(['R02', 'AC04'])(
    'whose answer was lost and that came back with %s counts as sent first',
    async (code) => {
      const returns = { has_debit_card: false, ach: { mode: 'return', code, after_banking_days: 1 } };
      const record = await here.member(returns, { billingDate: plusMs(start, -HOUR) });
      const { userId } = record;
      await here.faults([
        { id: 'lost', service: 'payments', fault: 'error-after', times: 3, match: { user_id: userId } },
      ]);
      expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'unknown' });
      await here.faults([]);
      await on.at(plusDays(start, 4));
      const { state } = await background(record);
      const settled = await settleAttempt(here.dependencies, { abandonAfterMs: 24 * HOUR }, state.open!);
      expect(settled).toMatchObject({ settled: { verdict: 'sent' } });
      expect(await settle(record)).toMatchObject({ settled: { billingStatus: 'ERROR' } });
      expect(await entries(record)).toMatchObject([{ rail: 'ACH', result: 'RETURNED', returnCode: code }]);
      expect((await background(record, await accountOf(record))).achBlock).toBe(code);
    },
  );

  it('leaves no watch when the outcome could not be written', async () => {
    const record = await here.member({ has_debit_card: false }, { billingDate: plusMs(start, -HOUR) });
    here.onStep = (step) => (step === 'charged' ? here.store.stealLock(record.userId) : undefined);
    await expect(here.collect('INITIAL', record)).rejects.toMatchObject({ code: 'lock-lost' });
    here.onStep = () => undefined;
    expect(await watchOn(record)).toBeNull();
    await here.store.releaseLock(record.userId);
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
    expect(await watchOn(record)).toMatchObject({ confirmationId: (await here.row(record)).transactionId });
  });

  it('and was paid is completed, once', async () => {
    const record = await sent();
    await on.at(plusDays(start, 4));
    expect(await settle(record)).toMatchObject({ settled: { billingStatus: 'COMPLETED' } });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'COMPLETED',
      updatedEvent: 'payment-completed',
      completionDate: here.now,
      usioError: '',
      process: 'INITIAL',
      transactionId: record.transactionId,
    });
    expect(await entries(record)).toMatchObject([{ rail: 'ACH', at: start, result: 'COMPLETED' }]);
    expect(await watchOn(record)).toBeNull();
    expect(await causes(record)).toEqual(['plan-changed', 'attempt-opened', 'ach-accepted', 'ach-completed']);
    expect(await settle(record)).toEqual({ left: 'settled-meanwhile' });
    expect(await causes(record)).toHaveLength(4);
    expect(debits(await here.ledger(record))).toBe(1);
  });

  it('of which the bank knows nothing yet is asked about again on the next banking day', async () => {
    const record = await sent();
    await on.at(plusDays(start, 1));
    expect(await settle(record)).toEqual({ left: 'no-word-yet' });
    expect(await watchOn(record)).toMatchObject({ checks: 1, sentAt: start });
    expect(await isDue(record)).toBe(false);
    expect(await here.row(record)).toEqual(record);
    await on.at(plusMs(plusDays(start, 2), -3 * HOUR));
    expect(await isDue(record)).toBe(true);
  });

  it('that the processor does not know is left as it is', async () => {
    const record = await sent();
    await on.at(plusDays(start, 4));
    const unknown = { ...here.dependencies.processor, findByConfirmation: () => Promise.resolve(null) };
    const dependencies = { ...here.dependencies, processor: unknown };
    expect(await settleAch(dependencies, record)).toEqual({ left: 'no-word-yet' });
    expect(await here.row(record)).toEqual(record);
  });

  it('is left alone while somebody works on the user', async () => {
    const record = await sent();
    await on.at(plusDays(start, 4));
    await here.store.takeLock(record.userId);
    expect(await settle(record)).toEqual({ left: 'busy' });
    await here.store.releaseLock(record.userId);
    expect(await here.row(record)).toEqual(record);
    expect(await watchOn(record)).toMatchObject({ checks: 0 });
  });

  it('is not settled by somebody who lost the lock: nothing of it is written', async () => {
    const record = await sent({ ach: { mode: 'return', code: 'R02' } });
    await on.at(plusDays(start, 4));
    const { processor } = here.dependencies;
    const robbed: typeof processor = {
      charge: (key, request) => processor.charge(key, request),
      refund: (key, id) => processor.refund(key, id),
      findByKey: (key) => processor.findByKey(key),
      findByConfirmation: async (id) => {
        await here.store.stealLock(record.userId);
        return processor.findByConfirmation(id);
      },
    };
    const dependencies = { ...here.dependencies, processor: robbed };
    await expect(settleAch(dependencies, record)).rejects.toMatchObject({ code: 'lock-lost' });
    await here.store.releaseLock(record.userId);
    expect(await here.row(record)).toEqual(record);
    expect(await entries(record)).toMatchObject([{ result: 'ACHSENT' }]);
    expect((await background(record, await accountOf(record))).achBlock).toBeNull();
    expect(await watchOn(record)).not.toBeNull();
  });
});

describe('a returned entry', () => {
  it('for want of money is owed again, and presented again later as such', async () => {
    const record = await sent({ ach: { mode: 'return', code: 'R01', times: 1 } });
    await on.at(plusDays(start, 4));
    expect(await settle(record)).toMatchObject({ settled: { billingStatus: 'ERROR' } });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'ERROR',
      usioError: 'R01: insufficient funds',
      completionDate: null,
      updatedEvent: '',
      process: 'INITIAL',
    });
    expect(await entries(record)).toMatchObject([
      { result: 'RETURNED', returnCode: 'R01', accountId: await accountOf(record) },
    ]);
    expect((await background(record, await accountOf(record))).achBlock).toBeNull();
    expect(await watchOn(record)).toBeNull();

    expect(await here.collect('RETRY', record)).toMatchObject({ verdict: 'sent' });
    const again = await here.row(record);
    expect(await watchOn(record)).toMatchObject({ confirmationId: again.transactionId, checks: 0 });
    expect(again.transactionId).not.toBe(record.transactionId);
    await on.at(plusDays(start, 12));
    expect(await settle(record)).toMatchObject({ settled: { billingStatus: 'COMPLETED' } });
    expect(await entries(record)).toMatchObject([
      { result: 'RETURNED', returnCode: 'R01' },
      { result: 'COMPLETED', returnCode: null },
    ]);
  });

  it.each(['R02', 'R10', 'AC04'])('with %s stops ACH to the account', async (code) => {
    const record = await sent({ ach: { mode: 'return', code } });
    const account = await accountOf(record);
    await on.at(plusDays(start, 4));
    await settle(record);
    expect((await here.row(record)).usioError).toMatch(new RegExp(`^${code}: `));
    expect((await background(record, account)).achBlock).toBe(code);

    await on.at(plusDays(start, 10));
    const refusal = { verdict: 'skipped', reason: 'ach-account-blocked' };
    expect(await here.collect('RETRY', record)).toMatchObject(refusal);
    const [, next] = await here.partition(record.userId);
    await on.at(plusMs(next!.billingDate, HOUR));
    expect(await here.collect('INITIAL', next!)).toMatchObject(refusal);
  });

  it('of a period that is too old by now is written off', async () => {
    const record = await sent({ ach: { mode: 'return', code: 'R01' } }, 26);
    await on.at(plusDays(start, 4));
    expect(await settle(record)).toMatchObject({ settled: { billingStatus: 'STALE' } });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'STALE',
      completionDate: here.now,
      usioError: 'R01: insufficient funds',
    });
  });

  it('that comes after the payment was taken for good opens the record again', async () => {
    const record = await sent({ late_return: { code: 'R10', after_days: 10 } });
    await on.at(plusDays(start, 4));
    await settle(record);
    expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED' });

    await on.at(plusDays(start, 20));
    const account = await accountOf(record);
    await withEntry(record, (entry) =>
      recordAchOutcome(here.dependencies, entry, {
        result: 'RETURNED',
        returnCode: 'R10',
        message: 'customer advises not authorized',
      }),
    );
    expect(await here.row(record)).toMatchObject({ billingStatus: 'ERROR', completionDate: null });
    expect(await entries(record)).toMatchObject([{ result: 'RETURNED', returnCode: 'R10' }]);
    expect((await background(record, account)).achBlock).toBe('R10');
  });
});

describe('when an event got there first', () => {
  it('the same word written down by it ends the watch, with whatever goes along', async () => {
    const record = await sent();
    await on.at(plusDays(start, 3));
    const applied = here.dependencies.pipeline.blockAccount('somebody', 'R02');
    await withEntry(record, (entry) =>
      recordAchOutcome(
        here.dependencies,
        entry,
        { result: 'COMPLETED' },
        { data: { event_id: 'event-1' }, also: [applied] },
      ),
    );
    expect(await watchOn(record)).toBeNull();
    const { entries: history } = await here.store.history.getByID(record.subscriptionId);
    expect(history.at(-1)!.data).toMatchObject({
      event_id: 'event-1',
      confirmation_id: record.transactionId,
    });
    expect((await background(record, 'somebody')).achBlock).toBe('R02');
    await on.at(plusDays(start, 4));
    expect(await isDue(record)).toBe(false);
    expect(await settle(record)).toEqual({ left: 'settled-meanwhile' });
  });

  it('a watch that it knew nothing of is removed, without asking the processor', async () => {
    const record = await sent();
    await on.at(plusDays(start, 4));
    const { confirmationId } = (await watchOn(record))!;
    await on.change(record, 'refunded', { billingStatus: 'REFUNDED', completionDate: here.now });
    const row = await here.row(record);
    await here.faults([{ id: 'down', service: 'lookups', fault: 'error-before' }]);
    expect(await settle(record)).toEqual({ left: 'settled-meanwhile' });
    expect(await watchOn(record)).toBeNull();
    expect(await here.row(record)).toEqual(row);
    await here.faults([]);
    await on.refund(confirmationId);
  });
});

describe('a watch', () => {
  it('that was replaced by that of a newer entry is neither pushed nor removed by an older look', async () => {
    const record = await sent();
    const { watches } = here.dependencies.pipeline;
    const old = { ...(await watchOn(record))!, confirmationId: 'an-earlier-one' };
    await watches.askAgainLater(old, here.now);
    await watches.forget(old);
    expect(await watchOn(record)).toMatchObject({ confirmationId: record.transactionId, checks: 0 });
    await watches.askAgainLater((await watchOn(record))!, here.now);
    await watches.askAgainLater({ ...old, confirmationId: record.transactionId }, here.now);
    expect(await watchOn(record)).toMatchObject({ checks: 1 });
  });

  it('costs the collection no request of its own', async () => {
    const record = await here.member({ has_debit_card: false }, { billingDate: plusMs(start, -HOUR) });
    const faults = injectFaults(here.store.client);
    await here.collect('INITIAL', record);
    const calls = ['PutItemCommand', 'TransactWriteItemsCommand'].map((name) => faults.calls(name));
    faults.remove();
    expect(calls).toEqual([1, 2]);
    const Key = marshall({ pk: `SUB#${record.subscriptionId}`, sk: 'WATCH' });
    const { Item } = await here.store.client.send(
      new GetItemCommand({ TableName: here.store.tables.pipeline, Key }),
    );
    expect(Item!['dueList']!.S).toMatch(/^ach-watch#\d$/);
  });
});

/** What an event handler does: under the user's lock, by the confirmation id. */
async function withEntry(
  record: StoredSubscription,
  work: (entry: NonNullable<Awaited<ReturnType<typeof readEntry>>>) => Promise<unknown>,
): Promise<void> {
  const acquired = await here.dependencies.locks.acquire(subscriptionLockKey(record.userId));
  if ('busy' in acquired) throw new Error('busy');
  const ids = { ...record, confirmationId: record.transactionId };
  const entry = await readEntry(here.dependencies, acquired.lock, ids);
  await work(entry!);
  await acquired.lock.release();
}
