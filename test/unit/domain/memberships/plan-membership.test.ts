import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MembershipEvent } from '../../../../src/domain/memberships/membership-event.ts';
import {
  CAUSE_OF_EVENT,
  HANDLED_EVENTS,
  IGNORED_EVENTS,
  MEMBERSHIP_EVENTS,
} from '../../../../src/domain/memberships/membership-event.ts';
import { planMembership } from '../../../../src/domain/memberships/plan-membership.ts';
import { cents } from '../../../../src/domain/money.ts';
import { asPeriod, isComingBack } from '../../../../src/domain/plans/coming-back.ts';
import type { Subscription, SubscriptionId, UserId } from '../../../../src/domain/subscription.ts';
import { TERMS } from '../../../../src/domain/subscription.ts';
import type { Tiers } from '../../../../src/domain/tiers.ts';
import { isLegal, isTerminal } from '../../../../src/domain/transitions.ts';
import { subscriptions } from '../../../support/arbitraries.ts';
import { at, subscription } from '../../../support/records.ts';

const NOW = at('2026-11-16T08:00:00Z');
const TOMORROW = at('2026-11-17T06:00:00Z');
const NEXT_MONTH = at('2026-12-16T06:00:00Z');
const TIERS: Tiers = {
  Base: { v0: { MONTHLY: cents(499), YEARLY: cents(3999) } },
  Plus: { v1: { MONTHLY: cents(999) } },
};

type Type = MembershipEvent['type'];

const event = (type: Type, fields: Partial<MembershipEvent> = {}): MembershipEvent => ({
  type,
  userId: 'user-1' as UserId,
  tier: null,
  term: null,
  confirmationId: null,
  subscriptionId: null,
  startDate: null,
  status: null,
  pauseDurationMonths: null,
  ...fields,
});

const plan = (
  theEvent: MembershipEvent,
  partition: readonly Subscription[],
  underWay: ReadonlySet<SubscriptionId> = new Set(),
) => planMembership(theEvent, { partition, tiers: TIERS, underWay, now: NOW });

function changes(...parameters: Parameters<typeof plan>): readonly Subscription[] {
  const planned = plan(...parameters);
  if (planned.plan !== 'change') throw new Error(`nothing changes: ${JSON.stringify(planned)}`);
  return planned.changes;
}

/** The user's records after the event. */
function after(...[theEvent, partition, underWay]: Parameters<typeof plan>): Subscription[] {
  const planned = plan(theEvent, partition, underWay);
  const changed = planned.plan === 'change' ? planned.changes : [];
  return partition.map(
    (record) => changed.find(({ subscriptionId }) => subscriptionId === record.subscriptionId) ?? record,
  );
}

const scheduled = (fields: Partial<Subscription> = {}) => subscription({ process: 'INITIAL', ...fields });
const paused = (fields: Partial<Subscription> = {}) =>
  scheduled({ billingStatus: 'PAUSED', updatedEvent: 'SUB_PAUSED', pauseDurationMonths: 2, ...fields });
const yearly = (fields: Partial<Subscription> = {}) =>
  scheduled({ term: 'YEARLY', billingAmount: cents(3999), ...fields });

describe('the twelve types', () => {
  it('are six that change records and six that do not', () => {
    expect([...MEMBERSHIP_EVENTS].sort()).toEqual(
      [
        'UPGRADE',
        'DOWNGRADE',
        'CANCEL',
        'RETRACT',
        'AUTODOWNGRADED',
        'GONETOCOLLECTIONS',
        'PAYNOW',
        'SUB_PAUSED',
        'UNPAUSE',
        'UNPAUSE_CHARGE',
        'CLOSEACCOUNT',
        'REACTIVATE',
      ].sort(),
    );
    expect([HANDLED_EVENTS.length, IGNORED_EVENTS.length]).toEqual([6, 6]);
  });
});

describe('CANCEL', () => {
  it('flags what is scheduled or paused, and changes nothing else', () => {
    const [first, second] = [scheduled(), paused({ billingDate: NEXT_MONTH })];
    const over = [scheduled({ billingStatus: 'ERROR' }), scheduled({ billingStatus: 'COMPLETED' })];
    expect(plan(event('CANCEL'), [first, second, ...over])).toEqual({
      plan: 'change',
      reason: 'cancellation-pending',
      changes: [first, second].map((record) => ({ ...record, updatedEvent: 'PENDING_CANCELLATION' })),
      resumed: null,
    });
  });

  it('has nothing to do without such records, or when they are flagged', () => {
    const none = { plan: 'nothing', reason: 'nothing-scheduled-or-paused' };
    expect(plan(event('CANCEL'), [])).toEqual(none);
    expect(plan(event('CANCEL'), [scheduled({ billingStatus: 'ERROR' })])).toEqual(none);
    const flagged = scheduled({ updatedEvent: 'PENDING_CANCELLATION' });
    expect(plan(event('CANCEL'), [flagged])).toEqual({ plan: 'nothing', reason: 'cancellation-was-pending' });
    expect(changes(event('CANCEL'), [flagged, paused()])).toHaveLength(1);
  });
});

describe('SUB_PAUSED', () => {
  it('pauses what is scheduled for as long as the member asks', () => {
    const record = scheduled();
    const others = [paused(), scheduled({ billingStatus: 'ERROR' })];
    expect(changes(event('SUB_PAUSED', { pauseDurationMonths: 3 }), [record, ...others])).toEqual([
      { ...record, billingStatus: 'PAUSED', updatedEvent: 'SUB_PAUSED', pauseDurationMonths: 3 },
    ]);
    expect(plan(event('SUB_PAUSED'), others)).toEqual({ plan: 'nothing', reason: 'nothing-scheduled' });
  });

  it.each([0, -1, -7, null])('for %s months has no end', (pauseDurationMonths) => {
    const [record] = changes(event('SUB_PAUSED', { pauseDurationMonths }), [scheduled()]);
    expect(record!.pauseDurationMonths).toBe(-1);
  });

  it('makes a yearly membership a monthly one at the monthly price, whatever term the event names', () => {
    const record = yearly();
    expect(changes(event('SUB_PAUSED', { term: 'YEARLY' }), [record])[0]).toMatchObject({
      term: 'MONTHLY',
      billingAmount: 499,
    });
  });

  it('leaves the price of a monthly one, also when it is not that of the list', () => {
    const record = scheduled({ billingAmount: cents(123), receiptTierName: 'Gold:v7' });
    expect(changes(event('SUB_PAUSED'), [record])[0]).toMatchObject({ term: 'MONTHLY', billingAmount: 123 });
  });

  it.each([
    ['Plus:v1', 999],
    ['Base:v0', 499],
    ['', 499],
  ])('knows the price of tier "%s"', (receiptTierName, price) => {
    expect(changes(event('SUB_PAUSED'), [yearly({ receiptTierName })])[0]!.billingAmount).toBe(price);
  });

  it('leaves everything as it is when a price is not known', () => {
    const partition = [scheduled(), yearly({ receiptTierName: 'Plus:v2', billingDate: NEXT_MONTH })];
    expect(plan(event('SUB_PAUSED'), partition)).toEqual({
      plan: 'unpriced',
      tierName: 'Plus:v2',
      term: 'MONTHLY',
    });
  });

  it('keeps term and amount of a record that is being charged, or was', () => {
    const asked = yearly();
    const kept = { billingStatus: 'PAUSED', term: 'YEARLY', billingAmount: 3999 };
    expect(changes(event('SUB_PAUSED'), [asked], new Set([asked.subscriptionId]))[0]).toMatchObject(kept);
    expect(changes(event('SUB_PAUSED'), [yearly({ initialRunDate: NOW })])[0]).toMatchObject(kept);
  });

  it('keeps the flag of a member who is leaving', () => {
    const leaving = scheduled({ updatedEvent: 'PENDING_CANCELLATION' });
    expect(changes(event('SUB_PAUSED'), [leaving])[0]).toMatchObject({
      billingStatus: 'PAUSED',
      updatedEvent: 'PENDING_CANCELLATION',
    });
  });
});

describe('RETRACT', () => {
  it('clears what is pending on scheduled records, and changes nothing else', () => {
    const pending = scheduled({ updatedEvent: 'PENDING_CANCELLATION', isPendingDowngrade: true });
    const others = [scheduled({ billingDate: NEXT_MONTH }), paused(), scheduled({ billingStatus: 'ERROR' })];
    expect(changes(event('RETRACT', { term: 'MONTHLY' }), [pending, ...others])).toEqual([
      { ...pending, updatedEvent: '' },
    ]);
    expect(plan(event('RETRACT'), others)).toEqual({ plan: 'nothing', reason: 'nothing-to-retract' });
  });

  it('takes the term that the event names, at its price', () => {
    const pending = scheduled({ updatedEvent: 'UNPAUSE' });
    expect(changes(event('RETRACT', { term: 'YEARLY' }), [pending])[0]).toMatchObject({
      term: 'YEARLY',
      billingAmount: 3999,
    });
    const year = yearly({ updatedEvent: 'PENDING_CANCELLATION', billingAmount: cents(2999) });
    for (const term of ['YEARLY', null] as const)
      expect(changes(event('RETRACT', { term }), [year])[0]).toMatchObject({
        term: 'YEARLY',
        billingAmount: 2999,
      });
    const plus = scheduled({ updatedEvent: 'UNPAUSE', receiptTierName: 'Plus:v1' });
    expect(plan(event('RETRACT', { term: 'YEARLY' }), [plus])).toMatchObject({ plan: 'unpriced' });
  });
});

describe('UNPAUSE', () => {
  const [past, soon, later] = [
    paused({ billingDate: at('2026-11-16T06:00:00Z') }),
    paused({ billingDate: TOMORROW }),
    paused({ billingDate: NEXT_MONTH }),
  ];
  const statusOf = (records: readonly Subscription[], { subscriptionId }: Subscription) =>
    records.find((record) => record.subscriptionId === subscriptionId)!.billingStatus;

  it('goes on with the soonest that is not over, and cancels the others', () => {
    const planned = plan(event('UNPAUSE'), [later, past, soon]);
    expect(planned).toEqual({
      plan: 'change',
      reason: 'unpaused',
      changes: [
        ...[later, past].map((record) => ({
          ...record,
          billingStatus: 'CANCELLED',
          updatedEvent: 'UNPAUSE',
          completionDate: NOW,
        })),
        { ...soon, billingStatus: 'SCHEDULED', updatedEvent: 'UNPAUSE', pauseDurationMonths: 0 },
      ],
      resumed: null,
    });
  });

  it('goes on with the latest when all are over', () => {
    const older = paused({ billingDate: at('2026-10-16T06:00:00Z') });
    const records = after(event('UNPAUSE'), [past, older]);
    expect([statusOf(records, past), statusOf(records, older)]).toEqual(['SCHEDULED', 'CANCELLED']);
  });

  it('takes a period that begins at this very moment for one that is not over', () => {
    const records = after(event('UNPAUSE'), [later, paused({ ...soon, billingDate: NOW })]);
    expect(statusOf(records, soon)).toBe('SCHEDULED');
  });

  it('leaves what is not paused', () => {
    const partition = [scheduled(), scheduled({ billingStatus: 'ERROR' })];
    expect(plan(event('UNPAUSE'), partition)).toEqual({ plan: 'nothing', reason: 'nothing-paused' });
  });

  it('with a charge says so, once', () => {
    const planned = plan(event('UNPAUSE_CHARGE'), [later, soon]);
    expect(planned).toMatchObject({
      reason: 'charged-on-resuming',
      resumed: { subscriptionId: soon.subscriptionId, updatedEvent: 'pause-pending-resume' },
      changes: [{ updatedEvent: 'UNPAUSE' }, { updatedEvent: 'pause-pending-resume' }],
    });
  });

  it.each(['UNPAUSE', 'UNPAUSE_CHARGE'] as const)(
    'keeps the flag of a member who is leaving, who is not charged: %s',
    (type) => {
      const leaving = { updatedEvent: 'PENDING_CANCELLATION' };
      const planned = plan(event(type), [paused({ ...soon, ...leaving }), paused({ ...later, ...leaving })]);
      expect(planned).toMatchObject({ reason: 'unpaused', resumed: null, changes: [leaving, leaving] });
    },
  );
});

describe('CLOSEACCOUNT', () => {
  it('cancels what is scheduled or paused, also of members who are leaving', () => {
    const partition = [
      scheduled({ updatedEvent: 'PENDING_CANCELLATION' }),
      paused({ billingDate: NEXT_MONTH }),
      scheduled({ billingStatus: 'ERROR' }),
    ];
    const [first, second] = partition;
    expect(changes(event('CLOSEACCOUNT'), partition)).toEqual(
      [first, second].map((record) => ({
        ...record,
        billingStatus: 'CANCELLED',
        updatedEvent: 'account-closed',
        completionDate: NOW,
      })),
    );
    expect(plan(event('CLOSEACCOUNT'), partition.slice(2))).toEqual({
      plan: 'nothing',
      reason: 'nothing-scheduled-or-paused',
    });
  });
});

describe('who is coming back', () => {
  /** A charge without an answer brought it into the world, as CANCELLED. */
  const comingBack = (fields: Partial<Subscription> = {}) =>
    subscription({
      billingDate: at('2026-11-16T07:58:12Z'),
      billingStatus: 'CANCELLED',
      process: 'REACTIVATION',
      updatedEvent: 'user-reactivated',
      completionDate: at('2026-11-16T07:58:12Z'),
      ...fields,
    });

  it.each<[Type, Partial<Subscription>]>([
    ['CANCEL', { updatedEvent: 'PENDING_CANCELLATION' }],
    ['SUB_PAUSED', { updatedEvent: 'SUB_PAUSED', pauseDurationMonths: -1 }],
    ['CLOSEACCOUNT', { updatedEvent: 'account-closed', completionDate: NOW }],
  ])('and says %s has it noted on the record that is being paid for', (type, fields) => {
    const own = comingBack();
    expect(changes(event(type), [own])).toEqual([{ ...own, ...fields }]);
  });

  it('is heard also after the charge was given up: it may turn out to have been made', () => {
    const own = comingBack({ usioError: 'abandoned: the processor never knew of it' });
    expect(changes(event('CANCEL'), [own])).toMatchObject([{ updatedEvent: 'PENDING_CANCELLATION' }]);
  });

  it('and takes back what was said comes back as before', () => {
    const own = comingBack();
    expect(after(event('RETRACT'), after(event('CANCEL'), [own]))).toEqual([own]);
    expect(plan(event('RETRACT'), [own])).toEqual({ plan: 'nothing', reason: 'nothing-to-retract' });
  });

  it('has resumed, though another period goes on: the next is not paused', () => {
    const leaving = scheduled({ billingDate: NEXT_MONTH, updatedEvent: 'PENDING_CANCELLATION' });
    const paused = after(event('SUB_PAUSED'), [comingBack(), leaving]);
    expect(after(event('UNPAUSE'), paused)).toMatchObject([
      { billingStatus: 'CANCELLED', pauseDurationMonths: 0 },
      { billingStatus: 'SCHEDULED', updatedEvent: 'PENDING_CANCELLATION' },
    ]);
  });

  it('keeps the amount and the term that are being charged', () => {
    const own = comingBack({ term: 'YEARLY', billingAmount: cents(3999) });
    expect(changes(event('SUB_PAUSED'), [own])).toMatchObject([{ term: 'YEARLY', billingAmount: 3999 }]);
    expect(changes(event('RETRACT', { term: 'MONTHLY' }), after(event('CANCEL'), [own]))).toEqual([own]);
  });

  it.each<[string, Partial<Subscription>]>([
    ['was declined', { transactionId: 'JPM-1', usioError: '14: no such card' }],
    ['was over with the account', { updatedEvent: 'account-closed' }],
    ['is a period that was cancelled', { billingDate: NEXT_MONTH }],
    ['paid for something else', { process: 'NOT_IDENTIFIED' }],
  ])('is nobody whose record %s', (_, fields) => {
    for (const type of HANDLED_EVENTS)
      expect(plan(event(type), [comingBack(fields)])).toMatchObject({ plan: 'nothing' });
  });

  it('is spoken to as if the period were there already', () => {
    const all = fc.array(
      fc.record({
        type: fc.constantFrom(...HANDLED_EVENTS),
        pauseDurationMonths: fc.option(fc.integer({ min: -3, max: 4 })),
      }),
      { maxLength: 6 },
    );
    const through = (said: Subscription, events: readonly Partial<MembershipEvent>[]) =>
      events.reduce<Subscription[]>(
        (records, { type, ...more }) => after(event(type!, more), records),
        [said],
      )[0]!;
    fc.assert(
      fc.property(all, (events) => {
        const own = asPeriod(through(comingBack(), events));
        const period = through(scheduled(), events);
        const { billingStatus, updatedEvent } = period;
        expect(own).toMatchObject({ billingStatus, updatedEvent });
        if (billingStatus === 'PAUSED') expect(own.pauseDurationMonths).toBe(period.pauseDurationMonths);
      }),
    );
  });
});

describe('whatever comes', () => {
  const events = fc
    .record({
      type: fc.constantFrom(...HANDLED_EVENTS),
      term: fc.option(fc.constantFrom(...TERMS)),
      pauseDurationMonths: fc.option(fc.integer({ min: -3, max: 4 })),
    })
    .map(({ type, ...fields }) => event(type, fields));
  const partitions = fc
    .uniqueArray(subscriptions(NOW), { maxLength: 5, selector: ({ subscriptionId }) => subscriptionId })
    .map((records) => records.map((record) => ({ ...record, billingStatus: live(record.billingStatus) })))
    .map((records) => records.filter((record) => !isComingBack(record)));
  /** Half of what is over is made live: otherwise most events would find nothing. */
  const live = (status: Subscription['billingStatus']) =>
    status === 'WAIVED' || status === 'REFUNDED' ? 'PAUSED' : status === 'STALE' ? 'SCHEDULED' : status;
  /** Some of the records are being charged. */
  const underWays = fc
    .func(fc.boolean())
    .map(
      (isCharged) => (partition: readonly Subscription[]) =>
        new Set(
          partition
            .map(({ subscriptionId }) => subscriptionId)
            .filter((subscriptionId) => isCharged(subscriptionId)),
        ),
    );

  it('one event changes no record twice, nothing that is over, and only as the table allows', () => {
    fc.assert(
      fc.property(events, partitions, underWays, (theEvent, partition, underWay) => {
        const planned = plan(theEvent, partition, underWay(partition));
        if (planned.plan !== 'change') return;
        const ids = planned.changes.map(({ subscriptionId }) => subscriptionId);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.length).toBeGreaterThan(0);
        for (const changed of planned.changes) {
          const before = partition.find(({ subscriptionId }) => subscriptionId === changed.subscriptionId)!;
          expect(isTerminal(before.billingStatus)).toBe(false);
          expect(isLegal(before.billingStatus, changed.billingStatus, CAUSE_OF_EVENT[theEvent.type])).toBe(
            true,
          );
          expect(changed.process).toBe(before.process ?? 'NOT_IDENTIFIED');
          expect(changed.completionDate).toBe(
            isTerminal(changed.billingStatus) ? NOW : before.completionDate,
          );
        }
      }),
    );
  });

  it('a record that is over stays as it is through any number of events', () => {
    fc.assert(
      fc.property(fc.array(events, { maxLength: 6 }), partitions, (theEvents, partition) => {
        const end = theEvents.reduce<Subscription[]>((records, each) => after(each, records), partition);
        for (const [i, before] of partition.entries())
          if (isTerminal(before.billingStatus)) expect(end[i]).toEqual(before);
      }),
    );
  });

  it('RETRACT after CANCEL brings a scheduled record back as it was', () => {
    fc.assert(
      fc.property(partitions, (partition) => {
        const untouched = partition.map((record) => ({
          ...record,
          updatedEvent: '',
          process: record.process ?? ('NOT_IDENTIFIED' as const),
        }));
        const restored = after(event('RETRACT'), after(event('CANCEL'), untouched));
        for (const [i, before] of untouched.entries())
          if (before.billingStatus !== 'PAUSED') expect(restored[i]).toEqual(before);
      }),
    );
  });

  it('who is leaving is still leaving after pauses and their ends', () => {
    const pauses = events.filter(({ type }) => type !== 'RETRACT' && type !== 'CLOSEACCOUNT');
    fc.assert(
      fc.property(fc.array(pauses, { maxLength: 6 }), partitions, (theEvents, partition) => {
        const leaving = after(event('CANCEL'), partition);
        const end = theEvents.reduce<Subscription[]>((records, each) => after(each, records), leaving);
        for (const [i, { updatedEvent }] of leaving.entries())
          if (updatedEvent === 'PENDING_CANCELLATION') expect(end[i]!.updatedEvent).toBe(updatedEvent);
      }),
    );
  });

  it('at most one record becomes scheduled when a pause ends, and none stays paused', () => {
    fc.assert(
      fc.property(fc.constantFrom<Type>('UNPAUSE', 'UNPAUSE_CHARGE'), partitions, (type, partition) => {
        const before = partition.filter(({ billingStatus }) => billingStatus === 'SCHEDULED').length;
        const wasPaused = partition.some(({ billingStatus }) => billingStatus === 'PAUSED');
        const records = after(event(type), partition);
        const statuses = records.map(({ billingStatus }) => billingStatus);
        expect(statuses.filter((status) => status === 'SCHEDULED')).toHaveLength(
          before + (wasPaused ? 1 : 0),
        );
        expect(statuses).not.toContain('PAUSED');
      }),
    );
  });

  it('an amount changes with the term, to its price, and never otherwise', () => {
    fc.assert(
      fc.property(events, partitions, underWays, (theEvent, partition, underWay) => {
        const charged = underWay(partition);
        const records = after(theEvent, partition, charged);
        for (const [i, { term, billingAmount, receiptTierName }] of partition.entries()) {
          const end = records[i]!;
          if (end.term === term) expect(end.billingAmount).toBe(billingAmount);
          else {
            const [tier, version] = (receiptTierName || 'Base:v0').split(':');
            expect(end.billingAmount).toBe(TIERS[tier!]![version!]![end.term]);
            expect(['SUB_PAUSED', 'RETRACT']).toContain(theEvent.type);
            expect(charged.has(end.subscriptionId)).toBe(false);
          }
        }
      }),
    );
  });
});
