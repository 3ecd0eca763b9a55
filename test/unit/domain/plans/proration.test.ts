import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cents } from '../../../../src/domain/money.ts';
import { plusDays, plusMs } from '../../../../src/domain/instant.ts';
import { prorationFor } from '../../../../src/domain/plans/proration.ts';
import { at } from '../../../support/records.ts';
import '../../../support/property-seed.ts';

const PLUS = { wanted: cents(999), base: cents(499) };
const NOON = at('2026-11-16T12:00:00Z');
const inDays = (days: number) => plusDays(at('2026-11-16T06:00:00Z'), days);

describe('the proration of an upgrade', () => {
  it.each([
    [35, 583],
    [30, 500],
    [1, 17],
    [3, 50],
    [65, 1083],
    [0, 0],
    [-1, 0],
    [-40, 0],
  ])('with %i days left is %i cents', (days, expected) => {
    expect(prorationFor(PLUS, NOON, inDays(days))).toBe(expected);
  });

  it('is not told for a date more than 65 days ahead', () => {
    expect(prorationFor(PLUS, NOON, inDays(66))).toBeNull();
  });

  it('rounds half a cent up, as people do', () => {
    expect(prorationFor({ wanted: cents(502), base: cents(499) }, NOON, inDays(5))).toBe(1);
  });

  it('counts days from midnight to midnight in UTC, whatever the hours', () => {
    const ms = fc.integer({ min: 0, max: 86_399_999 });
    fc.assert(
      fc.property(ms, ms, fc.integer({ min: 0, max: 65 }), (today, thatDay, days) => {
        const midnight = at('2026-11-16T00:00:00Z');
        const due = prorationFor(PLUS, plusMs(midnight, today), plusMs(plusDays(midnight, days), thatDay));
        expect(due).toBe(prorationFor(PLUS, midnight, plusDays(midnight, days)));
      }),
    );
  });

  it('is the nearest cent to the exact amount, and grows with the days', () => {
    const price = fc.integer({ min: 500, max: 100_000 });
    fc.assert(
      fc.property(price, fc.integer({ min: 1, max: 65 }), (wanted, days) => {
        const prices = { wanted: cents(wanted), base: cents(499) };
        const due = prorationFor(prices, NOON, inDays(days))!;
        // In thirtieths of a cent everything is whole.
        expect(Math.abs(due * 30 - (wanted - 499) * days)).toBeLessThanOrEqual(15);
        expect(due).toBeGreaterThanOrEqual(prorationFor(prices, NOON, inDays(days - 1))!);
      }),
    );
  });
});
