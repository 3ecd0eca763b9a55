import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CalendarDate } from '../../../src/domain/calendar-date.ts';
import {
  FRIDAY,
  MONDAY,
  SATURDAY,
  SUNDAY,
  THURSDAY,
  addDays,
  calendarDate,
  dateInZone,
  dateOf,
  daysBetween,
  daysInMonth,
  lastWeekday,
  midnightOf,
  nthWeekday,
  parseDate,
  partsOf,
  weekday,
} from '../../../src/domain/calendar-date.ts';
import { NANOS_PER_DAY, instants } from '../../support/arbitraries.ts';
import { at } from '../../support/records.ts';

interface Day {
  readonly text: string;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
}

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const monthLength = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

/** Every day from 1 January 1970, a Thursday, to the end of 2101, found by counting on. */
function walkDays(): Day[] {
  const days: Day[] = [];
  for (let year = 1970; year <= 2101; year += 1) {
    for (let month = 1; month <= 12; month += 1) {
      for (let day = 1; day <= monthLength(year, month); day += 1) {
        const text = `${year}-${month < 10 ? '0' : ''}${month}-${day < 10 ? '0' : ''}${day}`;
        days.push({ text, year, month, day, weekday: (4 + days.length) % 7 });
      }
    }
  }
  return days;
}

const DAYS = walkDays();

describe('a calendar date', () => {
  it('is made from year, month and day, and taken apart again, for every day of 131 years', () => {
    const wrong = DAYS.filter(({ text, year, month, day }) => {
      const date = calendarDate(year, month, day);
      const parts = partsOf(date);
      return date !== text || parts.year !== year || parts.month !== month || parts.day !== day;
    });
    expect(wrong).toEqual([]);
    expect(DAYS.at(-1)?.text).toBe('2101-12-31');
  });

  it('knows its weekday, Sunday being 0', () => {
    expect([SUNDAY, MONDAY, THURSDAY, FRIDAY, SATURDAY]).toEqual([0, 1, 4, 5, 6]);
    expect(weekday('2026-11-16' as CalendarDate)).toBe(MONDAY);
    expect(weekday('1969-12-31' as CalendarDate)).toBe(3);
    expect(weekday('0001-01-01' as CalendarDate)).toBe(MONDAY);
    expect(DAYS.filter((day) => weekday(day.text as CalendarDate) !== day.weekday)).toEqual([]);
  });

  it('has tomorrow and yesterday, over month ends, leap days and years', () => {
    const wrong = DAYS.slice(1).filter(({ text }, index) => {
      const before = DAYS[index]!.text;
      return addDays(before as CalendarDate, 1) !== text || addDays(text as CalendarDate, -1) !== before;
    });
    expect(wrong).toEqual([]);
    expect(addDays('2024-02-28' as CalendarDate, 1)).toBe('2024-02-29');
    expect(addDays('2100-02-28' as CalendarDate, 1)).toBe('2100-03-01');
  });

  it('counts the days to another one', () => {
    const index = fc.integer({ min: 0, max: DAYS.length - 1 });
    fc.assert(
      fc.property(index, index, (from, to) => {
        const [a, b] = [DAYS[from]!.text as CalendarDate, DAYS[to]!.text as CalendarDate];
        expect(daysBetween(a, b)).toBe(to - from);
        expect(addDays(a, to - from)).toBe(b);
        expect(a < b).toBe(from < to); // sorts as text
      }),
    );
  });

  it.each(['2026-11-16', '2024-02-29', '0001-01-01', '9999-12-31'])('is read from %s', (text) => {
    expect(parseDate(text)).toBe(text);
  });

  it.each([
    '',
    '2026-02-29',
    '2026-02-30',
    '2026-04-31',
    '2026-13-01',
    '2026-00-01',
    '2026-01-00',
    '2026-1-1',
    '26-01-01',
    '2026/01/01',
    '2026-01-01T00:00:00Z',
    ' 2026-01-01',
    '12026-01-01',
  ])('is not read from %j', (text) => {
    expect(parseDate(text)).toBeNull();
  });
});

describe('months', () => {
  it('have the length that the calendar gives them, leap years included', () => {
    for (const year of [1, 1900, 1999, 2000, 2023, 2024, 2025, 2026, 2027, 2028, 2100]) {
      for (let month = 1; month <= 12; month += 1) {
        expect(daysInMonth(year, month), `${year}-${month}`).toBe(monthLength(year, month));
      }
    }
  });

  it('have an n-th weekday, and where n is too large the last', () => {
    for (let year = 2020; year <= 2031; year += 1) {
      for (let month = 1; month <= 12; month += 1) {
        const daysOfMonth = DAYS.filter((d) => d.year === year && d.month === month);
        for (let day = 0; day <= 6; day += 1) {
          const all = daysOfMonth.filter((d) => d.weekday === day).map((d) => d.text);
          const last = all.at(-1)!;
          const found = [1, 2, 3, 4, 5, 6].map((n) => nthWeekday(year, month, day, n));
          expect(found).toEqual([...all, last, last].slice(0, 6));
          expect(lastWeekday(year, month, day)).toBe(last);
        }
      }
    }
  });
});

describe('the day of an instant', () => {
  it('is the UTC day, from midnight to the last nanosecond', () => {
    expect(dateOf(at('2026-11-16T00:00:00Z'))).toBe('2026-11-16');
    expect(dateOf(at('2026-11-16T23:59:59.999999999Z'))).toBe('2026-11-16');
    expect(dateOf(at('1969-12-31T23:59:59.999999999Z'))).toBe('1969-12-31');
    expect(dateOf(at('0001-01-01T00:00:00Z'))).toBe('0001-01-01');
  });

  it('starts at its midnight and ends before the next', () => {
    const somewhen = instants(at('1970-01-01T00:00:00Z'), at('2101-12-30T00:00:00Z'));
    fc.assert(
      fc.property(somewhen, (instant) => {
        const day = DAYS[Number(instant / NANOS_PER_DAY)]!;
        expect(dateOf(instant)).toBe(day.text);
        expect(midnightOf(dateOf(instant))).toBe((instant / NANOS_PER_DAY) * NANOS_PER_DAY);
      }),
    );
  });

  it.each([
    ['2026-11-16T04:59:59.999Z', 'America/New_York', '2026-11-15'], // winter: five hours behind
    ['2026-11-16T05:00:00Z', 'America/New_York', '2026-11-16'],
    ['2026-07-02T03:59:59Z', 'America/New_York', '2026-07-01'], // summer: four
    ['2026-07-02T04:00:00Z', 'America/New_York', '2026-07-02'],
    ['2026-11-16T05:59:59Z', 'America/Chicago', '2026-11-15'],
    ['2026-11-16T06:00:00Z', 'America/Chicago', '2026-11-16'],
    ['2027-01-01T04:00:00Z', 'America/New_York', '2026-12-31'],
    ['2026-11-16T23:30:00Z', 'UTC', '2026-11-16'],
  ])('at %s in %s is %s', (instant, zone, date) => {
    expect(dateInZone(at(instant), zone)).toBe(date);
  });
});
