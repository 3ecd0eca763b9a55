import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateOf } from '../../../../src/domain/calendar-date.ts';
import { formatInstant, instantFromMs, msOf } from '../../../../src/domain/instant.ts';
import { cents } from '../../../../src/domain/money.ts';
import { activationId, firstBillingDay, firstPeriod } from '../../../../src/domain/plans/activation.ts';
import type { UserId } from '../../../../src/domain/subscription.ts';
import { at } from '../../../support/records.ts';
import '../../../support/property-seed.ts';

const wish = (isFriday: boolean) =>
  ({ userId: 'user-1' as UserId, tierName: '', term: 'MONTHLY', amount: cents(499), isFriday }) as const;

describe('the first billing date', () => {
  it.each([
    ['2026-11-16T08:00:00Z', '2026-11-30', '2026-11-27'],
    // The trial's last day is a Monday: that week is still the member's.
    ['2026-11-14T08:00:00Z', '2026-11-30', '2026-11-27'],
    ['2026-11-13T23:59:59Z', '2026-11-23', '2026-11-27'],
    ['2026-12-28T00:00:00Z', '2027-01-11', '2027-01-08'],
  ])('of somebody who joins at %s is %s, or %s with Friday billing', (now, monday, friday) => {
    expect(firstBillingDay(at(now), false)).toBe(monday);
    expect(firstBillingDay(at(now), true)).toBe(friday);
  });

  it('is always that weekday at 06:00 UTC, more than nine days ahead and at most sixteen', () => {
    const moment = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2034, 0) });
    fc.assert(
      fc.property(moment, fc.boolean(), (ms, isFriday) => {
        const now = instantFromMs(ms);
        const { billingDate, billingWeek } = firstPeriod(wish(isFriday), now);
        const date = new Date(msOf(billingDate));
        expect([date.getUTCDay(), date.getUTCHours()]).toEqual([isFriday ? 5 : 1, 6]);
        const days = (Date.parse(dateOf(billingDate)) - Date.parse(dateOf(now))) / 86_400_000;
        expect(days).toBeGreaterThan(9);
        expect(days).toBeLessThanOrEqual(16);
        expect(billingWeek).toBe(isFriday ? Math.floor((date.getUTCDate() - 1) / 7) + 1 : null);
      }),
    );
  });
});

describe('the first period', () => {
  it('is scheduled under an id that only this member has', () => {
    const first = firstPeriod(wish(false), at('2026-11-16T08:00:00Z'));
    expect(first).toMatchObject({ billingStatus: 'SCHEDULED', billingPeriod: '11/2026', billingAmount: 499 });
    expect(formatInstant(first.billingDate)).toBe('2026-11-30T06:00:00Z');
    expect(first.subscriptionId).toBe(activationId('user-1' as UserId));
    expect(first.subscriptionId).not.toBe(activationId('user-2' as UserId));
  });
});
