import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/domain/instant.ts';
import type { MembershipEventType } from '../../../src/domain/memberships/membership-event.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { DeskDependencies } from '../../../src/app/desk/desk.ts';
import { reactivate as comeBack } from '../../../src/app/desk/reactivate.ts';
import type { CollectionStep } from '../../../src/ports/steps.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { MembershipApi } from '../../support/membership-api.ts';
import { membershipApi } from '../../support/membership-api.ts';
import { TIERS } from '../../support/membership-desk.ts';
import { at } from '../../support/records.ts';

/* What a member says between asking to come back and the processor's answer holds when the answer is known. */

let on: MembershipApi;

beforeAll(async () => {
  on = await membershipApi();
});
afterAll(() => on.close());

const LEAVING = 'PENDING_CANCELLATION';

const reactivate = (member: StoredSubscription, key?: string) =>
  on.send('POST', member, 'subscriptions/reactivate', {}, key);

/** Somebody whose membership ended in October. */
const former = async (): Promise<StoredSubscription> =>
  (await on.desk.member([{ billingStatus: 'CANCELLED', billingDate: at('2026-10-16T06:00:00Z') }]))[0]!;

/** Asks to come back; whoever charges for it dies at that step. Gives the record that was born with the charge. */
async function unanswered(
  member: StoredSubscription,
  step: CollectionStep = 'charged',
): Promise<StoredSubscription> {
  const before = new Set((await on.here.partition(member.userId)).map((row) => row.subscriptionId));
  on.dieAt(step, member);
  expect(await reactivate(member)).toMatchObject({ status: 500 });
  return (await on.here.partition(member.userId)).find((row) => !before.has(row.subscriptionId))!;
}

const says = (member: StoredSubscription, type: MembershipEventType, data: object = {}) =>
  on.desk.happens(member.userId, type, data);

/** The janitor hears that it was paid. Gives what is to come. */
async function isPaid(own: StoredSubscription): Promise<StoredSubscription[]> {
  expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'collected' } });
  expect(await on.here.row(own)).toMatchObject({ billingStatus: 'COMPLETED' });
  expect(await on.violations(own)).toEqual([]);
  return toCome(own);
}

const toCome = async ({ userId }: StoredSubscription): Promise<StoredSubscription[]> =>
  (await on.here.partition(userId)).filter(({ billingStatus }) =>
    ['SCHEDULED', 'PAUSED'].includes(billingStatus),
  );

const debits = async (member: StoredSubscription): Promise<number> => {
  const rows = await on.here.partition(member.userId);
  const entries = await Promise.all(rows.map((row) => on.here.ledger(row)));
  return entries.flat().filter(({ effect }) => effect === 'debit').length;
};

describe('a reactivation whose answer was lost', () => {
  it.each<[string, [MembershipEventType, object?][], object[]]>([
    ['nothing', [], [{ billingStatus: 'SCHEDULED', updatedEvent: '' }]],
    ['CANCEL', [['CANCEL']], [{ billingStatus: 'SCHEDULED', updatedEvent: LEAVING }]],
    [
      'SUB_PAUSED',
      [['SUB_PAUSED', { pause_duration_months: 2 }]],
      [{ billingStatus: 'PAUSED', pauseDurationMonths: 2 }],
    ],
    ['CLOSEACCOUNT', [['CLOSEACCOUNT']], []],
    ['CANCEL and CLOSEACCOUNT', [['CANCEL'], ['CLOSEACCOUNT']], []],
    [
      'CANCEL and SUB_PAUSED',
      [['CANCEL'], ['SUB_PAUSED']],
      [{ billingStatus: 'PAUSED', updatedEvent: LEAVING }],
    ],
    ['CANCEL and RETRACT', [['CANCEL'], ['RETRACT']], [{ billingStatus: 'SCHEDULED', updatedEvent: '' }]],
    [
      'SUB_PAUSED and UNPAUSE',
      [['SUB_PAUSED'], ['UNPAUSE']],
      [{ billingStatus: 'SCHEDULED', pauseDurationMonths: 0 }],
    ],
  ])('while %s was said opens what follows from that', async (_, events, expected) => {
    const own = await unanswered(await former());
    for (const [type, data] of events)
      expect(await says(own, type, data)).toMatchObject({ result: 'changed', changed: [own.subscriptionId] });
    expect(await on.here.row(own)).toMatchObject({ billingStatus: 'CANCELLED', billingAmount: 499 });
    const next = await isPaid(own);
    expect(next).toHaveLength(expected.length);
    for (const [index, fields] of expected.entries()) expect(next[index]).toMatchObject(fields);
    expect(await debits(own)).toBe(1);
  });

  it('is left although what was cancelled before is still to come', async () => {
    const record = await on.here.member();
    await on.here.collect('INITIAL', record);
    await says(record, 'CANCEL');
    const own = await unanswered(record);
    expect(await says(own, 'CANCEL')).toMatchObject({ result: 'changed', changed: [own.subscriptionId] });
    expect(await says(own, 'CANCEL')).toMatchObject({ result: 'no-op' });
    expect(await isPaid(own)).toMatchObject([{ billingStatus: 'SCHEDULED', updatedEvent: LEAVING }]);
  });

  describe('while what was cancelled before, and is still to come, was taken back', () => {
    /** Billed on the 20th, comes back on the 16th. */
    async function takenBack(
      step?: CollectionStep,
    ): Promise<{ own: StoredSubscription; old: StoredSubscription }> {
      const [member] = await on.desk.member([{ billingDate: at('2026-11-20T06:00:00Z') }]);
      await says(member!, 'CANCEL');
      const own = await unanswered(member!, step);
      expect(await says(own, 'RETRACT')).toMatchObject({ changed: [member!.subscriptionId] });
      return { own, old: await on.here.row(member!) };
    }

    it.each<[string, MembershipEventType[], object]>([
      ['nothing', [], { billingStatus: 'SCHEDULED', updatedEvent: '' }],
      ['SUB_PAUSED', ['SUB_PAUSED'], { billingStatus: 'PAUSED' }],
      ['SUB_PAUSED and UNPAUSE', ['SUB_PAUSED', 'UNPAUSE'], { billingStatus: 'SCHEDULED' }],
      ['CANCEL', ['CANCEL'], { billingStatus: 'SCHEDULED', updatedEvent: LEAVING }],
    ])('is all that is paid for in that period, with %s said since', async (_, events, expected) => {
      const { own, old } = await takenBack();
      for (const type of events) await says(own, type);
      const next = await isPaid(own);
      expect(next).toMatchObject([{ ...expected, billingDate: at('2026-12-16T06:00:00Z') }]);
      expect(await on.here.row(old)).toMatchObject({ billingStatus: 'CANCELLED' });
    });

    describe('and billed since', () => {
      let asked: Instant;
      beforeEach(() => void (asked = on.here.now));
      afterEach(() => void (on.here.now = asked));

      /** The bank's day stays the 16th here, which is a finding of its own. */
      const chainFindings = async (member: StoredSubscription) =>
        (await on.violations(member)).filter((finding) => !finding.startsWith('rule 2,'));

      async function billedSince(step?: CollectionStep): Promise<StoredSubscription> {
        const { own, old } = await takenBack(step);
        on.here.now = at('2026-11-20T08:00:00Z');
        expect(await on.here.collect('INITIAL', old)).toMatchObject({ verdict: 'collected' });
        return own;
      }

      it('is given back, and leaves what follows from the other, on its day', async () => {
        const own = await billedSince();
        expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'refund-sent' } });
        const [next, ...more] = await toCome(own);
        expect(next).toMatchObject({ billingDate: at('2026-12-20T06:00:00Z') });
        expect(more).toEqual([]);
        on.here.now = at('2026-12-20T08:00:00Z');
        expect(await on.here.collect('INITIAL', next!)).toMatchObject({ verdict: 'collected' });
        expect(await toCome(own)).toMatchObject([{ billingDate: at('2027-01-20T06:00:00Z') }]);
        expect(await chainFindings(own)).toEqual([]);
      });

      it('is not sent again, whoever asks: it may not have been charged yet', async () => {
        const own = await billedSince('intent-written');
        expect(await reactivate(own, randomUUID())).toMatchObject({
          status: 409,
          body: { code: 'already-active' },
        });
        expect(await debits(own)).toBe(1);
        expect(await on.settle(own, 0)).toMatchObject({ settled: { verdict: 'declined' } });
        expect(await chainFindings(own)).toEqual([]);
      });
    });
  });

  it.each<MembershipEventType>(['CANCEL', 'SUB_PAUSED', 'CLOSEACCOUNT'])(
    'is not sent again after %s, whoever asks: it may not have been charged yet',
    async (type) => {
      const own = await unanswered(await former(), 'intent-written');
      await says(own, type);
      expect(await reactivate(own, randomUUID())).toMatchObject({
        status: 409,
        body: { code: 'attempt-open' },
      });
      expect(await debits(own)).toBe(0);
      expect(await on.settle(own, 0)).toMatchObject({ settled: { verdict: 'declined' } });
      expect(await reactivate(own, randomUUID())).toMatchObject({ status: 201 });
      expect(await on.violations(own)).toEqual([]);
    },
  );

  it('goes on after a cancellation that was taken back', async () => {
    const own = await unanswered(await former(), 'intent-written');
    await says(own, 'CANCEL');
    await says(own, 'RETRACT');
    expect(await reactivate(own, randomUUID())).toMatchObject({
      status: 201,
      body: { subscription: { updated_event: 'user-reactivated' }, next: { updated_event: '' } },
    });
    expect(await debits(own)).toBe(1);
  });
});

describe('an account that is closed while its owner comes back', () => {
  it('before the charge is written down is not charged: the caller is told to ask again', async () => {
    const [member] = await on.desk.member([{ billingDate: at('2026-11-20T06:00:00Z') }]);
    await says(member!, 'CANCEL');
    const { accounts, users, ...others } = on.here.dependencies;
    const closing = async (userId: UserId) => {
      await says(member!, 'CLOSEACCOUNT');
      return accounts.primary(userId);
    };
    const dependencies: DeskDependencies = {
      ...others,
      accounts: { primary: closing },
      users: { get: (userId) => users.get(userId), ban: () => Promise.resolve(true) },
      tiers: TIERS,
      owned: { kind: 'all' },
    };
    const wish = { userId: member!.userId, triggerId: 'back', by: { who: 'member' } };
    await expect(comeBack(dependencies, wish)).rejects.toMatchObject({ refused: 'user-busy' });
    expect(await debits(member!)).toBe(0);
    expect(await reactivate(member!)).toMatchObject({ status: 201, body: { next: { updated_event: '' } } });
    expect(await on.violations(member!)).toEqual([]);
  });

  it.each<CollectionStep>(['intent-written', 'charged'])(
    'after %s: the money is written down, and no period follows',
    async (step) => {
      const member = await former();
      on.meanwhile(step, member, () => says(member, 'CLOSEACCOUNT'));
      expect(await reactivate(member)).toMatchObject({
        status: 201,
        body: { subscription: { billing_status: 'COMPLETED', updated_event: 'account-closed' }, next: null },
      });
      expect(await toCome(member)).toEqual([]);
      expect(await on.violations(member)).toEqual([]);
    },
  );
});

describe('a reactivation that was declined', () => {
  it('is over: nothing is said to it any more', async () => {
    const [member] = await on.desk.member([{ billingStatus: 'CANCELLED' }], {
      pinless: { mode: 'decline', code: '14' },
    });
    expect(await reactivate(member!)).toMatchObject({ status: 402 });
    for (const type of ['CANCEL', 'SUB_PAUSED', 'CLOSEACCOUNT'] as const)
      expect(await says(member!, type)).toMatchObject({ result: 'no-op' });
  });
});
