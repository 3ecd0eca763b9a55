import { billingInstant, nextBillingDate } from '../billing-dates.ts';
import type { CalendarDate } from '../calendar-date.ts';
import { addDays, calendarDate, dateOf, daysInMonth, partsOf } from '../calendar-date.ts';

/** The payment day in the month of this date. Months that are too short have it on their last day. */
export function paymentDateIn(monthOf: CalendarDate, paymentDay: number): CalendarDate {
  const { year, month } = partsOf(monthOf);
  return calendarDate(year, month, Math.min(paymentDay, daysInMonth(year, month)));
}

/** One month later on the payment day itself: 31 Jan → 28 Feb → 31 Mar. */
export const nextPeriodDate = (periodDate: CalendarDate, paymentDay: number): CalendarDate =>
  dateOf(
    nextBillingDate(
      { billingDate: billingInstant(periodDate), term: 'MONTHLY', billingWeek: null },
      paymentDay,
    ),
  );

/** The first payment day that is not before this date. */
export function firstPaymentDate(from: CalendarDate, paymentDay: number): CalendarDate {
  const date = paymentDateIn(from, paymentDay);
  return date >= from ? date : nextPeriodDate(date, paymentDay);
}

/** So many days ahead; at once where that has passed. */
export const reminderDate = (
  paymentDate: CalendarDate,
  reminderDays: number,
  today: CalendarDate,
): CalendarDate => later(addDays(paymentDate, -reminderDays), today);

export const later = (one: CalendarDate, other: CalendarDate): CalendarDate => (one > other ? one : other);
