import { describe, expect, it } from 'vitest';
import { cents } from '../../../../src/domain/money.ts';
import type { SupportUpdate } from '../../../../src/domain/plans/support-update.ts';
import { planSupportUpdate } from '../../../../src/domain/plans/support-update.ts';
import { dateOfItsOwn, upcomingPeriod } from '../../../../src/domain/plans/upcoming.ts';
import type { Subscription } from '../../../../src/domain/subscription.ts';
import { at, subscription } from '../../../support/records.ts';

const NOW = at('2026-11-10T08:00:00Z');
const tiers = { Base: { v0: { MONTHLY: cents(499), YEARLY: cents(3999) } } };

const plan = (record: Subscription, update: Partial<SupportUpdate>, others: readonly Subscription[] = []) =>
  planSupportUpdate(
    record,
    { status: null, billingDate: null, pauseDurationMonths: null, ...update },
    { partition: [record, ...others], tiers, now: NOW },
  );

describe('a pause', () => {
  it.each([
    [1, 1],
    [3, 3],
    [0, -1],
    [-4, -1],
    [null, -1],
  ])('asked for %s months is kept as %i', (asked, kept) => {
    expect(plan(subscription(), { status: 'PAUSED', pauseDurationMonths: asked })).toMatchObject({
      change: { billingStatus: 'PAUSED', pauseDurationMonths: kept, updatedEvent: 'SUB_PAUSED' },
      next: [],
    });
  });

  it('makes a yearly membership a monthly one, at the price of a month', () => {
    const yearly = subscription({ term: 'YEARLY', billingAmount: cents(3999) });
    expect(plan(yearly, { status: 'PAUSED' })).toMatchObject({
      change: { term: 'MONTHLY', billingAmount: 499 },
    });
  });

  it('does not touch the price of a period that was tried', () => {
    const tried = subscription({ term: 'YEARLY', billingAmount: cents(3999), initialRunDate: NOW });
    expect(plan(tried, { status: 'PAUSED' })).toMatchObject({
      change: { term: 'YEARLY', billingAmount: 3999 },
    });
  });

  it('is refused where nobody knows the price of a month', () => {
    const odd = subscription({ term: 'YEARLY', receiptTierName: 'Gold:v9' });
    expect(plan(odd, { status: 'PAUSED' })).toMatchObject({ plan: 'refused', reason: 'unpriced-tier' });
  });

  it('leaves a cancellation, and so does its end', () => {
    const leaving = { updatedEvent: 'PENDING_CANCELLATION' };
    expect(plan(subscription(leaving), { status: 'PAUSED' })).toMatchObject({ change: leaving });
    const paused = subscription({ ...leaving, billingStatus: 'PAUSED', pauseDurationMonths: 2 });
    expect(plan(paused, { status: 'SCHEDULED' })).toMatchObject({
      change: { ...leaving, pauseDurationMonths: 0 },
    });
  });

  it('that is over is told as resumed', () => {
    const paused = subscription({
      billingStatus: 'PAUSED',
      pauseDurationMonths: 2,
      updatedEvent: 'SUB_PAUSED',
    });
    expect(plan(paused, { status: 'SCHEDULED' })).toMatchObject({
      change: { billingStatus: 'SCHEDULED', pauseDurationMonths: 0, updatedEvent: 'pause-resume' },
    });
  });

  it('can be made longer, but nothing else has a length', () => {
    const paused = subscription({ billingStatus: 'PAUSED', pauseDurationMonths: 1 });
    expect(plan(paused, { pauseDurationMonths: 3 })).toMatchObject({ change: { pauseDurationMonths: 3 } });
    expect(plan(subscription(), { pauseDurationMonths: 3 })).toMatchObject({ reason: 'illegal-transition' });
  });
});

describe('what is asked for and is so already', () => {
  it('changes nothing', () => {
    expect(plan(subscription(), { status: 'SCHEDULED' })).toEqual({ plan: 'nothing' });
    expect(plan(subscription(), { billingDate: at('2026-11-16T06:00:00Z') })).toEqual({ plan: 'nothing' });
  });
});

describe('a waived period', () => {
  it('is over, and the next one comes', () => {
    expect(plan(subscription(), { status: 'WAIVED' })).toMatchObject({
      change: { billingStatus: 'WAIVED', completionDate: NOW },
      next: [{ billingStatus: 'SCHEDULED', billingDate: at('2026-12-16T06:00:00Z') }],
    });
  });

  it('that was tried has its successor already', () => {
    const owed = subscription({ billingStatus: 'ERROR', initialRunDate: NOW });
    expect(plan(owed, { status: 'WAIVED' })).toMatchObject({ next: [] });
  });

  it('before another that is to come needs none', () => {
    const later = subscription({ billingDate: at('2026-12-16T06:00:00Z') });
    expect(plan(subscription(), { status: 'WAIVED' }, [later])).toMatchObject({ next: [] });
  });

  it('in a pause hands the rest of the pause on', () => {
    const paused = subscription({ billingStatus: 'PAUSED', pauseDurationMonths: 3 });
    expect(plan(paused, { status: 'WAIVED' })).toMatchObject({
      next: [{ billingStatus: 'PAUSED', pauseDurationMonths: 2 }],
    });
  });

  it('of somebody who is leaving does not make them a member of the next', () => {
    const leaving = subscription({ updatedEvent: 'PENDING_CANCELLATION' });
    expect(plan(leaving, { status: 'WAIVED' })).toMatchObject({
      next: [{ billingStatus: 'SCHEDULED', updatedEvent: 'PENDING_CANCELLATION' }],
    });
  });
});

describe('a cancelled period', () => {
  it('is followed by none', () => {
    expect(plan(subscription(), { status: 'CANCELLED' })).toMatchObject({
      change: { billingStatus: 'CANCELLED', completionDate: NOW },
      next: [],
    });
  });
});

describe('another due date', () => {
  const later = at('2026-12-20T06:00:00Z');

  it('moves the record, and what was over once is not any more', () => {
    const owed = subscription({ billingStatus: 'ERROR', completionDate: NOW });
    expect(plan(owed, { status: 'SCHEDULED', billingDate: later })).toMatchObject({
      change: { billingDate: later, billingStatus: 'SCHEDULED', completionDate: null },
    });
  });

  it.each([
    ['a record that stands there', { billingDate: later, billingStatus: 'CANCELLED' }],
    ['a period in between that is to come', { billingDate: at('2026-12-16T06:00:00Z') }],
    ['a period in between that is owed', { billingDate: at('2026-12-16T06:00:00Z'), billingStatus: 'ERROR' }],
    [
      'a payment in between',
      { billingDate: at('2026-12-01T08:00:00Z'), billingStatus: 'COMPLETED', initialRunDate: NOW },
    ],
  ] as const)('is refused for %s', (_, fields) => {
    expect(plan(subscription(), { billingDate: later }, [subscription(fields)])).toMatchObject({
      plan: 'refused',
      reason: 'period-taken',
    });
  });

  it('may jump over what was cancelled before anybody was asked for it', () => {
    const cancelled = subscription({
      billingDate: at('2026-12-16T06:00:00Z'),
      billingStatus: 'CANCELLED',
    });
    expect(plan(subscription(), { billingDate: later }, [cancelled])).toMatchObject({ plan: 'change' });
  });
});

describe('the period whose price can change', () => {
  it('is the soonest that is scheduled, that nobody was asked to pay, and that is not to be cancelled', () => {
    const wanted = subscription({ billingDate: at('2026-12-16T06:00:00Z') });
    const records = [
      subscription({ billingDate: at('2027-01-16T06:00:00Z') }),
      subscription({ initialRunDate: NOW }),
      subscription({ updatedEvent: 'PENDING_CANCELLATION' }),
      subscription({ billingStatus: 'PAUSED' }),
      wanted,
    ];
    expect(upcomingPeriod(records)).toBe(wanted);
    expect(upcomingPeriod(records.slice(1, 4))).toBeNull();
  });
});

describe('the date of a payment of its own', () => {
  it('is its second, and never that of a period', () => {
    expect(dateOfItsOwn(at('2026-11-16T08:00:00.5Z'))).toBe(at('2026-11-16T08:00:00Z'));
    expect(dateOfItsOwn(at('2026-11-16T06:00:00.5Z'))).toBe(at('2026-11-16T06:00:01Z'));
  });
});
