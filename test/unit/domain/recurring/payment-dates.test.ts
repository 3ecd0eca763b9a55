import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  firstPaymentDate,
  nextPeriodDate,
  paymentDateIn,
  reminderDate,
} from '../../../../src/domain/recurring/payment-dates.ts';
import { day } from '../../../support/floats.ts';

function year(from: string, paymentDay: number): string[] {
  const dates = [firstPaymentDate(day(from), paymentDay)];
  while (dates.length < 13) dates.push(nextPeriodDate(dates.at(-1)!, paymentDay));
  return dates;
}

describe('payment dates', () => {
  it.each([
    [31, '01-31 02-29 03-31 04-30 05-31 06-30 07-31 08-31 09-30 10-31 11-30 12-31 01-31'],
    [30, '01-30 02-29 03-30 04-30 05-30 06-30 07-30 08-30 09-30 10-30 11-30 12-30 01-30'],
    [29, '01-29 02-29 03-29 04-29 05-29 06-29 07-29 08-29 09-29 10-29 11-29 12-29 01-29'],
  ])('of the %dth in a leap year', (paymentDay, expected) => {
    expect(year('2028-01-01', paymentDay).map((date) => date.slice(5))).toEqual(expected.split(' '));
  });

  it.each([
    [31, '02-28'],
    [30, '02-28'],
    [29, '02-28'],
    [28, '02-28'],
  ])('of the %dth are on 28 February in another year, and come back', (paymentDay, february) => {
    const dates = year('2027-01-01', paymentDay);
    expect(dates[1]!.slice(5)).toBe(february);
    expect(dates[2]!.slice(8)).toBe(String(paymentDay));
  });

  it.each([
    ['2026-11-16', 16, '2026-11-16'],
    ['2026-11-16', 17, '2026-11-17'],
    ['2026-11-16', 15, '2026-12-15'],
    ['2026-02-28', 31, '2026-02-28'],
    ['2026-02-27', 31, '2026-02-28'],
    ['2028-02-28', 31, '2028-02-29'],
    ['2026-12-31', 1, '2027-01-01'],
  ])('begin from %s with the %dth on %s', (from, paymentDay, first) => {
    expect(firstPaymentDate(day(from), paymentDay)).toBe(first);
  });

  const dates = fc
    .date({ min: new Date('2024-01-01'), max: new Date('2033-12-31'), noInvalidDate: true })
    .map((date) => day(date.toISOString().slice(0, 10)));
  const days = fc.integer({ min: 1, max: 31 });

  it('have one in each calendar month, on the payment day or the last of the month', () => {
    fc.assert(
      fc.property(dates, days, (from, paymentDay) => {
        let date = firstPaymentDate(from, paymentDay);
        expect(date >= from).toBe(true);
        for (let month = 0; month < 30; month += 1) {
          const next = nextPeriodDate(date, paymentDay);
          const [y, m] = date.split('-').map(Number) as [number, number];
          expect(next.slice(0, 7)).toBe(new Date(Date.UTC(y, m, 1)).toISOString().slice(0, 7));
          const last = new Date(Date.UTC(y, m + 1, 0)).getUTCDate();
          expect(Number(next.slice(8))).toBe(Math.min(paymentDay, last));
          expect(paymentDateIn(next, paymentDay)).toBe(next);
          date = next;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('are told of so many days ahead, or at once', () => {
    expect(reminderDate(day('2026-11-16'), 7, day('2026-11-01'))).toBe('2026-11-09');
    expect(reminderDate(day('2026-03-03'), 7, day('2026-02-01'))).toBe('2026-02-24');
    expect(reminderDate(day('2026-11-16'), 7, day('2026-11-12'))).toBe('2026-11-12');
    expect(reminderDate(day('2026-11-16'), 0, day('2026-11-12'))).toBe('2026-11-16');
  });
});
