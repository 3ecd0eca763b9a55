import { randomUUID } from 'node:crypto';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { applyMembership } from '../../../src/app/apply-membership.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import { dateOf } from '../../../src/domain/calendar-date.ts';
import { IGNORED_EVENTS } from '../../../src/domain/memberships/membership-event.ts';
import { plusDays } from '../../../src/domain/instant.ts';
import { cents } from '../../../src/domain/money.ts';
import type { Subscription, UserId } from '../../../src/domain/subscription.ts';
import {
  MalformedEventError,
  MalformedRowError,
  RecordChangedError,
  ServiceDownError,
  UnpricedTierError,
} from '../../../src/errors.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import { fail, injectFaults, serverFailed } from '../../support/dynamo-faults.ts';
import { inboxDesk } from '../../support/inbox-desk.ts';
import type { MembershipDesk } from '../../support/membership-desk.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits, world } from '../../support/world.ts';

const START = at('2026-11-16T08:00:00Z');
const TODAY = at('2026-11-16T06:00:00Z');
const [DECEMBER, JANUARY] = [at('2026-12-16T06:00:00Z'), at('2027-01-16T06:00:00Z')];

let here: World;
let desk: MembershipDesk;

beforeAll(async () => {
  here = await world();
  desk = membershipDesk(here);
});
afterAll(() => here.close());
afterEach(async () => {
  here.now = START;
  here.onStep = () => undefined;
  desk.warnings.length = 0;
  desk.counted.length = 0;
  await here.faults([]);
});

const MONTHLY = { tier: 'Base', term: 'MONTHLY' };
const HANDLED = ['CANCEL', 'SUB_PAUSED', 'RETRACT', 'UNPAUSE', 'UNPAUSE_CHARGE'] as const;
type Handled = (typeof HANDLED)[number];

/** A record that the event would change. */
const fitting = (type: Handled): Partial<Subscription> => {
  if (type === 'RETRACT') return { updatedEvent: 'PENDING_CANCELLATION' };
  return type.startsWith('UNPAUSE') ? { billingStatus: 'PAUSED', updatedEvent: 'SUB_PAUSED' } : {};
};

const history = async ({ subscriptionId }: Subscription) =>
  (await here.store.history.getByID(subscriptionId)).entries;
const rowsOf = async (userId: UserId) => (await here.store.historyRows(userId)).length;
const resumeItem = async ({ subscriptionId }: Subscription) => {
  const Key = marshall({ pk: `SUB#${subscriptionId}`, sk: 'RESUME' });
  const { Item } = await here.store.client.send(
    new GetItemCommand({ TableName: here.store.tables.pipeline, Key, ConsistentRead: true }),
  );
  return Item;
};
const waiting = (userId: UserId) => desk.inbox.earliest('users', userId);
/** The record without what every write changes. */
const content = (record: StoredSubscription) => ({ ...record, lastRunDate: null, row: null });

describe('CANCEL', () => {
  it('flags what is scheduled or paused and leaves the status, with a history row and a count each', async () => {
    const [tried, scheduled, paused] = await desk.member([
      { billingStatus: 'ERROR', billingDate: at('2026-10-16T06:00:00Z') },
      { billingDate: TODAY },
      { billingStatus: 'PAUSED', billingDate: DECEMBER },
    ]);
    const event = await desk.store(tried!.userId, 'CANCEL', MONTHLY);
    expect(await desk.apply(event)).toEqual({
      outcome: {
        result: 'changed',
        reason: 'cancellation-pending',
        changed: [scheduled!.subscriptionId, paused!.subscriptionId],
      },
    });
    expect(await here.row(tried!)).toEqual(tried);
    for (const record of [scheduled!, paused!]) {
      const row = await here.row(record);
      expect(content(row)).toEqual({
        ...content(record),
        updatedEvent: 'PENDING_CANCELLATION',
        process: 'NOT_IDENTIFIED',
      });
      const rows = await history(record);
      expect(rows).toHaveLength(2);
      expect(rows[1]!.data).toMatchObject({
        cause: 'membership-cancelled',
        event_id: event.identity,
        event_type: 'CANCEL',
      });
      expect(rows[1]!.subscription.lastRunDate).toBe(row.lastRunDate);
    }
    const [first, second] = [await here.row(scheduled!), await here.row(paused!)];
    expect(second.lastRunDate! > first.lastRunDate!).toBe(true);
    expect(first.lastRunDate! >= START).toBe(true);
    expect(desk.counted).toEqual(['CANCEL changed cancellation-pending']);
    expect(await waiting(tried!.userId)).toBeNull();
  });

  it('is carried out by the run that comes to the period', async () => {
    const [record] = await desk.member([{ billingDate: TODAY }]);
    await desk.happens(record!.userId, 'CANCEL', MONTHLY);
    expect(await here.collect('INITIAL', record!)).toMatchObject({ verdict: 'cancelled' });
    expect(debits(await here.ledger(record!))).toBe(0);
    const [paused] = await desk.member([{ billingDate: TODAY, billingStatus: 'PAUSED' }]);
    await desk.happens(paused!.userId, 'CANCEL', MONTHLY);
    expect(await here.collect('PAUSE', paused!)).toMatchObject({ verdict: 'cancelled' });
  });

  it('that arrives while the card is asked keeps the account from being asked', async () => {
    const settings = { pinless: { mode: 'decline', code: '62' } };
    const [record] = await desk.member([{ billingDate: TODAY }], settings);
    here.onStep = async (step) => {
      if (step === 'charged') await desk.store(record!.userId, 'CANCEL', MONTHLY);
    };
    expect(await here.collect('INITIAL', record!)).toMatchObject({
      verdict: 'declined',
      reason: 'PINLESS-62',
    });
    expect((await here.ledger(record!)).filter(({ method }) => method === 'ACH')).toEqual([]);
  });
});

describe('SUB_PAUSED', () => {
  it.each([
    [2, 2],
    [0, -1],
    [-3, -1],
    [null, -1],
  ])('for %s months pauses what is scheduled for %s', async (pause_duration_months, months) => {
    const [record, failed] = await desk.member([
      { billingDate: DECEMBER, process: 'RETRY' },
      { billingStatus: 'ERROR', billingDate: TODAY },
    ]);
    const outcome = await desk.happens(record!.userId, 'SUB_PAUSED', { ...MONTHLY, pause_duration_months });
    expect(outcome).toEqual({ result: 'changed', reason: 'paused', changed: [record!.subscriptionId] });
    expect(content(await here.row(record!))).toEqual({
      ...content(record!),
      billingStatus: 'PAUSED',
      updatedEvent: 'SUB_PAUSED',
      pauseDurationMonths: months,
    });
    expect(await here.row(failed!)).toEqual(failed);
    expect((await history(record!)).at(-1)!.data).toMatchObject({ cause: 'membership-paused' });
  });

  it('makes a yearly membership a monthly one, at the monthly price', async () => {
    const year = { term: 'YEARLY', billingAmount: cents(3999), billingDate: DECEMBER } as const;
    const [record] = await desk.member([year]);
    await desk.happens(record!.userId, 'SUB_PAUSED', { term: 'YEARLY', pause_duration_months: 1 });
    expect(await here.row(record!)).toMatchObject({ term: 'MONTHLY', billingAmount: 499 });
  });

  it('changes nothing of a member whose price nobody knows, and nobody takes it for done', async () => {
    const year = { term: 'YEARLY', billingAmount: cents(3999), receiptTierName: 'Plus:v2' } as const;
    const [first, second] = await desk.member([{ billingDate: DECEMBER }, { ...year, billingDate: JANUARY }]);
    const event = await desk.store(first!.userId, 'SUB_PAUSED', MONTHLY);
    await expect(desk.apply(event)).rejects.toBeInstanceOf(UnpricedTierError);
    expect([await here.row(first!), await here.row(second!)]).toEqual([first, second]);
    expect(await waiting(first!.userId)).toEqual(event);
    expect(await here.collect('INITIAL', { ...first! })).toMatchObject({ verdict: 'no-op' });
  });

  it('leaves the price of a period that its member is paying for by hand at this moment', async () => {
    const year = { term: 'YEARLY', billingAmount: cents(3999), billingDate: DECEMBER } as const;
    const [record] = await desk.member([year]);
    const { userId } = record!;
    await here.faults([
      { id: randomUUID(), service: 'payments', fault: 'error-after', times: 3, match: { user_id: userId } },
    ]);
    expect(await here.collect('MANUAL_REPAYMENT', record!, 'by-hand')).toMatchObject({ verdict: 'unknown' });
    await desk.happens(userId, 'SUB_PAUSED', MONTHLY);
    expect(await here.row(record!)).toMatchObject({
      billingStatus: 'PAUSED',
      term: 'YEARLY',
      billingAmount: 3999,
    });
  });

  it.each([
    [
      'has paid',
      'error-after',
      ['2026-12-16 COMPLETED', '2027-12-16 PAUSED_SKIPPED', '2028-01-16 SCHEDULED'],
    ],
    ['has not paid', 'error-before', ['2026-12-16 PAUSED_SKIPPED', '2027-01-16 SCHEDULED']],
  ])(
    'for a month, of a year for which it is heard later that the member %s, is over after a month',
    async (_, fault, expected) => {
      const year = { term: 'YEARLY', billingAmount: cents(3999), billingDate: DECEMBER } as const;
      const [record] = await desk.member([year]);
      const { userId } = record!;
      await here.faults([
        { id: randomUUID(), service: 'payments', fault, times: 3, match: { user_id: userId } },
      ]);
      await here.collect('MANUAL_REPAYMENT', record!, 'by-hand');
      await desk.happens(userId, 'SUB_PAUSED', { ...MONTHLY, pause_duration_months: 1 });
      const [attempt] = await here.dependencies.pipeline.attemptsOn(record!.subscriptionId);
      expect(await settleAttempt(here.dependencies, { abandonAfterMs: 0 }, attempt!)).toHaveProperty(
        'settled',
      );
      const paused = (await here.partition(userId)).find(({ billingStatus }) => billingStatus === 'PAUSED')!;
      here.now = plusDays(paused.billingDate, 1);
      expect(await here.collect('PAUSE', paused)).toMatchObject({ verdict: 'pause-skipped' });
      const periods = await here.partition(userId);
      expect(
        periods.map(({ billingDate, billingStatus }) => `${dateOf(billingDate)} ${billingStatus}`),
      ).toEqual(expected);
      expect(periods.at(-1)).toMatchObject({ term: 'YEARLY', billingAmount: 3999 });
    },
  );

  it('delivered again after UNPAUSE does nothing, at whatever place it comes', async () => {
    const [record] = await desk.member([{ billingDate: DECEMBER }]);
    const { userId } = record!;
    const pause = await desk.store(userId, 'SUB_PAUSED', { ...MONTHLY, pause_duration_months: 2 });
    const first = await desk.apply(pause);
    await desk.happens(userId, 'UNPAUSE', MONTHLY);
    const row = await here.row(record!);
    const rows = await rowsOf(userId);
    const again = { ...pause, shardId: 'shardId-000000000007', sequence: '99999999' };
    await desk.inbox.store([again]);
    expect(await desk.apply(again)).toEqual(first);
    expect(await desk.apply(pause)).toEqual(first);
    expect(await here.row(record!)).toEqual(row);
    expect(await rowsOf(userId)).toBe(rows);
    expect(await waiting(userId)).toBeNull();
    expect(desk.counted.filter((line) => line.startsWith('SUB_PAUSED'))).toHaveLength(1);
  });
});

describe('RETRACT', () => {
  it('takes a cancellation back before a run came to it', async () => {
    const [record, paused, other] = await desk.member([
      { billingDate: TODAY },
      { billingDate: DECEMBER, billingStatus: 'PAUSED' },
      { billingDate: JANUARY, billingStatus: 'COMPLETED', updatedEvent: 'payment-completed' },
    ]);
    await desk.happens(record!.userId, 'CANCEL', MONTHLY);
    expect(await desk.happens(record!.userId, 'RETRACT', MONTHLY)).toEqual({
      result: 'changed',
      reason: 'retracted',
      changed: [record!.subscriptionId],
    });
    expect(content(await here.row(record!))).toEqual({ ...content(record!), process: 'NOT_IDENTIFIED' });
    expect(await here.row(paused!)).toMatchObject({ updatedEvent: 'PENDING_CANCELLATION' });
    expect(await here.row(other!)).toEqual(other);
    expect((await history(record!)).map(({ data }) => data['cause'])).toEqual([
      'plan-changed',
      'membership-cancelled',
      'membership-retracted',
    ]);
    expect(await here.collect('INITIAL', record!)).toMatchObject({ verdict: 'collected' });
  });

  it('brings a membership that was made monthly by a pause back to its year, at its price', async () => {
    const year = { term: 'YEARLY', billingAmount: cents(3999), billingDate: DECEMBER } as const;
    const [record] = await desk.member([year]);
    const { userId } = record!;
    await desk.happens(userId, 'SUB_PAUSED', MONTHLY);
    await desk.happens(userId, 'UNPAUSE', MONTHLY);
    expect(await here.row(record!)).toMatchObject({ term: 'MONTHLY', billingAmount: 499 });
    await desk.happens(userId, 'RETRACT', { term: 'YEARLY' });
    expect(await here.row(record!)).toMatchObject({
      billingStatus: 'SCHEDULED',
      updatedEvent: '',
      term: 'YEARLY',
      billingAmount: 3999,
    });
  });
});

describe('UNPAUSE', () => {
  it('goes on with the soonest period and cancels the others, with a history row each', async () => {
    const common = { billingStatus: 'PAUSED', updatedEvent: 'SUB_PAUSED', pauseDurationMonths: 2 } as const;
    const [past, soonest, last] = await desk.member([
      { ...common, billingDate: TODAY },
      { ...common, billingDate: DECEMBER },
      { ...common, billingDate: JANUARY },
    ]);
    const { userId } = past!;
    expect(await desk.happens(userId, 'UNPAUSE', MONTHLY)).toMatchObject({
      result: 'changed',
      reason: 'unpaused',
    });
    expect(content(await here.row(soonest!))).toEqual({
      ...content(soonest!),
      billingStatus: 'SCHEDULED',
      updatedEvent: 'UNPAUSE',
      pauseDurationMonths: 0,
      process: 'NOT_IDENTIFIED',
    });
    for (const record of [past!, last!])
      expect(content(await here.row(record))).toEqual({
        ...content(record),
        billingStatus: 'CANCELLED',
        updatedEvent: 'UNPAUSE',
        completionDate: START,
        process: 'NOT_IDENTIFIED',
      });
    expect(await rowsOf(userId)).toBe(6);
    expect(await resumeItem(soonest!)).toBeUndefined();
    const stamps = (await here.partition(userId)).map(({ lastRunDate }) => lastRunDate);
    expect(new Set(stamps).size).toBe(3);
  });

  it('with a charge leaves a wish that the next pause run fulfils, whatever the date', async () => {
    const common = { billingStatus: 'PAUSED', updatedEvent: 'SUB_PAUSED' } as const;
    const [soonest, last] = await desk.member([
      { ...common, billingDate: DECEMBER },
      { ...common, billingDate: JANUARY },
    ]);
    const outcome = await desk.happens(soonest!.userId, 'UNPAUSE_CHARGE', MONTHLY);
    expect(outcome).toMatchObject({ result: 'changed', reason: 'charged-on-resuming' });
    expect(await here.row(soonest!)).toMatchObject({
      billingStatus: 'SCHEDULED',
      updatedEvent: 'pause-pending-resume',
      pauseDurationMonths: 0,
    });
    expect(await here.row(last!)).toMatchObject({ billingStatus: 'CANCELLED', updatedEvent: 'UNPAUSE' });
    expect(await resumeItem(soonest!)).toBeDefined();
    expect(await resumeItem(last!)).toBeUndefined();
    expect(await here.collect('PAUSE', soonest!)).toMatchObject({ verdict: 'collected' });
    expect(await here.row(soonest!)).toMatchObject({ billingStatus: 'COMPLETED', process: 'PAUSE' });
  });

  it('with a charge leaves no wish when the change could not be written', async () => {
    const [record] = await desk.member([{ billingStatus: 'PAUSED', billingDate: DECEMBER }]);
    const event = await desk.store(record!.userId, 'UNPAUSE_CHARGE', MONTHLY);
    const stolen = {
      ...desk.dependencies.subscriptions,
      listByUserID: async (userId: string) => {
        await here.store.stealLock(userId);
        return here.store.subscriptions.listByUserID(userId);
      },
      addAll: here.store.subscriptions.addAll.bind(here.store.subscriptions),
    };
    await expect(
      applyMembership({ ...desk.dependencies, subscriptions: stolen }, event),
    ).rejects.toMatchObject({ code: 'lock-lost' });
    expect(await here.row(record!)).toEqual(record);
    expect(await resumeItem(record!)).toBeUndefined();
    expect(await waiting(record!.userId)).toEqual(event);
    expect(await desk.inbox.wasApplied(event)).toBeNull();
    await here.store.releaseLock(record!.userId);
    expect(await desk.apply(event)).toMatchObject({ outcome: { result: 'changed' } });
  });

  it.each(['UNPAUSE', 'UNPAUSE_CHARGE'] as const)(
    'of a member who has cancelled meanwhile charges nobody: %s',
    async (type) => {
      const [record] = await desk.member([{ billingDate: DECEMBER }]);
      const { userId } = record!;
      await desk.happens(userId, 'CANCEL', MONTHLY);
      await desk.happens(userId, 'SUB_PAUSED', MONTHLY);
      await desk.happens(userId, type, MONTHLY);
      expect(await here.row(record!)).toMatchObject({
        billingStatus: 'SCHEDULED',
        updatedEvent: 'PENDING_CANCELLATION',
      });
      expect(await resumeItem(record!)).toBeUndefined();
      here.now = plusDays(DECEMBER, 1);
      expect(await here.collect('INITIAL', record!)).toMatchObject({ verdict: 'cancelled' });
      expect(debits(await here.ledger(record!))).toBe(0);
    },
  );
});

describe('an event that changes nothing', () => {
  const unfit: Record<Handled, [Partial<Subscription>, string]> = {
    CANCEL: [{ billingStatus: 'ERROR' }, 'nothing-scheduled-or-paused'],
    SUB_PAUSED: [{ billingStatus: 'PAUSED' }, 'nothing-scheduled'],
    RETRACT: [{}, 'nothing-to-retract'],
    UNPAUSE: [{}, 'nothing-paused'],
    UNPAUSE_CHARGE: [{}, 'nothing-paused'],
  };

  /** It was a no-op for this reason, with a warning, a count and nothing written, and it is done. */
  async function expectNothing(record: StoredSubscription, type: Handled, reason: string): Promise<void> {
    const event = await desk.store(record.userId, type, MONTHLY);
    const outcome = { result: 'no-op', reason, changed: [] };
    expect(await desk.apply(event)).toEqual({ outcome });
    expect(await here.row(record)).toEqual(record);
    expect(await history(record)).toHaveLength(1);
    expect(desk.warnings).toEqual([reason]);
    expect(desk.counted).toEqual([`${type} no-op ${reason}`]);
    expect(await waiting(record.userId)).toBeNull();
    expect(await desk.inbox.wasApplied(event)).toEqual(outcome);
  }

  it.each(HANDLED)('because no record fits: %s', async (type) => {
    const [fields, reason] = unfit[type];
    const [record] = await desk.member([fields]);
    await expectNothing(record!, type, reason);
  });

  it.each(HANDLED)('because nobody knows the user: %s', async (type) => {
    const [record] = await desk.member([fitting(type)], null);
    await expectNothing(record!, type, 'user-missing');
  });

  it.each(
    HANDLED.flatMap((type) => ['PAUSED', 'BANNED', 'INVESTIGATE'].map((status) => [type, status] as const)),
  )('because the user is not active: %s of a user who is %s', async (type, status) => {
    const [record] = await desk.member([fitting(type)], { status });
    await expectNothing(record!, type, 'user-not-active');
  });

  it.each(IGNORED_EVENTS)('because it is not for us: %s', async (type) => {
    const [record] = await desk.member([{ updatedEvent: 'SUB_PAUSED' }]);
    // What it carries is not even looked at: it must not stop a member's billing.
    const event = await desk.store(record!.userId, type, { term: 'WEEKLY' });
    const outcome = { result: 'no-op', reason: 'not-for-billing', changed: [] };
    expect(await desk.apply(event)).toEqual({ outcome });
    expect(await here.row(record!)).toEqual(record);
    expect(desk.counted).toEqual([`${type} no-op not-for-billing`]);
    expect(desk.warnings).toEqual([]);
    expect(await waiting(record!.userId)).toBeNull();
  });
});

describe('an event that cannot be applied now', () => {
  /** Nothing happened, and the event still waits. */
  async function expectUntouched(record: StoredSubscription): Promise<void> {
    expect(await here.row(record)).toEqual(record);
    expect(await history(record)).toHaveLength(1);
    expect(desk.counted).toEqual([]);
    expect(await waiting(record.userId)).not.toBeNull();
  }

  it.each(HANDLED)('because the user service is down waits, and nothing is written: %s', async (type) => {
    const [record] = await desk.member([fitting(type)]);
    const event = await desk.store(record!.userId, type, MONTHLY);
    await here.faults([{ id: randomUUID(), service: 'users', fault: 'error-before' }]);
    await expect(desk.apply(event)).rejects.toBeInstanceOf(ServiceDownError);
    await expectUntouched(record!);
    // Nobody is charged meanwhile who may have cancelled.
    await here.faults([]);
    if (type === 'CANCEL')
      expect(await here.collect('INITIAL', record!)).toMatchObject({
        verdict: 'deferred',
        reason: 'membership-event-unapplied',
      });
    expect(await desk.apply(event)).toMatchObject({ outcome: { result: 'changed' } });
  });

  it.each(HANDLED)('because somebody works on the user says so: %s', async (type) => {
    const [record] = await desk.member([fitting(type)]);
    const event = await desk.store(record!.userId, type, MONTHLY);
    const { locks } = here.dependencies;
    const key = `subscription-billing:user_id:${record!.userId}`;
    const held = await locks.acquire(key);
    if ('busy' in held) throw new Error('busy');
    const sighting = expect.objectContaining({ leaseMs: 60_000 }) as unknown;
    expect(await desk.apply(event)).toEqual({ busy: sighting });
    await expectUntouched(record!);
    await held.lock.release();
    expect(await desk.apply(event)).toMatchObject({ outcome: { result: 'changed' } });
    // It gave the lock back.
    expect(await locks.acquire(key)).toHaveProperty('lock');
  });

  it('takes the lock of a holder that was seen dead', async () => {
    const [record] = await desk.member([{}]);
    const { userId } = record!;
    const event = await desk.store(userId, 'CANCEL', MONTHLY);
    const row = {
      PartitionKey: `subscription-billing:user_id:${userId}`,
      ownerName: 'somebody-dead',
      leaseDuration: '1s',
      recordVersionNumber: 'the-last-beat',
    };
    const { client, tables } = here.store;
    await client.send(new PutItemCommand({ TableName: tables.locks, Item: marshall(row) }));
    expect(await desk.apply(event)).toEqual({ busy: { version: 'the-last-beat', leaseMs: 1_000 } });
    const seen = { version: 'the-last-beat', elapsedMs: 60_000 };
    expect(await applyMembership(desk.dependencies, event, seen)).toMatchObject({
      outcome: { result: 'changed' },
    });
  });

  it('because an earlier one came back from quarantine meanwhile waits for that one', async () => {
    const [record] = await desk.member([{}]);
    const { userId } = record!;
    const { quarantine } = inboxDesk(here.store.client, here.store.tables);
    const cancel = await desk.store(userId, 'CANCEL', MONTHLY);
    await desk.inbox.quarantine(cancel, 'odd', START);
    const retract = await desk.store(userId, 'RETRACT', MONTHLY);
    const [held] = await quarantine.ofUser(userId);
    const users = {
      async get(id: UserId) {
        await quarantine.release(held!, cancel, START);
        return here.dependencies.users.get(id);
      },
    };
    await expect(applyMembership({ ...desk.dependencies, users }, retract)).rejects.toBeInstanceOf(
      RecordChangedError,
    );
    await expectUntouched(record!);
    for (const event of [cancel, retract])
      expect(await desk.apply(event)).toMatchObject({ outcome: { result: 'changed' } });
    expect(await here.row(record!)).toMatchObject({ updatedEvent: '' });
  });

  it('because a row of the user cannot be read is refused', async () => {
    const [record, other] = await desk.member([{ billingDate: TODAY }, { billingDate: DECEMBER }]);
    const item = (await here.store.billingRow(other!.userId, '2026-12-16T06:00:00Z'))!;
    await here.store.putBillingRow({ ...item, billing_amount: { S: 'much' } });
    for (const type of ['CANCEL', 'CLOSEACCOUNT'] as const) {
      const event = await desk.store(record!.userId, type, MONTHLY);
      await expect(desk.apply(event)).rejects.toBeInstanceOf(MalformedRowError);
    }
    await expectUntouched(record!);
  });

  it.each([
    ['CANCEL', { pause_duration_months: 'two' }],
    ['RETRACT', { term: 'WEEKLY' }],
    ['CLOSEACCOUNT', { user_id: 'somebody-else' }],
    ['TELEPORT' as 'CANCEL', {}],
  ] as const)('because it makes no sense is malformed: %s', async (type, data) => {
    const [record] = await desk.member([{}]);
    const event = await desk.store(record!.userId, type, data);
    await expect(desk.apply(event)).rejects.toBeInstanceOf(MalformedEventError);
    await expectUntouched(record!);
  });
});

describe('a member with more records than one transaction takes', () => {
  const many = (fields: Partial<Subscription>) =>
    Array.from({ length: 45 }, (_, i) => ({ ...fields, billingDate: plusDays(DECEMBER, i) }));

  it('gets them all changed, and the event is done with the last', async () => {
    const records = await desk.member(many({}));
    const { userId } = records[0]!;
    const outcome = await desk.happens(userId, 'CANCEL', MONTHLY);
    expect(outcome.changed).toHaveLength(45);
    expect(new Set((await here.partition(userId)).map(({ updatedEvent }) => updatedEvent))).toEqual(
      new Set(['PENDING_CANCELLATION']),
    );
    expect(await rowsOf(userId)).toBe(90);
  });

  it('is resumed with one period, also when somebody died in the middle', async () => {
    const records = await desk.member(many({ billingStatus: 'PAUSED' }));
    const { userId } = records[0]!;
    const event = await desk.store(userId, 'UNPAUSE_CHARGE', MONTHLY);
    const faults = injectFaults(here.store.client);
    const isMark = (input: Record<string, unknown>) =>
      JSON.stringify(input).includes(event.identity) && JSON.stringify(input).includes('EVENT#');
    faults.script('TransactWriteItemsCommand', fail(serverFailed()), { times: 8, when: isMark });
    await expect(desk.apply(event)).rejects.toMatchObject({ code: 'write-unknown' });
    faults.remove();
    const between = (await here.partition(userId)).map(({ billingStatus }) => billingStatus);
    expect(between.filter((status) => status === 'CANCELLED')).toHaveLength(40);
    expect(between.filter((status) => status === 'PAUSED')).toHaveLength(5);
    expect(await waiting(userId)).toEqual(event);

    expect(await desk.apply(event)).toMatchObject({ outcome: { reason: 'charged-on-resuming' } });
    const [first, ...others] = await here.partition(userId);
    expect(first).toMatchObject({ billingStatus: 'SCHEDULED', updatedEvent: 'pause-pending-resume' });
    expect(new Set(others.map(({ billingStatus }) => billingStatus))).toEqual(new Set(['CANCELLED']));
    expect(await rowsOf(userId)).toBe(90);
    expect(await waiting(userId)).toBeNull();
  });
});
