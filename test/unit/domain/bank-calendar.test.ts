import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addBankingDays,
  bankDateOf,
  isBankingDay,
  isFedHoliday,
  startOfBankDay,
} from '../../../src/domain/bank-calendar.ts';
import type { CalendarDate } from '../../../src/domain/calendar-date.ts';
import type { Instant } from '../../../src/domain/instant.ts';
import { at } from '../../support/records.ts';

/** The weekdays on which the Federal Reserve Banks are closed, as their yearly lists have it. */
const CLOSED: Record<number, readonly string[]> = {
  2022: ['01-17', '02-21', '05-30', '06-20', '07-04', '09-05', '10-10', '11-11', '11-24', '12-26'],
  2023: ['01-02', '01-16', '02-20', '05-29', '06-19', '07-04', '09-04', '10-09', '11-23', '12-25'],
  2024: ['01-01', '01-15', '02-19', '05-27', '06-19', '07-04', '09-02', '10-14', '11-11', '11-28', '12-25'],
  2025: ['01-01', '01-20', '02-17', '05-26', '06-19', '07-04', '09-01', '10-13', '11-11', '11-27', '12-25'],
  2026: ['01-01', '01-19', '02-16', '05-25', '06-19', '09-07', '10-12', '11-11', '11-26', '12-25'],
  2027: ['01-01', '01-18', '02-15', '05-31', '07-05', '09-06', '10-11', '11-11', '11-25'],
  2028: ['01-17', '02-21', '05-29', '06-19', '07-04', '09-04', '10-09', '11-23', '12-25'],
  2029: ['01-01', '01-15', '02-19', '05-28', '06-19', '07-04', '09-03', '10-08', '11-12', '11-22', '12-25'],
  2030: ['01-01', '01-21', '02-18', '05-27', '06-19', '07-04', '09-02', '10-14', '11-11', '11-28', '12-25'],
};

const DAY_MS = 86_400_000;
const dayAt = (ms: number): CalendarDate => new Date(ms).toISOString().slice(0, 10) as CalendarDate;

/** Every day of the listed years, and whether the banks work on it. */
const DAYS = Array.from({ length: (Date.UTC(2031, 0, 1) - Date.UTC(2022, 0, 1)) / DAY_MS }, (_, index) => {
  const ms = Date.UTC(2022, 0, 1) + index * DAY_MS;
  const date = dayAt(ms);
  const holiday = CLOSED[Number(date.slice(0, 4))]!.includes(date.slice(5));
  return { date, holiday, open: !holiday && ![0, 6].includes(new Date(ms).getUTCDay()) };
});

const date = (text: string): CalendarDate => text as CalendarDate;

describe('the Fed calendar', () => {
  it('closes on the listed holidays and on no other weekday, from 2022 to 2030', () => {
    const closed = DAYS.filter((day) => isFedHoliday(day.date)).map((day) => day.date);
    expect(closed).toEqual(DAYS.filter((day) => day.holiday).map((day) => day.date));
    expect(closed).toHaveLength(92);
  });

  it('works on every other weekday and never on a weekend', () => {
    expect(DAYS.filter((day) => isBankingDay(day.date) !== day.open)).toEqual([]);
  });

  it.each([
    ['2026-07-03', true, 'the Fourth is a Saturday: nothing closes for it'],
    ['2026-07-06', true, 'nor the Monday after'],
    ['2027-07-05', false, 'the Fourth is a Sunday: the Monday is closed'],
    ['2027-12-24', true, 'Christmas is a Saturday'],
    ['2028-01-03', true, 'New Year is a Saturday'],
    ['2023-01-02', false, 'New Year is a Sunday'],
    ['2029-11-12', false, 'Veterans Day is a Sunday'],
    ['2022-06-20', false, 'Juneteenth is a Sunday'],
  ])('%s is open: %s (%s)', (text, open) => {
    expect(isBankingDay(date(text))).toBe(open);
  });
});

describe('counting banking days', () => {
  it.each([
    ['2026-11-16', 0, '2026-11-16'],
    ['2026-11-14', 0, '2026-11-16'], // a Saturday: the next one
    ['2026-11-16', 1, '2026-11-17'],
    ['2026-11-13', 1, '2026-11-16'], // over a weekend
    ['2026-11-14', 1, '2026-11-16'],
    ['2026-11-24', 3, '2026-11-30'], // over Thanksgiving and a weekend
    ['2026-12-24', 1, '2026-12-28'], // Christmas is a Friday
    ['2027-07-02', 1, '2027-07-06'],
    ['2026-07-02', 1, '2026-07-03'],
    ['2026-12-31', 1, '2027-01-04'],
  ])('from %s %i on is %s', (from, count, expected) => {
    expect(addBankingDays(date(from), count)).toBe(expected);
  });

  it('agrees with the list of open days, whatever the distance', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: DAYS.length - 61 }),
        fc.integer({ min: 1, max: 40 }),
        (index, count) => {
          const openAfter = DAYS.slice(index + 1, index + 61).filter((day) => day.open);
          const expected = openAfter[count - 1];
          fc.pre(expected !== undefined);
          const from = DAYS[index]!.date;
          expect(addBankingDays(from, count)).toBe(expected.date);
        },
      ),
    );
  });
});

describe('the bank day of an instant', () => {
  it('turns at midnight in New York, which is 04:00 UTC in summer and 05:00 in winter', () => {
    expect(bankDateOf(at('2026-11-17T04:59:59.999999999Z'))).toBe('2026-11-16');
    expect(bankDateOf(at('2026-11-17T05:00:00Z'))).toBe('2026-11-17');
    expect(bankDateOf(at('2026-06-17T03:59:59.999999999Z'))).toBe('2026-06-16');
    expect(bankDateOf(at('2026-06-17T04:00:00Z'))).toBe('2026-06-17');
  });

  it.each([
    ['2026-11-17', '2026-11-17T05:00:00Z'],
    ['2026-06-17', '2026-06-17T04:00:00Z'],
    ['2026-03-08', '2026-03-08T05:00:00Z'], // the clocks go forward at two in the morning
    ['2026-03-09', '2026-03-09T04:00:00Z'],
    ['2026-11-01', '2026-11-01T04:00:00Z'], // and back
    ['2026-11-02', '2026-11-02T05:00:00Z'],
  ])('starts on %s at %s', (day, start) => {
    expect(startOfBankDay(date(day))).toBe(at(start));
  });

  it('starts with the first nanosecond that belongs to it', () => {
    const wrong = DAYS.filter(({ date: day }) => {
      const start = startOfBankDay(day);
      return bankDateOf(start) !== day || bankDateOf((start - 1n) as Instant) >= day;
    });
    expect(wrong).toEqual([]);
  });
});
