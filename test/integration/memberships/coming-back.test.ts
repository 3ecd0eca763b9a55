import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/domain/instant.ts';
import { plusDays, plusMs } from '../../../src/domain/instant.ts';
import type { MembershipEventType } from '../../../src/domain/memberships/membership-event.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { DeskDependencies } from '../../../src/app/desk/desk.ts';
import { isBilledBeside } from '../../../src/app/billed-beside.ts';
import { reactivate as comeBack } from '../../../src/app/desk/reactivate.ts';
import { settleAttempt } from '../../../src/app/settle-attempt.ts';
import type { CollectionStep, OnStep } from '../../../src/ports/steps.ts';
import type { StoredSubscription } from '../../../src/ports/subscriptions.ts';
import type { MembershipApi } from '../../support/membership-api.ts';
import { membershipApi } from '../../support/membership-api.ts';
import { paymentDesk } from '../../support/payment-desk.ts';
import { TIERS } from '../../support/membership-desk.ts';
import { at } from '../../support/records.ts';

/* What a member says between asking to come back and the processor's answer holds when the answer is known. */

let on: MembershipApi;

beforeAll(async () => {
  on = await membershipApi();
});
afterAll(() => on.close());

let start: Instant;
beforeEach(() => void (start = on.here.now));
afterEach(() => void (on.here.now = start));

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

    describe('and is being paid by hand', () => {
      async function paidByHand(
        fault: 'timeout-after' | 'timeout-before',
        step?: CollectionStep,
      ): Promise<{ own: StoredSubscription; old: StoredSubscription }> {
        const { own, old } = await takenBack(step);
        on.here.now = plusMs(on.here.now, 1_000);
        await on.loseAnswers(own, 'payments', fault);
        expect(await on.here.collect('MANUAL_REPAYMENT', old)).toMatchObject({ verdict: 'unknown' });
        return { own, old };
      }

      it.each(['first', 'last'])('is given back, also where its answer is heard %s', async (order) => {
        const { own, old } = await paidByHand('timeout-after');
        const payments = [
          [own, 'refund-sent'],
          [old, 'collected'],
        ] as const;
        for (const [record, verdict] of order === 'first' ? payments : payments.toReversed())
          expect(await on.settle(record)).toMatchObject({ settled: { verdict } });
        expect(await on.here.row(old)).toMatchObject({ billingStatus: 'COMPLETED' });
        expect(await toCome(own)).toMatchObject([{ billingDate: at('2026-12-20T06:00:00Z') }]);
        expect(await on.violations(own)).toEqual([]);
      });

      it.each(['first', 'last'])(
        'is given back, also where the account is closed since and its answer is heard %s',
        async (order) => {
          const { own, old } = await paidByHand('timeout-after');
          await says(own, 'CLOSEACCOUNT');
          const payments = [
            [own, 'refund-sent'],
            [old, 'collected'],
          ] as const;
          for (const [record, verdict] of order === 'first' ? payments : payments.toReversed())
            expect(await on.settle(record)).toMatchObject({ settled: { verdict } });
          expect(await toCome(own)).toEqual([]);
          expect(await on.violations(own)).toEqual([]);
        },
      );

      it('is given back although that payment turns out not to have been made: the old period is still to come', async () => {
        const { own, old } = await paidByHand('timeout-before');
        expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'refund-sent' } });
        expect(await on.settle(old, 0)).toMatchObject({ settled: { verdict: 'declined' } });
        expect(await toCome(own)).toMatchObject([{ subscriptionId: old.subscriptionId }]);
        expect(await on.violations(own)).toEqual([]);
      });

      it('is not sent again, whoever asks: it may not have been charged yet', async () => {
        const { own } = await paidByHand('timeout-after', 'intent-written');
        expect(await reactivate(own, randomUUID())).toMatchObject({
          status: 409,
          body: { code: 'already-active' },
        });
        expect(await debits(own)).toBe(1);
      });
    });

    describe('and billed since', () => {
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

      it('is given back also where the attempt was stored by a release that did not count what was billed', async () => {
        const own = await billedSince();
        const [attempt] = await on.here.dependencies.pipeline.attemptsOn(own.subscriptionId);
        const partition = await on.here.partition(own.userId);
        const { billedBefore, ...older } = attempt!;
        expect(billedBefore).toBe(0);
        expect(await isBilledBeside(on.here.dependencies.pipeline, older, partition)).toBe(true);
      });

      it('is given back also where it was billed by a process whose clock is behind', async () => {
        const { own, old } = await takenBack();
        on.here.now = plusMs(start, -60_000);
        expect(await on.here.collect('MANUAL_REPAYMENT', old)).toMatchObject({ verdict: 'collected' });
        expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'refund-sent' } });
        expect(await toCome(own)).toMatchObject([{ billingDate: at('2026-12-20T06:00:00Z') }]);
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

  it('is left beside the payment of a period that was owed before: that is for other weeks', async () => {
    const [member] = await on.desk.member([
      {
        billingDate: at('2026-11-10T06:00:00Z'),
        billingStatus: 'ERROR',
        initialRunDate: at('2026-11-10T08:00:00Z'),
      },
    ]);
    const own = await unanswered(member!);
    const again = { billing_status: 'SCHEDULED' };
    const patched = await on.send('PATCH', member!, `subscriptions/${member!.subscriptionId}`, again);
    expect(patched).toMatchObject({ status: 200 });
    await on.loseAnswers(own, 'payments');
    const owed = await on.here.row(member!);
    expect(await on.here.collect('MANUAL_REPAYMENT', owed)).toMatchObject({ verdict: 'unknown' });
    expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'collected' } });
    expect(await on.settle(owed)).toMatchObject({ settled: { verdict: 'collected' } });
    // Its past is made up.
    expect(await on.violations(own)).toEqual([expect.stringContaining('began as ERROR')]);
  });

  it('is left although an upgrade of what was cancelled before is given back meanwhile', async () => {
    const [member] = await on.desk.member([{ billingDate: at('2026-12-21T06:00:00Z') }]);
    await on.loseAnswers(member!, 'payments');
    const plan = { tier: 'Plus', version: 'v1', amount: '5.83' };
    expect(await on.send('POST', member!, 'subscriptions/upgrade', plan)).toMatchObject({ status: 202 });
    const proration = await on.newest(member!, 'CANCELLED');
    await says(member!, 'CANCEL');
    const own = await unanswered(member!);
    on.here.now = at('2026-11-16T12:00:00Z');
    expect(await on.settle(proration)).toMatchObject({ settled: { verdict: 'refund-sent' } });
    expect(await isPaid(own)).toMatchObject([{ billingDate: at('2026-12-16T06:00:00Z') }]);
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
  /** On the clock of the test, which can be moved in the middle of a request. */
  const deskWith = (parts: Partial<DeskDependencies>): DeskDependencies => {
    const { users, ...others } = on.here.dependencies;
    const everybody = { get: (userId: UserId) => users.get(userId), ban: () => Promise.resolve(true) };
    return { ...others, users: everybody, tiers: TIERS, owned: { kind: 'all' }, ...parts };
  };

  it('before the charge is written down is not charged: the caller is told to ask again', async () => {
    const [member] = await on.desk.member([{ billingDate: at('2026-11-20T06:00:00Z') }]);
    await says(member!, 'CANCEL');
    const { accounts } = on.here.dependencies;
    const closing = async (userId: UserId) => {
      await says(member!, 'CLOSEACCOUNT');
      // At the same instant the two would be refused for their stamps, and nobody would know what for.
      on.here.now = plusMs(on.here.now, 1_000);
      return accounts.primary(userId);
    };
    const wish = { userId: member!.userId, triggerId: 'back', by: { who: 'member' } };
    await expect(comeBack(deskWith({ accounts: { primary: closing } }), wish)).rejects.toMatchObject({
      refused: 'user-busy',
    });
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

  it('and who comes back once more within the second of being paid, is paid for again', async () => {
    const { userId } = await former();
    const asking = { userId, by: { who: 'member' } };
    const onStep: OnStep = async (step) => {
      if (step !== 'charged') return;
      on.here.now = plusMs(start, 2_300);
      await on.desk.happens(userId, 'CLOSEACCOUNT');
    };
    const first = await comeBack(deskWith({ onStep }), { ...asking, triggerId: 'once' });
    expect(first).toMatchObject({ record: { updatedEvent: 'account-closed' }, next: null });
    on.here.now = plusMs(start, 2_600);
    const second = await comeBack(deskWith({}), { ...asking, triggerId: 'twice' });
    expect(second).toMatchObject({ isKnown: true, next: { updatedEvent: '' } });
    expect(await on.violations(second.record)).toEqual([]);
  });
});

describe('a charge that was given up, of a period that was ended by coming back', () => {
  const payments = () => paymentDesk(on.here);
  let desk: ReturnType<typeof payments>;
  beforeAll(() => void (desk = payments()));
  afterAll(() => desk.close());

  /** Billed on the 20th, and paid by hand on the 16th: nobody knows, and after a day it is given up. */
  async function givenUp(): Promise<{ old: StoredSubscription; isMade: () => Promise<void> }> {
    const [old] = await on.desk.member([{ billingDate: at('2026-11-20T06:00:00Z') }]);
    await on.loseAnswers(old!, 'payments');
    expect(await on.here.collect('MANUAL_REPAYMENT', old!)).toMatchObject({ verdict: 'unknown' });
    const { dependencies } = on.here;
    const [attempt] = await dependencies.pipeline.attemptsOn(old!.subscriptionId);
    const { confirmationId } = (await dependencies.processor.findByKey(attempt!.attemptId))!;
    on.here.now = plusDays(on.here.now, 2);
    const knowsNothing = { ...dependencies.processor, findByKey: () => Promise.resolve(null) };
    const aDay = { abandonAfterMs: 86_400_000 };
    expect(await settleAttempt({ ...dependencies, processor: knowsNothing }, aDay, attempt!)).toMatchObject({
      settled: { verdict: 'declined' },
    });
    await on.here.faults([]);
    const isMade = async (): Promise<void> => {
      await desk.tell('COMPLETED', { ...(await on.here.row(old!)), transactionId: confirmationId });
      expect(await on.here.row(old!)).toMatchObject({
        billingStatus: 'COMPLETED',
        transactionId: confirmationId,
      });
      expect(await on.violations(old!)).toEqual([]);
    };
    return { old: old!, isMade };
  }

  const moved = async (record: StoredSubscription): Promise<string[]> =>
    (await on.here.ledger(record)).flatMap(({ effect }) => effect ?? []);

  it.each<[string, MembershipEventType]>([
    ['cancelled', 'CANCEL'],
    ['closed with the account', 'CLOSEACCOUNT'],
  ])(
    'having been %s, is given back when it turns out to have been made: those weeks were paid for since',
    async (_, type) => {
      const { old, isMade } = await givenUp();
      await says(old, type);
      expect(await reactivate(old)).toMatchObject({ status: 201 });
      const toComeThen = await toCome(old);
      expect(toComeThen).toHaveLength(1);
      await isMade();
      expect(await moved(old)).toEqual(['debit', 'credit']);
      expect(await toCome(old)).toEqual(toComeThen);
      expect(await desk.tell('REFUNDED', await on.here.row(old))).toMatchObject({ result: 'changed' });
      expect(await on.violations(old)).toEqual([]);
    },
  );

  it('is given back also where the account is closed before coming back has an answer', async () => {
    const { old, isMade } = await givenUp();
    await says(old, 'CANCEL');
    const own = await unanswered(old);
    await says(old, 'CLOSEACCOUNT');
    expect(await on.settle(own)).toMatchObject({ settled: { verdict: 'collected' } });
    await isMade();
    expect(await toCome(own)).toEqual([]);
    expect(await moved(old)).toEqual(['debit', 'credit']);
  });

  it('is kept where the account was closed and its owner did not come back', async () => {
    const { old, isMade } = await givenUp();
    await says(old, 'CLOSEACCOUNT');
    await isMade();
    expect(await moved(old)).toEqual(['debit']);
  });
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
