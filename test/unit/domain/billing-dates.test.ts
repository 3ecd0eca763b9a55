import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  anchorDayOf,
  billingInstant,
  billingPeriod,
  nextBillingDate,
} from '../../../src/domain/billing-dates.ts';
import type { CalendarDate } from '../../../src/domain/calendar-date.ts';
import { formatInstant } from '../../../src/domain/instant.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import type { Term } from '../../../src/domain/subscription.ts';
import { NANOS_PER_HOUR } from '../../support/arbitraries.ts';
import { at } from '../../support/records.ts';

const due = (date: string): Instant => at(`${date}T06:00:00Z`);
const period = (date: string, term: Term = 'MONTHLY', billingWeek: number | null = null) => ({
  billingDate: due(date),
  term,
  billingWeek,
});

describe('a billing date', () => {
  it('is at 06:00 UTC', () => {
    expect(formatInstant(billingInstant('2026-11-16' as CalendarDate))).toBe('2026-11-16T06:00:00Z');
  });

  it.each([
    ['2026-11-16T06:00:00Z', '11/2026'],
    ['2027-01-01T00:00:00Z', '01/2027'],
    ['2026-12-31T23:59:59.999999999Z', '12/2026'],
  ])('%s belongs to the period %s', (instant, expected) => {
    expect(billingPeriod(at(instant))).toBe(expected);
  });
});

describe('the next billing date', () => {
  it.each<[string, Term, number, string]>([
    ['2026-11-16', 'MONTHLY', 16, '2026-12-16'],
    ['2026-12-16', 'MONTHLY', 16, '2027-01-16'],
    ['2026-01-31', 'MONTHLY', 31, '2026-02-28'],
    ['2026-02-28', 'MONTHLY', 31, '2026-03-31'],
    ['2026-03-31', 'MONTHLY', 31, '2026-04-30'],
    ['2026-02-28', 'MONTHLY', 29, '2026-03-29'],
    ['2028-01-31', 'MONTHLY', 31, '2028-02-29'],
    ['2026-11-16', 'YEARLY', 16, '2027-11-16'],
    ['2024-02-29', 'YEARLY', 29, '2025-02-28'],
    ['2027-02-28', 'YEARLY', 29, '2028-02-29'],
  ])('after %s, %s on the %ith, is %s', (from, term, anchor, expected) => {
    expect(nextBillingDate(period(from, term), anchor)).toBe(due(expected));
  });

  it.each<[string, Term, number, string]>([
    ['2026-11-06', 'MONTHLY', 1, '2026-12-04'],
    ['2026-11-13', 'MONTHLY', 2, '2026-12-11'],
    ['2026-11-20', 'MONTHLY', 3, '2026-12-18'],
    ['2026-11-27', 'MONTHLY', 4, '2026-12-25'],
    ['2027-01-29', 'MONTHLY', 5, '2027-02-26'], // February has four Fridays
    ['2027-02-26', 'MONTHLY', 5, '2027-03-26'],
    ['2027-03-26', 'MONTHLY', 5, '2027-04-30'], // the fifth comes back
    ['2026-11-27', 'YEARLY', 4, '2027-11-26'],
    ['2027-04-30', 'YEARLY', 5, '2028-04-28'],
  ])(
    'after %s, %s on Friday number %i, is %s, whatever the day of the month was',
    (from, term, week, expected) => {
      expect(nextBillingDate(period(from, term, week), 31)).toBe(due(expected));
      expect(nextBillingDate(period(from, term, week), 1)).toBe(due(expected));
    },
  );

  it('comes back to 06:00 UTC after a row that a collision moved', () => {
    const moved = { billingDate: at('2026-11-16T08:00:00.5Z'), term: 'MONTHLY', billingWeek: null } as const;
    expect(nextBillingDate(moved, 16)).toBe(due('2026-12-16'));
  });
});

describe('the anchor day', () => {
  it.each<[string, string[], number]>([
    ['2026-11-16', [], 16],
    ['2026-11-16', ['2026-10-31'], 16], // not at the end of its month: nothing was clamped
    ['2026-02-28', [], 28],
    ['2026-02-28', ['2026-01-31'], 31],
    ['2026-02-28', ['2026-01-30'], 30],
    ['2026-02-28', ['2026-01-29'], 29],
    ['2026-02-28', ['2026-01-28'], 28],
    ['2026-04-30', ['2026-03-31', '2026-02-28', '2026-01-31'], 31],
    ['2026-04-30', ['2026-03-30'], 30],
    ['2026-04-30', ['2026-03-29'], 30], // somebody moved the date
    ['2026-03-31', ['2026-02-28'], 31],
    ['2027-02-28', ['2026-02-28', '2025-02-28', '2024-02-29'], 29], // yearly
    ['2028-02-29', ['2027-02-28', '2026-02-28', '2025-02-28', '2024-02-29'], 29],
    ['2028-02-29', ['2027-02-28', '2027-01-31'], 31], // monthly, then yearly
    ['2028-02-29', ['2027-02-28', '2027-01-30'], 30],
    ['2026-02-28', ['2026-03-31'], 28], // a later record says nothing about an earlier one
    ['2026-02-28', ['2025-12-31'], 28], // nor does one with a gap in between
  ])('of %s after %j is %i', (date, earlier, expected) => {
    expect(anchorDayOf(due(date), earlier.map(due))).toBe(expected);
    expect(anchorDayOf(due(date), [...earlier, date].reverse().map(due))).toBe(expected);
  });

  it('is taken from the later of two dates in one month, in whatever order they are listed', () => {
    const history = [due('2026-01-31'), due('2026-01-29')];
    expect(anchorDayOf(due('2026-02-28'), history)).toBe(31);
    expect(anchorDayOf(due('2026-02-28'), history.toReversed())).toBe(31);
  });

  it('does not listen to rows at other hours: prorations, and rows that a collision moved', () => {
    const history = [due('2026-01-29'), at('2026-01-31T07:00:00Z'), at('2026-01-31T05:59:59.999999999Z')];
    expect(anchorDayOf(due('2026-02-28'), history)).toBe(29);
  });

  it('listens to a row that Go wrote with a fraction of a second', () => {
    expect(anchorDayOf(due('2026-02-28'), [at('2026-01-31T06:00:00.5Z')])).toBe(31);
  });

  it.each<[string, string[], string, number]>([
    ['2027-02-28', [], '2027-01-31T15:00:00Z', 31],
    ['2027-04-30', ['2027-03-31', '2027-02-28'], '2027-01-31T15:00:00Z', 31],
    ['2027-02-28', ['2027-01-31'], '2027-01-28T15:00:00Z', 28], // what was given up is later in that month
    ['2027-02-28', ['2027-01-31'], '2027-02-28T15:00:00Z', 28],
    ['2027-06-30', ['2027-05-30', '2027-03-31'], '2027-04-30T00:00:00Z', 30],
    ['2029-02-28', ['2028-02-28', '2028-01-31'], '2028-02-28T05:59:59Z', 28], // yearly
    ['2027-04-30', ['2027-03-15', '2027-02-28'], '2027-01-31T15:00:00Z', 30], // somebody moved the date since
  ])('of %s after %j, in the chain of who came back at %s, is %i', (date, others, cameBackAt, expected) => {
    expect(anchorDayOf(due(date), others.map(due), at(cameBackAt))).toBe(expected);
    expect(anchorDayOf(due(date), others.map(due).toReversed(), at(cameBackAt))).toBe(expected);
  });

  it('is a day of the month, not before the date it is asked for, whatever the history and its order', () => {
    const day = fc
      .date({ min: new Date('2024-01-01'), max: new Date('2028-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10));
    const hours = fc.constantFrom(0n, 0n, 1n, 9n);
    fc.assert(
      fc.property(day, fc.array(fc.tuple(day, hours), { maxLength: 40 }), (date, others) => {
        const history = others.map(([other, hour]) => (due(other) + hour * NANOS_PER_HOUR) as Instant);
        const anchor = anchorDayOf(due(date), history);
        expect(anchor).toBeGreaterThanOrEqual(Number(date.slice(8)));
        expect(anchor).toBeLessThanOrEqual(31);
        expect(anchorDayOf(due(date), history.toReversed())).toBe(anchor);
      }),
    );
  });
});
