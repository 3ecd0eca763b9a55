import { describe, expect, it } from 'vitest';
import { addBankingDays, isBankingDay, settlementAfter } from '../../src/sandbox/calendar/banking-days.ts';
import { addDays, weekdayOf } from '../../src/sandbox/calendar/civil-date.ts';
import { isFedHoliday } from '../../src/sandbox/calendar/fed-holidays.ts';
import { newYorkInstant } from '../../src/sandbox/calendar/new-york-time.ts';

/** Weekdays on which the Federal Reserve is closed, written down by hand: the oracle. */
const CLOSED: Readonly<Record<number, string>> = {
  2024: '01-01 01-15 02-19 05-27 06-19 07-04 09-02 10-14 11-11 11-28 12-25',
  2025: '01-01 01-20 02-17 05-26 06-19 07-04 09-01 10-13 11-11 11-27 12-25',
  2026: '01-01 01-19 02-16 05-25 06-19 09-07 10-12 11-11 11-26 12-25',
  2027: '01-01 01-18 02-15 05-31 07-05 09-06 10-11 11-11 11-25',
  2028: '01-17 02-21 05-29 06-19 07-04 09-04 10-09 11-23 12-25',
};

describe('the bank calendar', () => {
  it.each(Object.entries(CLOSED))('knows every closure of %s', (year, dates) => {
    const closed: string[] = [];
    for (let day = `${year}-01-01`; day.startsWith(year); day = addDays(day, 1)) {
      const weekend = weekdayOf(day) === 0 || weekdayOf(day) === 6;
      if (!weekend && isFedHoliday(day)) closed.push(day.slice(5));
      expect(isBankingDay(day)).toBe(!weekend && !closed.includes(day.slice(5)));
    }
    expect(closed).toEqual(dates.split(' '));
  });

  it('keeps the Friday open when the holiday is on Saturday, and closes the Monday after a Sunday', () => {
    expect(isBankingDay('2026-07-03')).toBe(true);
    expect(isBankingDay('2027-07-05')).toBe(false);
    expect(isBankingDay('2027-12-24')).toBe(true);
    expect(isBankingDay('2027-12-31')).toBe(true);
  });

  it.each([
    ['2026-11-20', 1, '2026-11-23'],
    ['2026-11-25', 1, '2026-11-27'],
    ['2026-11-25', 2, '2026-11-30'],
    ['2026-12-24', 1, '2026-12-28'],
    ['2027-07-02', 1, '2027-07-06'],
    ['2026-07-02', 1, '2026-07-03'],
    ['2026-07-04', 1, '2026-07-06'],
    ['2026-03-04', 0, '2026-03-04'],
  ])('counts from %s by %i banking days to %s', (from, days, to) => {
    expect(addBankingDays(from, days)).toBe(to);
  });

  it.each([
    ['2026-03-06', '2026-03-06T13:30:00.000Z'],
    ['2026-03-09', '2026-03-09T12:30:00.000Z'],
    ['2026-10-30', '2026-10-30T12:30:00.000Z'],
    ['2026-11-02', '2026-11-02T13:30:00.000Z'],
  ])('opens the window of %s at %s', (date, instant) => {
    expect(new Date(newYorkInstant(date, '08:30')).toISOString()).toBe(instant);
  });

  it('takes the date from New York, not from Greenwich', () => {
    // Friday 23:30 Eastern is Saturday in UTC; both settle on Monday. Sunday 23:30 Eastern settles on Monday too.
    const after = (instant: string) => new Date(settlementAfter(Date.parse(instant), 1)).toISOString();
    expect(after('2026-06-13T03:30:00Z')).toBe('2026-06-15T12:30:00.000Z');
    expect(after('2026-06-15T03:30:00Z')).toBe('2026-06-15T12:30:00.000Z');
    expect(after('2026-06-15T04:30:00Z')).toBe('2026-06-16T12:30:00.000Z');
  });
});
