import { describe, expect, it } from 'vitest';
import { currentSubscription } from '../../../src/domain/current-subscription.ts';
import type { Subscription } from '../../../src/domain/subscription.ts';
import { at, subscription } from '../../support/records.ts';

const NOW = at('2026-11-16T08:00:00Z');

const period = (day: string, fields: Partial<Subscription>): Subscription =>
  subscription({ billingDate: at(`${day}T06:00:00Z`), ...fields });

const first = period('2026-09-16', { billingStatus: 'COMPLETED' });
const second = period('2026-10-16', { billingStatus: 'ERROR' });
const third = period('2026-11-16', { billingStatus: 'ERROR' });
const next = period('2026-12-16', {});

describe('where a member stands', () => {
  it('the newest period whose day has come is in force, and all that failed is owed', () => {
    // In any order: the store's order is not ours to rely on.
    expect(currentSubscription([next, second, first, third], NOW)).toEqual({
      membership: 'active',
      record: third,
      nextBilling: next,
      owed: [second, third],
      owedAmount: 998,
    });
  });

  it('a period that is due and was not charged yet is in force and billed next', () => {
    const due = period('2026-11-16', {});
    expect(currentSubscription([first, due], NOW)).toMatchObject({ record: due, nextBilling: due });
  });

  it.each([
    ['paused', { billingStatus: 'PAUSED' }],
    ['ending', { updatedEvent: 'PENDING_CANCELLATION' }],
    ['ending', { billingStatus: 'PAUSED', updatedEvent: 'PENDING_CANCELLATION' }],
    ['ended', { billingStatus: 'CANCELLED' }],
  ] as const)('%s: the period in force stays, and nothing is billed next (%j)', (membership, fields) => {
    const after = period('2026-12-16', fields);
    expect(currentSubscription([first, after], NOW)).toMatchObject({
      membership,
      record: first,
      nextBilling: null,
    });
  });

  const beside = (fields: Partial<Subscription>): Subscription =>
    subscription({ billingDate: at('2026-11-16T07:12:34Z'), ...fields });

  it.each([
    ['a proration', { billingStatus: 'COMPLETED', process: 'NOT_IDENTIFIED' }],
    ['a proration that was given back', { billingStatus: 'REFUNDED', process: 'NOT_IDENTIFIED' }],
    ['a reactivation that was declined', { billingStatus: 'CANCELLED', process: 'REACTIVATION' }],
  ] as const)('%s is no period', (_, fields) => {
    expect(currentSubscription([first, beside(fields), next], NOW)).toMatchObject({ record: first });
  });

  it.each([
    ['a reactivation', { billingStatus: 'COMPLETED', process: 'REACTIVATION' }],
    ['a period that a collision moved', { billingStatus: 'ERROR', process: 'RETRY' }],
  ] as const)('%s is one', (_, fields) => {
    const record = beside(fields);
    expect(currentSubscription([first, record, next], NOW)).toMatchObject({ record });
  });

  it('nobody stands nowhere', () => {
    expect(currentSubscription([], NOW)).toBeNull();
  });
});
