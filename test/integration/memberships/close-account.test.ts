import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { applyMembership } from '../../../src/app/apply-membership.ts';
import type { Subscription } from '../../../src/domain/subscription.ts';
import { RecordChangedError } from '../../../src/errors.ts';
import type { CollectionStep } from '../../../src/ports/steps.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { Bench } from '../../audit/bench.ts';
import { bench } from '../../audit/bench.ts';
import type { Faults } from '../../support/dynamo-faults.ts';
import { injectFaults } from '../../support/dynamo-faults.ts';
import type { MembershipDesk } from '../../support/membership-desk.ts';
import { membershipDesk } from '../../support/membership-desk.ts';
import { at } from '../../support/records.ts';
import type { World } from '../../support/world.ts';
import { debits } from '../../support/world.ts';

const START = at('2026-11-16T08:00:00Z');
const TODAY = at('2026-11-16T06:00:00Z');
const DECEMBER = at('2026-12-16T06:00:00Z');

let on: Bench;
let here: World;
let desk: MembershipDesk;
let faults: Faults;

beforeAll(async () => {
  on = await bench();
  here = on.here;
  desk = membershipDesk(here);
});
afterAll(() => on.close());
beforeEach(() => {
  faults = injectFaults(here.store.client);
});
afterEach(async () => {
  faults.remove();
  here.onStep = () => undefined;
  desk.warnings.length = 0;
  desk.counted.length = 0;
  await here.faults([]);
  expect((await on.audit()).violations).toEqual([]);
});

const CLOSED = { billingStatus: 'CANCELLED', updatedEvent: 'account-closed', completionDate: START };
const close = ({ userId }: Subscription) => desk.happens(userId, 'CLOSEACCOUNT', { status: 'CLOSED' });
const statuses = async ({ userId }: Subscription) =>
  (await here.partition(userId)).map(({ billingStatus }) => billingStatus);
/** A transaction with a history row of this cause. */
const writes = (cause: string) => (input: Record<string, unknown>) =>
  JSON.stringify(input).includes(`"data_cause":{"S":"${cause}"}`);
const due = async (settings: object = {}): Promise<StoredSubscription> =>
  (await desk.member([{ billingDate: TODAY }], settings))[0]!;

describe('an account that is closed', () => {
  it('loses what is scheduled or paused, with a history row each', async () => {
    const [scheduled, paused] = await desk.member([
      { billingDate: TODAY, process: 'RETRY' },
      { billingDate: DECEMBER, billingStatus: 'PAUSED', pauseDurationMonths: 2 },
    ]);
    const event = await desk.store(scheduled!.userId, 'CLOSEACCOUNT');
    expect(await desk.apply(event)).toEqual({
      outcome: {
        result: 'changed',
        reason: 'account-closed',
        changed: [scheduled!.subscriptionId, paused!.subscriptionId],
      },
    });
    expect(await here.row(scheduled!)).toMatchObject({ ...CLOSED, process: 'RETRY' });
    expect(await here.row(paused!)).toMatchObject({
      ...CLOSED,
      process: 'NOT_IDENTIFIED',
      pauseDurationMonths: 2,
    });
    for (const record of [scheduled!, paused!]) {
      const { entries } = await here.store.history.getByID(record.subscriptionId);
      expect(entries).toHaveLength(2);
      expect(entries[1]!.data).toMatchObject({ cause: 'account-closed', event_id: event.identity });
    }
    expect(desk.counted).toEqual(['CLOSEACCOUNT changed account-closed']);
    expect(await desk.inbox.earliest('users', scheduled!.userId)).toBeNull();
  });

  it('without such records is a warning', async () => {
    const [record] = await desk.member([
      { billingDate: TODAY, billingStatus: 'COMPLETED' },
      { billingDate: DECEMBER, billingStatus: 'CANCELLED' },
    ]);
    expect(await close(record!)).toEqual({
      result: 'no-op',
      reason: 'nothing-scheduled-or-paused',
      changed: [],
    });
    expect(desk.warnings).toEqual(['nothing-scheduled-or-paused']);
    expect(await here.row(record!)).toEqual(record);
  });

  it.each([
    ['nobody knows the user', null],
    ['the user is banned', { status: 'BANNED' }],
  ])('is closed although %s', async (_, settings) => {
    const [record] = await desk.member([{ billingDate: TODAY }], settings);
    expect(await close(record!)).toMatchObject({ result: 'changed' });
    expect(await here.row(record!)).toMatchObject(CLOSED);
  });

  it('is closed while the user service is down and somebody holds the lock', async () => {
    const record = await due();
    await here.faults([{ id: randomUUID(), service: 'users', fault: 'error-before' }]);
    await here.store.takeLock(record.userId);
    expect(await close(record)).toMatchObject({ result: 'changed' });
    await here.store.releaseLock(record.userId);
    expect(await here.row(record)).toMatchObject(CLOSED);
  });

  it('is closed once by two who apply the same event', async () => {
    const record = await due();
    const event = await desk.store(record.userId, 'CLOSEACCOUNT');
    const gate = faults.hold('TransactWriteItemsCommand', { when: writes('account-closed') });
    const slow = desk.apply(event);
    await gate.reached;
    const fast = await desk.apply(event);
    gate.open();
    expect(await slow).toEqual(fast);
    expect(fast).toMatchObject({ outcome: { result: 'changed' } });
    expect(await on.history(record)).toHaveLength(2);
    expect(desk.counted).toHaveLength(1);
  });
});

describe('an account that is closed while its owner is charged', () => {
  /** At that moment of the charge, once. */
  function closesAt(moment: CollectionStep, record: StoredSubscription): void {
    let isClosed = false;
    here.onStep = async (step) => {
      if (step !== moment || isClosed) return;
      isClosed = true;
      await close(record);
    };
  }

  it('before anything was decided is not charged', async () => {
    const record = await due();
    closesAt('locked', record);
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'no-op' });
    expect(await here.row(record)).toMatchObject(CLOSED);
    expect(debits(await here.ledger(record))).toBe(0);
  });

  it('before the intent is written is not charged: the intent is refused', async () => {
    const record = await due();
    const gate = faults.hold('TransactWriteItemsCommand', { when: writes('attempt-opened') });
    const charge = here.collect('INITIAL', record);
    charge.catch(() => undefined);
    await gate.reached;
    await close(record);
    gate.open();
    await expect(charge).rejects.toBeInstanceOf(RecordChangedError);
    expect(await statuses(record)).toEqual(['CANCELLED']);
    expect(debits(await here.ledger(record))).toBe(0);
    expect(await on.attempts(record)).toEqual([]);
  });

  it.each(['intent-written', 'charged'] as const)(
    'after %s: the money is written down, and no other period follows',
    async (moment) => {
      const record = await due();
      closesAt(moment, record);
      expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });
      expect(await here.row(record)).toMatchObject({
        billingStatus: 'COMPLETED',
        updatedEvent: 'account-closed',
      });
      expect(await statuses(record)).toEqual(['COMPLETED', 'CANCELLED']);
      expect(debits(await here.ledger(record))).toBe(1);
    },
  );

  it('after an ACH entry was sent: it is waited for', async () => {
    const record = await due({ has_debit_card: false });
    closesAt('charged', record);
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'sent' });
    expect(await here.row(record)).toMatchObject({
      billingStatus: 'ACHSENT',
      updatedEvent: 'account-closed',
      completionDate: null,
    });
    expect(await statuses(record)).toEqual(['ACHSENT', 'CANCELLED']);
  });

  it('and declined stays closed', async () => {
    const record = await due({ pinless: { mode: 'decline', code: '14' } });
    closesAt('charged', record);
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'declined' });
    expect(await here.row(record)).toMatchObject({
      ...CLOSED,
      usioError: expect.stringMatching(/^14/) as string,
    });
    expect(await statuses(record)).toEqual(['CANCELLED', 'CANCELLED']);
  });

  it('when the member pays by hand: no period follows', async () => {
    const record = await due();
    closesAt('charged', record);
    expect(await here.collect('MANUAL_REPAYMENT', record)).toMatchObject({ verdict: 'collected' });
    expect(await statuses(record)).toEqual(['COMPLETED']);
  });

  it('after the outcome: only the next period is closed', async () => {
    const record = await due();
    closesAt('outcome-written', record);
    expect(await here.collect('INITIAL', record)).toMatchObject({ verdict: 'collected' });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED', updatedEvent: '' });
    expect(await statuses(record)).toEqual(['COMPLETED', 'CANCELLED']);
  });

  it('and was about to be when the charge came first: it is read again, and the next period closed', async () => {
    const record = await due();
    const intent = faults.hold('TransactWriteItemsCommand', { when: writes('attempt-opened') });
    const charge = here.collect('INITIAL', record);
    await intent.reached;
    const closing = faults.hold('TransactWriteItemsCommand', { when: writes('account-closed') });
    const closed = close(record);
    await closing.reached;
    intent.open();
    expect(await charge).toMatchObject({ verdict: 'collected' });
    closing.open();
    const [, next] = await here.partition(record.userId);
    expect(await closed).toEqual({
      result: 'changed',
      reason: 'account-closed',
      changed: [next!.subscriptionId],
    });
    expect(await here.row(record)).toMatchObject({ billingStatus: 'COMPLETED', updatedEvent: '' });
    expect(await statuses(record)).toEqual(['COMPLETED', 'CANCELLED']);
  });

  it('gives up when others write all the time, and is not taken for done', async () => {
    const record = await due();
    const event = await desk.store(record.userId, 'CLOSEACCOUNT');
    const { subscriptions } = here.dependencies;
    let reads = 0;
    const busy = {
      listByUserID: (userId: string) => {
        reads += 1;
        return subscriptions.listByUserID(userId);
      },
      addAll: () => Promise.reject(new RecordChangedError('somebody else was first')),
    };
    const dependencies = { ...desk.dependencies, subscriptions: busy };
    await expect(applyMembership(dependencies, event)).rejects.toBeInstanceOf(RecordChangedError);
    expect(reads).toBe(5);
    expect(await desk.inbox.earliest('users', record.userId)).toEqual(event);
  });
});
