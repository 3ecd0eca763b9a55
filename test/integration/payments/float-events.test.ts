import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { applyPaymentEvent } from '../../../src/app/apply-payment-event.ts';
import { updateFloat } from '../../../src/app/floats/update-float.ts';
import { settleAch } from '../../../src/app/settle-ach.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { dateOf } from '../../../src/domain/calendar-date.ts';
import type { Float, FloatId, FloatStatus } from '../../../src/domain/floats/float.ts';
import { FLOAT_STATUSES } from '../../../src/domain/floats/float.ts';
import { floatStepped } from '../../../src/domain/floats/outcomes.ts';
import { recordIdOf } from '../../../src/domain/floats/record-id.ts';
import { planFloatSupport } from '../../../src/domain/floats/support.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import { floatLockKey, subscriptionLockKey } from '../../../src/ports/lock.ts';
import type { UserService } from '../../../src/ports/services.ts';
import { fail, inTurn, injectFaults, loseAnswer, pass, timedOut } from '../../support/dynamo-faults.ts';
import type { FloatNews, FloatNewsDesk } from '../../support/float-news.ts';
import { FLOAT_NEWS, floatNews } from '../../support/float-news.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

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
  start = plusDays(start, 84);
  await on.at(start);
});
afterEach(async () => {
  here.onStep = () => undefined;
  await here.faults([]);
});

/** By then the bank has said everything, whatever holidays there were. */
const aWeekLater = () => on.at(plusDays(start, 7));
const row = (float: Float) => on.desk.row(float);
const isOpen = async ({ userId, floatId }: Float) => (await on.desk.floats.openOf(userId)).includes(floatId);
const isWaiting = (event: Parameters<typeof on.payments.isWaiting>[0]) => on.payments.isWaiting(event);

async function completed(settings: object = {}): Promise<Float> {
  const float = await on.sent(settings);
  await aWeekLater();
  await on.tell('DEBIT_COMPLETED', float);
  return row(float);
}

/** A user service in which something happens at the ban. */
const bannedBy = (ban: UserService['ban']): UserService => ({
  get: (userId) => here.dependencies.users.get(userId),
  ban,
});
const bans = async ({ userId }: Float): Promise<unknown[]> => {
  const page = await here.bank('GET', `/ledger?type=user.ban_requested&user_id=${userId}`);
  return (page as { entries: unknown[] }).entries;
};

const alarmsAbout = ({ floatId }: Float) =>
  here.alarms.filter((one) => 'floatId' in one && one.floatId === floatId);

/** Somebody else holds the member's lock on floats. */
async function stealLock({ userId }: Float, fields: object = {}): Promise<void> {
  const Item = marshall({ PartitionKey: floatLockKey(userId), ownerName: 'somebody-else', ...fields });
  await here.store.client.send(new PutItemCommand({ TableName: here.store.tables.locks, Item }));
}

describe('any event about a float in any status', () => {
  const ENDS: Record<FloatNews, Partial<Record<FloatStatus, FloatStatus>>> = {
    DEBIT_COMPLETED: { ACHSENT: 'COMPLETED', DEFAULTED: 'DEFAULTED' },
    DEBIT_RETURNED: { ACHSENT: 'RETRY', COMPLETED: 'RETRY', DEFAULTED: 'DEFAULTED' },
    CREDIT_RETURNED: {
      SCHEDULING: 'DEFAULTED',
      ACHSENT: 'DEFAULTED',
      RETRY: 'DEFAULTED',
      UNCOLLECTABLE: 'DEFAULTED',
      COMPLETED: 'DEFAULTED',
      DEFAULTED: 'DEFAULTED',
    },
  };
  const LOGGED = { DEBIT_COMPLETED: ['COMPLETED'], DEBIT_RETURNED: ['RETURNED'], CREDIT_RETURNED: [] };
  const cells = FLOAT_NEWS.flatMap((news) =>
    FLOAT_STATUSES.map((status) => ({ news, status, end: ENDS[news][status] ?? null })),
  );

  it.each(cells)('$news on $status: $end', async ({ news, status, end }) => {
    const paidAt = { completedAt: status === 'COMPLETED' ? here.now : null };
    const float = await on.put(await on.sent(), { status, ...paidAt });
    const watch = await on.watch(float);
    const event = await on.receive(news, float);
    const what = news.replace('DEBIT_', '').replace('_', '-').toLowerCase();
    expect(await on.apply(event)).toEqual(
      end === null
        ? { result: 'no-op', reason: `float-is-${status.toLowerCase()}`, changed: [] }
        : { result: 'changed', reason: what, changed: [recordIdOf(float.floatId)] },
    );
    expect(await isWaiting(event)).toBe(false);
    expect(await on.outcomes(float)).toEqual(['ACHSENT', ...(end === null ? [] : LOGGED[news])]);
    expect(await on.userStatus(float)).toBe(news === 'CREDIT_RETURNED' ? 'BANNED' : 'ACTIVE');
    // That the advance came back is no word about the debit: somebody has to go on asking.
    expect(await on.watch(float)).toEqual(end === null || news === 'CREDIT_RETURNED' ? watch : null);
    const after = await row(float);
    if (end === null || (end === status && news !== 'CREDIT_RETURNED')) {
      expect(after).toEqual({ ...float, lastRunTime: after.lastRunTime });
      return;
    }
    expect(after).toMatchObject({
      status: end,
      creditReturnedAt: news === 'CREDIT_RETURNED' ? here.now : null,
      completedAt: end === 'COMPLETED' ? here.now : null,
      error: end === 'COMPLETED' ? '' : 'R01: insufficient funds',
    });
    expect(await isOpen(float)).toBe(end === 'RETRY');
  });
});

describe('a debit that was completed', () => {
  it('is told by the bank in words that are understood, with everything that belongs to it', async () => {
    const float = await on.sent();
    await aWeekLater();
    const [event, ...others] = await on.receiveFromBank(float);
    expect(others).toEqual([]);
    expect(await on.apply(event!)).toMatchObject({ result: 'changed', reason: 'completed' });
    expect(await row(float)).toMatchObject({ status: 'COMPLETED', completedAt: here.now });
    expect(await on.entries(float)).toMatchObject([{ rail: 'ACH', at: start, result: 'COMPLETED' }]);
    const log = await on.desk.log(float);
    expect(log[1]).toMatchObject({
      process: 'TODAY6AM',
      outcome: 'COMPLETED',
      method: 'ACH',
      attemptId: log[0]!.attemptId,
      confirmationId: float.confirmationId,
      achModel: { version: 'rule-1' },
      runTime: (await row(float)).lastRunTime,
    });
  });

  it('and told twice is completed once', async () => {
    const float = await on.sent();
    await here.faults([{ id: randomUUID(), service: 'callbacks', fault: 'duplicate-callback', times: 1 }]);
    await aWeekLater();
    const events = await on.receiveFromBank(float);
    expect(events).toHaveLength(2);
    const first = await on.apply(events[0]!);
    const after = await row(float);
    expect(await on.apply(events[1]!)).toEqual(first);
    expect(await row(float)).toEqual(after);
    expect(await on.outcomes(float)).toEqual(['ACHSENT', 'COMPLETED']);
    expect(await isWaiting(events[1]!)).toBe(false);
  });

  it('once more in another event changes nothing', async () => {
    const float = await completed();
    const again = { ...(await on.receive('DEBIT_COMPLETED', float)), identity: randomUUID() };
    expect(await on.apply(again)).toMatchObject({ result: 'no-op', reason: 'float-is-completed' });
    expect(await row(float)).toEqual(float);
  });

  it('whose write was lost on its way is applied once', async () => {
    const float = await on.sent();
    await aWeekLater();
    const event = await on.receive('DEBIT_COMPLETED', float);
    const faults = injectFaults(here.store.client);
    faults.script('TransactWriteItemsCommand', loseAnswer(timedOut()));
    expect(await on.apply(event)).toMatchObject({ result: 'changed' });
    faults.remove();
    expect(await on.outcomes(float)).toEqual(['ACHSENT', 'COMPLETED']);
    expect(await isWaiting(event)).toBe(false);
  });
});

describe('a debit that came back', () => {
  it('is owed again, with the code, and presented again later', async () => {
    const float = await on.sent({ ach: { mode: 'return', code: 'R01', times: 1 } });
    await aWeekLater();
    const [event] = await on.receiveFromBank(float);
    expect(await on.apply(event!)).toMatchObject({ result: 'changed', reason: 'returned' });
    expect(await row(float)).toMatchObject({ status: 'RETRY', error: 'R01: insufficient funds' });
    expect(await on.entries(float)).toMatchObject([{ result: 'RETURNED', returnCode: 'R01' }]);
    expect(await on.block(float)).toBeNull();
    expect(await on.desk.collect('RETRY', float)).toMatchObject({ verdict: 'sent' });
  });

  it('for the third time is the last', async () => {
    const float = await on.sent({ ach: { mode: 'return', code: 'R01' } });
    for (const days of [8, 16]) {
      await on.at(plusDays(start, days - 1));
      await on.tell('DEBIT_RETURNED', await row(float));
      await on.at(plusDays(start, days));
      expect(await on.desk.collect('RETRY', float)).toMatchObject({ verdict: 'sent' });
    }
    await on.at(plusDays(start, 24));
    await on.tell('DEBIT_RETURNED', await row(float));
    expect(await on.desk.collect('RETRY', float)).toMatchObject({
      verdict: 'defaulted',
      reason: 'ach-attempts-used-up',
    });
  });

  it('thirty days after it was paid is owed again, and the float is open once more', async () => {
    const float = await on.sent({ late_return: { code: 'R10', after_days: 30 } });
    await aWeekLater();
    const [paid] = await on.receiveFromBank(float);
    await on.apply(paid!);
    expect(await isOpen(float)).toBe(false);
    await on.at(plusDays(start, 40));
    const [, back] = await on.receiveFromBank(float);
    expect(await on.apply(back!)).toMatchObject({ result: 'changed', reason: 'returned' });
    expect(await row(float)).toMatchObject({ status: 'RETRY', completedAt: null });
    expect(await isOpen(float)).toBe(true);
    expect(await on.outcomes(float)).toEqual(['ACHSENT', 'COMPLETED', 'RETURNED']);
    expect(await on.entries(float)).toMatchObject([{ result: 'RETURNED', returnCode: 'R10' }]);
    expect(await on.block(float)).toBe('R10');
  });

  it.each([
    [60, 'changed', 'returned', 'RETRY'],
    [61, 'no-op', 'returned-too-late', 'COMPLETED'],
  ])('%i days after it was paid: %s', async (days, result, reason, status) => {
    const float = await completed();
    await on.at(plusDays(here.now, days));
    expect(await on.tell('DEBIT_RETURNED', float, { return_code: 'R10' })).toMatchObject({ result, reason });
    expect(await row(float)).toMatchObject({ status });
    // Whatever the float says, the bank wants no more debits to this account.
    expect(await on.block(float)).toBe('R10');
  });

  it('when another payment was made since changes nothing but what is known of the account', async () => {
    const float = await on.sent({ ach: { mode: 'return', code: 'R01', times: 1 } });
    await aWeekLater();
    await on.tell('DEBIT_RETURNED', float);
    expect(await on.desk.collect('RETRY', float)).toMatchObject({ verdict: 'sent' });
    const newer = await row(float);
    for (const news of ['DEBIT_COMPLETED', 'DEBIT_RETURNED'] as const) {
      const event = await on.receive(news, float, news === 'DEBIT_RETURNED' ? { return_code: 'R02' } : {});
      expect(await on.apply({ ...event, identity: randomUUID() })).toMatchObject({
        result: 'no-op',
        reason: 'another-payment-since',
      });
    }
    expect(await row(float)).toEqual(newer);
    expect(await on.watch(float)).toMatchObject({ confirmationId: newer.confirmationId });
    expect(await on.block(float)).toBe('R02');
  });

  it('told after the janitor knew it and support had it paid asks nobody to pay twice', async () => {
    const float = await on.sent({ ach: { mode: 'return', code: 'R01' } });
    await aWeekLater();
    await settleAch(here.dependencies, { ...float, subscriptionId: recordIdOf(float.floatId) });
    const returned = await row(float);
    const support = planFloatSupport(returned, 'COMPLETED', null, here.now);
    if (support.plan === 'refused') throw new Error(support.detail);
    await on.desk.floats.save('unlocked', returned, support.change);
    expect(await on.tell('DEBIT_RETURNED', float)).toMatchObject({
      result: 'no-op',
      reason: 'returned-before',
    });
    expect(await row(float)).toEqual(support.change.float);
  });

  it('of a card is no word of the bank', async () => {
    const float = await on.due({ has_debit_card: true });
    expect(await on.desk.collect('TODAY6AM', float)).toMatchObject({ verdict: 'collected' });
    const paid = await row(float);
    expect(await on.tell('DEBIT_RETURNED', paid)).toMatchObject({ reason: 'not-an-ach-debit' });
    expect(await on.tell('DEBIT_COMPLETED', paid)).toMatchObject({ reason: 'float-is-completed' });
    expect(await row(float)).toEqual(paid);
  });
});

describe('a hard return code', () => {
  const noCard = { has_debit_card: false, ach: { mode: 'return', code: 'R02' } };
  const period = () => ({ billingDate: plusMs(start, -3_600_000) });

  it('on a float stops ACH for floats and subscriptions alike', async () => {
    const record = await here.member(noCard, period());
    const float = await on.sent(noCard, { userId: record.userId });
    await aWeekLater();
    const [event] = await on.receiveFromBank(float);
    expect(await on.apply(event!)).toMatchObject({ result: 'changed' });
    expect(await on.block(float)).toBe('R02');
    expect(await on.desk.collect('RETRY', float)).toMatchObject({
      verdict: 'skipped',
      reason: 'ach-account-blocked',
    });
    expect(await here.collect('INITIAL', record)).toMatchObject({
      verdict: 'skipped',
      reason: 'ach-account-blocked',
    });
  });

  it('on a subscription stops it for floats', async () => {
    const record = await here.member(noCard, period());
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
    await aWeekLater();
    const [event] = await on.payments.receiveFromBank(record);
    await on.payments.apply(event!);
    const float = await on.due(noCard, { userId: record.userId });
    expect(await on.desk.collect('TODAY6AM', float)).toMatchObject({
      verdict: 'given-up',
      reason: 'ach-account-blocked',
    });
  });
});

describe('an advance that came back', () => {
  it('ends the float and bans the member, as the bank tells it', async () => {
    const float = await on.due();
    const { userId: user_id, floatId: float_id } = float;
    await here.bank('POST', '/sandbox/credit-returns', { user_id, float_id, amount: '60.00', code: 'R03' });
    const [event] = await on.receiveFromBank(float);
    expect(await on.apply(event!)).toEqual({
      result: 'changed',
      reason: 'credit-returned',
      changed: [recordIdOf(float.floatId)],
    });
    expect(await row(float)).toMatchObject({
      status: 'DEFAULTED',
      error: 'R03: no account or unable to locate account',
    });
    expect(await on.userStatus(float)).toBe('BANNED');
    // It says nothing about a debit of ours.
    expect(await on.desk.log(float)).toEqual([]);
    expect(await on.block(float)).toBeNull();
    expect(await isOpen(float)).toBe(false);
  });

  it('twice bans twice, harmlessly, under whatever identity', async () => {
    const float = await on.sent();
    await on.tell('CREDIT_RETURNED', float);
    const after = await row(float);
    expect(await on.tell('CREDIT_RETURNED', float)).toMatchObject({ result: 'changed' });
    const other = { ...(await on.receive('CREDIT_RETURNED', float)), identity: randomUUID() };
    expect(await on.apply(other)).toMatchObject({ result: 'no-op', reason: 'credit-returned-before' });
    expect(await bans(float)).toHaveLength(2);
    expect(await row(float)).toEqual(after);
    expect(await on.userStatus(float)).toBe('BANNED');
  });

  it('bans before it writes: without the user service nothing is written, and later it is done', async () => {
    const float = await on.sent();
    const event = await on.receive('CREDIT_RETURNED', float);
    await here.faults([{ id: randomUUID(), service: 'users', fault: 'error-before' }]);
    await expect(on.apply(event)).rejects.toMatchObject({ code: 'service-down' });
    expect(await row(float)).toEqual(float);
    expect(await isWaiting(event)).toBe(true);
    await here.faults([]);
    expect(await on.apply(event)).toMatchObject({ result: 'changed' });
    expect(await on.userStatus(float)).toBe('BANNED');
  });

  it('is finished by the next one when whoever banned the member died', async () => {
    const float = await on.sent();
    const event = await on.receive('CREDIT_RETURNED', float);
    const users = bannedBy(async (userId, reason) => {
      await on.payments.dependencies.users.ban(userId, reason);
      throw new Error('killed');
    });
    await expect(on.apply(event, { users })).rejects.toThrow('killed');
    expect(await on.userStatus(float)).toBe('BANNED');
    expect(await row(float)).toEqual(float);
    expect(await on.apply(event)).toMatchObject({ result: 'changed' });
    expect(await row(float)).toMatchObject({ status: 'DEFAULTED' });
  });

  it('from a member whom the user service does not know ends the float all the same', async () => {
    const float = await on.sent();
    const event = await on.receive('CREDIT_RETURNED', float);
    const users = bannedBy(() => Promise.resolve(false));
    expect(await on.apply(event, { users })).toMatchObject({
      result: 'changed',
      reason: 'credit-returned-by-unknown-user',
    });
    expect(await row(float)).toMatchObject({ status: 'DEFAULTED' });
  });

  const declines = { pinless: { mode: 'decline', code: '14' } };
  it.each([
    ['was sent', {}, 'sent', 'ACHSENT', []],
    ['was paid', { has_debit_card: true }, 'collected', 'COMPLETED', ['float-overpaid']],
    ['was declined', { has_debit_card: true, ...declines }, 'declined', 'RETURNED', []],
  ])(
    'while a charge is open leaves its answer to come, and stays given up: it %s',
    async (_, settings, verdict, outcome, alarms) => {
      const { float, settled } = await returnedWhileOpen(settings);
      expect(settled).toMatchObject({ settled: { verdict } });
      expect(float).toMatchObject({ status: 'DEFAULTED', completedAt: null });
      expect([await on.outcomes(float), await isOpen(float)]).toEqual([[outcome], false]);
      expect(await on.openAttempt(float)).toBeNull();
      expect(alarmsAbout(float).map(({ alarm }) => alarm)).toEqual(alarms);
    },
  );

  const ask = (float: Float) =>
    settleAch(here.dependencies, { ...float, subscriptionId: recordIdOf(float.floatId) });
  it.each([
    ['paid', 'an event', {}, 'COMPLETED', (float: Float) => on.tell('DEBIT_COMPLETED', float)],
    ['paid', 'the janitor', {}, 'COMPLETED', ask],
    ['returned', 'an event', {}, 'RETURNED', (float: Float) => on.tell('DEBIT_RETURNED', float)],
    ['returned', 'the janitor', { ach: { mode: 'return', code: 'R01' } }, 'RETURNED', ask],
  ])(
    'while an entry had no answer is not owed again, and nothing is kept in silence: it was %s, as %s says',
    async (_, _who, settings, outcome, tell) => {
      const { float } = await returnedWhileOpen(settings);
      const { userId, floatId, confirmationId } = float;
      expect(await on.watch(float)).toMatchObject({ confirmationId });
      await aWeekLater();
      await tell(float);
      const after = await row(float);
      expect(after).toEqual({ ...float, lastRunTime: after.lastRunTime });
      expect(await on.outcomes(float)).toEqual(['ACHSENT', outcome]);
      expect(await on.watch(float)).toBeNull();
      const alarm = { alarm: 'float-overpaid', userId, floatId, confirmationId };
      expect(alarmsAbout(float)).toEqual(outcome === 'COMPLETED' ? [alarm] : []);
    },
  );

  it('while an entry had no answer, and the bank’s word is the first that is heard of it, tells somebody', async () => {
    const float = await on.unanswered();
    const open = (await on.openAttempt(float))!;
    const { confirmationId } = (await here.dependencies.processor.findByKey(open.attemptId))!;
    await on.tell('CREDIT_RETURNED', float);
    expect(await on.tell('DEBIT_COMPLETED', { ...float, confirmationId })).toMatchObject({
      result: 'changed',
    });
    expect(await row(float)).toMatchObject({ status: 'DEFAULTED', confirmationId });
    expect(await on.outcomes(float)).toEqual(['ACHSENT', 'COMPLETED']);
    expect(await on.watch(float)).toBeNull();
    expect(alarmsAbout(float)).toMatchObject([{ confirmationId }]);
  });

  /** Told of between the charge and its answer, which the janitor then hears. */
  async function returnedWhileOpen(settings: object) {
    const float = await on.unanswered(settings);
    expect(await on.tell('CREDIT_RETURNED', float)).toMatchObject({ result: 'changed' });
    expect(await row(float)).toMatchObject({ status: 'DEFAULTED' });
    const open = (await on.openAttempt(float))!;
    const settled = await settleAttempt(here.dependencies, { abandonAfterMs: 1e9 }, open);
    return { float: await row(float), settled };
  }
});

describe('an advance that came back while a debit was under way', () => {
  const ask = (float: Float) =>
    settleAch(here.dependencies, { ...float, subscriptionId: recordIdOf(float.floatId) });
  async function returnedUnderWay(settings: object = {}): Promise<Float> {
    const float = await on.sent(settings);
    await on.tell('CREDIT_RETURNED', float);
    await aWeekLater();
    return row(float);
  }

  it.each([
    ['an event', (float: Float): Promise<unknown> => on.tell('DEBIT_COMPLETED', float)],
    ['the janitor', ask],
  ])('tells somebody when the debit is paid, as %s says', async (_, tell) => {
    const float = await returnedUnderWay();
    await tell(float);
    expect(await row(float)).toMatchObject({ status: 'DEFAULTED', error: float.error });
    expect(await on.outcomes(float)).toEqual(['ACHSENT', 'COMPLETED']);
    expect(await on.entries(float)).toMatchObject([{ result: 'COMPLETED' }]);
    expect(await on.watch(float)).toBeNull();
    const { userId, floatId, confirmationId } = float;
    expect(alarmsAbout(float)).toEqual([{ alarm: 'float-overpaid', userId, floatId, confirmationId }]);
  });

  it.each([
    ['an event', (float: Float): Promise<unknown> => on.tell('DEBIT_RETURNED', float)],
    ['the janitor', ask],
  ])('knows when the debit comes back too, as %s says, and nothing is pending', async (_, tell) => {
    const float = await returnedUnderWay({ ach: { mode: 'return', code: 'R01' } });
    await tell(float);
    expect(await row(float)).toMatchObject({ status: 'DEFAULTED', error: float.error });
    expect(await on.outcomes(float)).toEqual(['ACHSENT', 'RETURNED']);
    expect(await on.entries(float)).toMatchObject([{ result: 'RETURNED', returnCode: 'R01' }]);
    expect(await on.watch(float)).toBeNull();
    expect(alarmsAbout(float)).toEqual([]);
  });

  it('is not owed again when the debit is paid and taken back after that', async () => {
    const float = await returnedUnderWay();
    await on.tell('DEBIT_COMPLETED', float);
    expect(await on.tell('DEBIT_RETURNED', float)).toMatchObject({ result: 'changed' });
    expect(await row(float)).toMatchObject({ status: 'DEFAULTED' });
    expect(await on.outcomes(float)).toEqual(['ACHSENT', 'COMPLETED', 'RETURNED']);
  });

  it('is not asked for again before the bank has said what became of the debit', async () => {
    const { userId, floatId } = await returnedUnderWay();
    const update = { userId, floatId, status: 'RETRY', by: { who: 'support' } } as const;
    await expect(updateFloat({ ...here.dependencies, owned: { kind: 'all' } }, update)).rejects.toMatchObject(
      {
        refused: 'attempt-open',
      },
    );
  });

  it('and one that comes back after it was paid tells somebody too, of the payment', async () => {
    const float = await completed();
    await on.tell('CREDIT_RETURNED', float);
    const { userId, floatId, confirmationId } = float;
    expect(alarmsAbout(float)).toEqual([{ alarm: 'float-overpaid', userId, floatId, confirmationId }]);
  });
});

describe('an attempt that was given up, and was made all the same', () => {
  /** The entry that nobody knew of for a day, and the float as it stood before. */
  async function givenUp(settings: object = {}): Promise<{ float: Float; entry: Float }> {
    const before = await on.unanswered(settings);
    const open = (await on.openAttempt(before))!;
    const { processor } = here.dependencies;
    const known = (await processor.findByKey(open.attemptId))!;
    await on.at(plusDays(start, 1));
    const forgetful: typeof processor = {
      charge: (key, request) => processor.charge(key, request),
      refund: (key, id) => processor.refund(key, id),
      findByKey: () => Promise.resolve(null),
      findByConfirmation: (id) => processor.findByConfirmation(id),
    };
    await settleAttempt({ ...here.dependencies, processor: forgetful }, { abandonAfterMs: 1 }, open);
    const float = await row(before);
    expect(float).toMatchObject({ status: 'RETRY' });
    return { float, entry: { ...float, confirmationId: known.confirmationId } };
  }

  it.each([
    ['paid', 'DEBIT_COMPLETED', 'COMPLETED', ['float-overpaid']],
    ['returned', 'DEBIT_RETURNED', 'RETURNED', []],
  ] as const)(
    'is known as %s although another payment settled the float',
    async (_, news, outcome, alarms) => {
      const { float, entry } = await givenUp();
      await here.bank('PUT', `/sandbox/users/${float.userId}`, { has_debit_card: true });
      expect(await on.desk.collect('RETRY', float)).toMatchObject({ verdict: 'collected' });
      const paid = await row(float);
      expect(await on.tell(news, entry)).toMatchObject({ result: 'changed' });
      const after = await row(float);
      expect(after).toEqual({ ...paid, lastRunTime: after.lastRunTime });
      expect(await on.outcomes(float)).toEqual(['RETURNED', 'COMPLETED', 'ACHSENT', outcome]);
      expect((await on.entries(float)).filter(({ rail }) => rail === 'ACH')).toMatchObject([
        { result: outcome },
      ]);
      expect(alarmsAbout(float).map(({ alarm }) => alarm)).toEqual(alarms);
      // Told once more it is nothing new.
      const again = { ...(await on.receive(news, entry)), identity: randomUUID() };
      expect(await on.apply(again)).toMatchObject({ result: 'no-op', reason: 'another-payment-since' });
    },
  );

  it('leaves another entry that is under way as it is, and its watch', async () => {
    const { float, entry } = await givenUp();
    expect(await on.desk.collect('RETRY', float)).toMatchObject({ verdict: 'sent' });
    const [sent, watch] = [await row(float), await on.watch(float)];
    expect(await on.tell('DEBIT_COMPLETED', entry)).toMatchObject({ result: 'changed' });
    expect(await on.watch(float)).toEqual(watch);
    expect(await on.tell('DEBIT_COMPLETED', sent)).toMatchObject({ result: 'changed', reason: 'completed' });
    expect(await row(float)).toMatchObject({ status: 'COMPLETED', confirmationId: sent.confirmationId });
    expect(alarmsAbout(float)).toMatchObject([{ confirmationId: entry.confirmationId }]);
  });

  it.each(['DEBIT_COMPLETED', 'DEBIT_RETURNED'] as const)(
    'leaves another entry that is under way as it is, and its watch, although the advance came back: %s',
    async (news) => {
      const { float, entry } = await givenUp();
      await on.desk.collect('RETRY', float);
      const [sent, watch] = [await row(float), await on.watch(float)];
      await on.tell('CREDIT_RETURNED', sent);
      expect(await on.tell(news, entry)).toMatchObject({ result: 'changed' });
      expect(await on.watch(float)).toEqual(watch);
      const { confirmationId } = sent;
      expect(await row(float)).toMatchObject({ status: 'DEFAULTED', confirmationId });
      expect(await on.tell('DEBIT_COMPLETED', sent)).toMatchObject({ result: 'changed' });
      expect(await on.watch(float)).toBeNull();
      const overpaid = news === 'DEBIT_COMPLETED' ? [entry, sent] : [sent];
      expect(alarmsAbout(float)).toMatchObject(
        overpaid.map((paid) => ({ alarm: 'float-overpaid', confirmationId: paid.confirmationId })),
      );
    },
  );

  it.each(['paid before', 'paid after'])(
    'has paid the float: when the other entry comes back, and it was %s, nobody is charged until support says so',
    async (order) => {
      const { float, entry } = await givenUp();
      expect(await on.desk.collect('RETRY', float)).toMatchObject({ verdict: 'sent' });
      const sent = await row(float);
      if (order === 'paid before') await on.tell('DEBIT_COMPLETED', entry);
      else await on.tell('DEBIT_COMPLETED', sent);
      if (order === 'paid after') await on.tell('DEBIT_COMPLETED', entry);
      expect(await on.tell('DEBIT_RETURNED', sent)).toMatchObject({ result: 'changed' });
      expect(await row(float)).toMatchObject({ status: 'RETRY' });
      await here.bank('PUT', `/sandbox/users/${float.userId}`, { has_debit_card: true });
      await on.at(plusDays(start, 9));
      for (const stage of ['RETRY', 'WEBHOOK', 'SUPPORT'] as const)
        expect(await on.desk.collect(stage, float)).toMatchObject({
          verdict: 'skipped',
          reason: 'paid-already',
        });
      const { userId, floatId } = float;
      const update = { userId, floatId, status: 'RETRY', by: { who: 'support' } } as const;
      await updateFloat({ ...here.dependencies, owned: { kind: 'all' } }, update);
      expect(await on.desk.collect('RETRY', float)).toMatchObject({ verdict: 'collected' });
    },
  );

  it('pays what is owed, also if the float has been given up since', async () => {
    const { float, entry } = await givenUp();
    const gone = { verdict: 'default', reason: 'too-long-past-due' } as const;
    await on.desk.floats.save('unlocked', float, floatStepped(float, 'RETRY', gone, here.now));
    expect(await on.tell('DEBIT_COMPLETED', entry)).toMatchObject({ result: 'changed' });
    expect(await row(float)).toMatchObject({ status: 'COMPLETED', confirmationId: entry.confirmationId });
    expect(alarmsAbout(float)).toEqual([]);
  });

  it.each([
    ['since', []],
    ['since, and a limit had been reached before', ['limit']],
  ])(
    'pays for nothing if the advance came back %s: the float stays given up, and somebody is told',
    async (_, before) => {
      const { float, entry } = await givenUp();
      const gone = { verdict: 'default', reason: 'too-long-past-due' } as const;
      if (before.length > 0)
        await on.desk.floats.save('unlocked', float, floatStepped(float, 'RETRY', gone, here.now));
      expect(await on.tell('CREDIT_RETURNED', float)).toMatchObject({ result: 'changed' });
      expect(await on.tell('DEBIT_COMPLETED', entry)).toMatchObject({ result: 'changed' });
      const { confirmationId } = entry;
      expect(await row(float)).toMatchObject({
        status: 'DEFAULTED',
        confirmationId,
        creditReturnedAt: here.now,
      });
      expect(alarmsAbout(float)).toMatchObject([{ alarm: 'float-overpaid', confirmationId }]);
      expect(await on.watch(float)).toBeNull();
    },
  );

  it('pays what is owed again where support says so after the advance came back', async () => {
    const { float, entry } = await givenUp();
    await on.tell('CREDIT_RETURNED', float);
    const { userId, floatId } = float;
    const update = { userId, floatId, status: 'RETRY', by: { who: 'support' } } as const;
    await updateFloat({ ...here.dependencies, owned: { kind: 'all' } }, update);
    expect(await on.tell('DEBIT_COMPLETED', entry)).toMatchObject({ result: 'changed' });
    expect(await row(float)).toMatchObject({ status: 'COMPLETED', creditReturnedAt: null });
    expect(alarmsAbout(float)).toEqual([]);
  });

  it('that came back as well leaves the float to be collected', async () => {
    const { float, entry } = await givenUp();
    await on.desk.collect('RETRY', float);
    const sent = await row(float);
    for (const news of ['DEBIT_COMPLETED', 'DEBIT_RETURNED'] as const) await on.tell(news, entry);
    await on.tell('DEBIT_RETURNED', sent);
    await here.bank('PUT', `/sandbox/users/${float.userId}`, { has_debit_card: true });
    await on.at(plusDays(start, 9));
    expect(await on.desk.collect('RETRY', float)).toMatchObject({ verdict: 'collected' });
  });

  it('and whoever wrote down that it was made died: the next one goes on from there', async () => {
    const { float, entry } = await givenUp();
    await here.bank('PUT', `/sandbox/users/${float.userId}`, { has_debit_card: true });
    await on.desk.collect('RETRY', float);
    const event = await on.receive('DEBIT_COMPLETED', entry);
    const faults = injectFaults(here.store.client);
    faults.script('TransactWriteItemsCommand', inTurn(pass, fail(new Error('died'))), { times: 2 });
    await expect(on.apply(event)).rejects.toThrow('died');
    faults.remove();
    expect(await on.outcomes(float)).toEqual(['RETURNED', 'COMPLETED', 'ACHSENT']);
    expect(await on.apply(event)).toMatchObject({ result: 'changed' });
    expect(await on.outcomes(float)).toEqual(['RETURNED', 'COMPLETED', 'ACHSENT', 'COMPLETED']);
  });
});

describe('when the word is faster than the answer to the charge', () => {
  const early = () =>
    here.faults([{ id: randomUUID(), service: 'callbacks', fault: 'early-callback', times: 1 }]);

  it('it waits for whoever charges, and is applied after them', async () => {
    const float = await on.due();
    await early();
    let meanwhile: unknown;
    here.onStep = async (step) => {
      if (step !== 'charged') return;
      const [event] = await on.receiveFromBank(float);
      meanwhile = await applyPaymentEvent(on.payments.dependencies, event!);
      expect(await isWaiting(event!)).toBe(true);
    };
    expect(await on.desk.collect('TODAY6AM', float)).toMatchObject({ verdict: 'sent' });
    expect(meanwhile).toHaveProperty('busy.version');
    const event = await on.payments.dependencies.inbox.earliest('payments', float.userId);
    expect(await on.apply(event!)).toMatchObject({ result: 'changed', reason: 'completed' });
    expect(await on.outcomes(float)).toEqual(['ACHSENT', 'COMPLETED']);
    expect(debits(await on.desk.ledger(float))).toBe(1);
  });

  it.each([
    ['COMPLETED', 'COMPLETED', {}],
    ['RETURNED', 'RETRY', { ach: { mode: 'return', code: 'R02' } }],
  ] as const)(
    'and whoever charged died, our own answer is written down first: %s',
    async (outcome, status, settings) => {
      await early();
      const float = await on.unanswered(settings);
      const [event] = await on.receiveFromBank(float);
      expect(await on.apply(event!)).toMatchObject({ result: 'changed' });
      expect(await row(float)).toMatchObject({ status });
      expect(await on.outcomes(float)).toEqual(['ACHSENT', outcome]);
      expect(await on.openAttempt(float)).toBeNull();
      expect(await on.watch(float)).toBeNull();
      expect(await on.block(float)).toBe(outcome === 'RETURNED' ? 'R02' : null);
      expect(debits(await on.desk.ledger(float))).toBe(1);
    },
  );

  it('and whoever wrote that answer down died, the next one goes on from there', async () => {
    await early();
    const float = await on.unanswered();
    const [event] = await on.receiveFromBank(float);
    here.onStep = (step) => {
      if (step === 'outcome-written') throw new Error('killed');
    };
    await expect(on.apply(event!)).rejects.toThrow('killed');
    here.onStep = () => undefined;
    expect(await row(float)).toMatchObject({ status: 'ACHSENT' });
    expect(await on.apply(event!)).toMatchObject({ result: 'changed', reason: 'completed' });
    expect(await on.outcomes(float)).toEqual(['ACHSENT', 'COMPLETED']);
  });

  it('and the processor does not know the key yet, it is kept for later', async () => {
    await early();
    const float = await on.unanswered();
    const [event] = await on.receiveFromBank(float);
    const { processor } = here.dependencies;
    const lagging = {
      charge: () => Promise.reject(new Error('nobody charges here')),
      refund: () => Promise.reject(new Error('nobody gives back here')),
      findByKey: () => Promise.resolve(null),
      findByConfirmation: (id: string) => processor.findByConfirmation(id),
    };
    await expect(on.apply(event!, { processor: lagging })).rejects.toMatchObject({ code: 'unknown-record' });
    expect(await isWaiting(event!)).toBe(true);
    expect(await on.apply(event!)).toMatchObject({ result: 'changed', reason: 'completed' });
  });

  it('a word about another payment than the open one is put aside, and the attempt stays open', async () => {
    const float = await on.unanswered();
    const open = await on.openAttempt(float);
    expect(await on.tell('DEBIT_COMPLETED', { ...float, confirmationId: 'JPM-of-nobody' })).toEqual({
      result: 'no-op',
      reason: 'no-such-payment',
      changed: [],
    });
    expect(await on.openAttempt(float)).toEqual(open);
  });

  it('a holder that died with the lock is recognised by what was seen before', async () => {
    const float = await on.sent();
    const event = await on.receive('DEBIT_COMPLETED', float);
    await stealLock(float, { leaseDuration: '1m0s', recordVersionNumber: 'the-last-heartbeat' });
    const seen = await applyPaymentEvent(on.payments.dependencies, event);
    expect(seen).toEqual({ busy: { version: 'the-last-heartbeat', leaseMs: 60_000 } });
    const later = { version: 'the-last-heartbeat', elapsedMs: 65_001 };
    expect(await applyPaymentEvent(on.payments.dependencies, event, later)).toMatchObject({
      outcome: { result: 'changed' },
    });
  });
});

describe('an event', () => {
  it('about a float that is not there comes again later, also if it is somebody else’s', async () => {
    const [float, other] = [await on.sent(), await on.sent()];
    const nobodys = { ...float, floatId: randomUUID() as FloatId };
    const somebodyElses = { ...float, floatId: other.floatId };
    for (const unknown of [nobodys, somebodyElses]) {
      for (const news of FLOAT_NEWS) {
        const event = await on.receive(news, unknown);
        await expect(on.apply(event)).rejects.toMatchObject({ code: 'unknown-record' });
        expect(await isWaiting(event)).toBe(true);
      }
    }
    expect(await row(other)).toEqual(other);
    expect(await on.userStatus(float)).toBe('ACTIVE');
    // The lock was given back.
    expect(await on.tell('DEBIT_COMPLETED', float)).toMatchObject({ result: 'changed' });
  });

  it('about a debit that nobody of us made is put aside', async () => {
    const float = await on.sent();
    for (const news of ['DEBIT_COMPLETED', 'DEBIT_RETURNED'] as const) {
      expect(await on.tell(news, { ...float, confirmationId: 'JPM-of-nobody' })).toMatchObject({
        result: 'no-op',
        reason: 'no-such-payment',
      });
    }
    expect(await row(float)).toEqual(float);
  });

  it.each([
    ['DEBIT_COMPLETED', 'a status that contradicts its type', { status: 'FAILED' }],
    ['DEBIT_RETURNED', 'a status that contradicts its type', { status: 'COMPLETED' }],
    ['CREDIT_RETURNED', 'a status that contradicts its type', { status: 'COMPLETED' }],
    ['CREDIT_RETURNED', 'a status of subscriptions', { status: 'CHARGED_BACK' }],
    ['DEBIT_COMPLETED', 'no confirmation id', { confirmation_id: '' }],
    ['DEBIT_COMPLETED', 'a record instead of a float', { float_id: undefined, subscription_id: 'record' }],
    ['DEBIT_COMPLETED', 'a float that no key can hold', { float_id: 'f'.repeat(2_100) }],
    ['DEBIT_COMPLETED', 'an amount that is none', { amount: 'a lot' }],
    ['CREDIT_RETURNED', 'another user', { user_id: 'somebody-else' }],
  ] as const)('%s with %s cannot be read', async (news, _, fields) => {
    const float = await on.sent();
    const event = await on.receive(news, float, fields);
    await expect(on.apply(event)).rejects.toMatchObject({ code: 'malformed-event' });
    expect(await row(float)).toEqual(float);
    expect(await on.userStatus(float)).toBe('ACTIVE');
  });

  it('of a subscription does not touch a float of the same id', async () => {
    const float = await on.sent();
    const event = await on.receive('DEBIT_COMPLETED', float, {
      subscription_id: recordIdOf(float.floatId),
    });
    await expect(on.apply({ ...event, type: 'SUBSCRIPTION_COMPLETED' })).rejects.toMatchObject({
      code: 'unknown-record',
    });
    expect(await row(float)).toEqual(float);
  });

  it('is not applied by somebody who lost the lock: nothing of it is written', async () => {
    const float = await on.sent();
    const event = await on.receive('CREDIT_RETURNED', float);
    const users = bannedBy(async () => {
      await stealLock(float);
      return true;
    });
    await expect(on.apply(event, { users })).rejects.toMatchObject({ code: 'lock-lost' });
    expect(await row(float)).toEqual(float);
    expect(await isWaiting(event)).toBe(true);
  });

  it('does not wait for whoever works on the member’s subscriptions', async () => {
    const float = await on.sent();
    const acquired = await here.dependencies.locks.acquire(subscriptionLockKey(float.userId));
    expect(await on.tell('DEBIT_COMPLETED', float)).toMatchObject({ result: 'changed' });
    if ('lock' in acquired) await acquired.lock.release();
  });

  it('whose float changes under its hands is applied to what it is then', async () => {
    const float = await on.put(await on.sent(), { status: 'RETRY' });
    const event = await on.receive('CREDIT_RETURNED', float);
    const gone = { verdict: 'default', reason: 'too-long-past-due' } as const;
    const change = floatStepped(float, 'RETRY', gone, here.now);
    let first = true;
    const users = bannedBy(async () => {
      if (first) await on.desk.floats.save('unlocked', float, change);
      first = false;
      return true;
    });
    expect(await on.apply(event, { users })).toMatchObject({ result: 'changed' });
    const { lastRunTime, ...after } = await row(float);
    expect(after).toMatchObject({ status: 'DEFAULTED', error: 'R01: insufficient funds' });
    expect(lastRunTime).toBeGreaterThan(change.float.lastRunTime);
  });

  it('that is written or not is written as a whole', async () => {
    const float = await on.sent({ ach: { mode: 'return', code: 'R02' } });
    await aWeekLater();
    const event = await on.receive('DEBIT_RETURNED', float, { return_code: 'R02' });
    const faults = injectFaults(here.store.client);
    faults.script('TransactWriteItemsCommand', fail(new Error('died')));
    await expect(on.apply(event)).rejects.toThrow('died');
    faults.remove();
    expect(await row(float)).toEqual(float);
    expect(await on.outcomes(float)).toEqual(['ACHSENT']);
    expect(await on.entries(float)).toMatchObject([{ result: 'ACHSENT' }]);
    expect([await on.block(float), await isWaiting(event)]).toEqual([null, true]);
    expect(await on.apply(event)).toMatchObject({ result: 'changed' });
    expect([await on.block(float), await isWaiting(event)]).toEqual(['R02', false]);
  });
});

describe('any two events about one float', () => {
  const ENDS: Record<FloatNews, Record<FloatNews, FloatStatus>> = {
    // First word down the side, second across.
    DEBIT_COMPLETED: { DEBIT_COMPLETED: 'COMPLETED', DEBIT_RETURNED: 'RETRY', CREDIT_RETURNED: 'DEFAULTED' },
    DEBIT_RETURNED: { DEBIT_COMPLETED: 'RETRY', DEBIT_RETURNED: 'RETRY', CREDIT_RETURNED: 'DEFAULTED' },
    CREDIT_RETURNED: {
      DEBIT_COMPLETED: 'DEFAULTED',
      DEBIT_RETURNED: 'DEFAULTED',
      CREDIT_RETURNED: 'DEFAULTED',
    },
  };
  const pairs = FLOAT_NEWS.flatMap((first) => FLOAT_NEWS.map((second) => [first, second] as const));

  it.each(pairs)('%s, then %s, end where the table says', async (first, second) => {
    const float = await on.sent();
    expect(await on.tell(first, float)).toMatchObject({ result: 'changed' });
    await on.at(plusDays(start, 1));
    await on.tell(second, float);
    const after = await row(float);
    expect(after.status).toBe(ENDS[first][second]);
    expect(await isOpen(float)).toBe(after.status === 'RETRY');
    const isBanned = [first, second].includes('CREDIT_RETURNED');
    expect(await on.userStatus(float)).toBe(isBanned ? 'BANNED' : 'ACTIVE');
    const [, ...told] = await on.outcomes(float);
    expect(new Set(told).size).toBe(told.length);
    // Every word about the debit is in the log, whatever was told before.
    const words = [first, second].filter((news) => news !== 'CREDIT_RETURNED');
    if (isBanned) expect(told).toHaveLength(words.length);
    expect((await on.watch(float)) === null).toBe(words.length > 0);
    expect(await on.payments.dependencies.inbox.earliest('payments', float.userId)).toBeNull();
  });
});

describe('the meters', () => {
  it('count a debit when its fate is known and a return when it comes, each once', async () => {
    const counted = () => here.dependencies.pipeline.meters.total(dateOf(here.now), dateOf(here.now));
    const [paid, back, gone] = [await on.sent(), await on.sent(), await on.sent()];
    await on.at(plusDays(start, 7));
    await on.tell('DEBIT_COMPLETED', paid);
    await on.tell('DEBIT_COMPLETED', paid);
    await on.tell('DEBIT_RETURNED', back, { return_code: 'R02' });
    await on.tell('CREDIT_RETURNED', gone, { return_code: 'R02' });
    expect(await counted()).toEqual({
      debits: 2,
      returns: { unauthorized: 0, administrative: 1, overall: 1 },
    });
    await on.at(plusDays(start, 12));
    await on.tell('DEBIT_RETURNED', paid, { return_code: 'R10' });
    expect(await counted()).toEqual({
      debits: 0,
      returns: { unauthorized: 1, administrative: 0, overall: 1 },
    });
  });
});

it('two events of one member, about a float and about a subscription, come one after the other', async () => {
  const record = await here.member({ has_debit_card: false }, { billingDate: plusMs(start, -3_600_000) });
  const float = await on.sent({}, { userId: record.userId });
  expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
  const first = await on.receive('DEBIT_COMPLETED', float);
  const second = await on.payments.receive('COMPLETED', await here.row(record));
  const { inbox } = on.payments.dependencies;
  expect(await inbox.earliest('payments', record.userId)).toMatchObject({ sequence: first.sequence });
  expect(await on.apply(first)).toMatchObject({ result: 'changed' });
  expect(await inbox.earliest('payments', record.userId)).toMatchObject({ sequence: second.sequence });
  expect(await on.apply(second)).toMatchObject({ result: 'changed' });
  expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED' });
});
