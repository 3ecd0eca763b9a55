import type { CalendarDate } from '../../src/domain/calendar-date.ts';
import { dateOf } from '../../src/domain/calendar-date.ts';
import type { Instant } from '../../src/domain/instant.ts';

/** `2030-01` */
export type Month = string & { readonly __brand: 'Month' };

export const monthOf = (instant: Instant): Month => monthOfDate(dateOf(instant));

export const monthOfDate = (date: CalendarDate): Month => date.slice(0, 7) as Month;

/** Each month that has a day in it. */
export function monthsOf(days: Iterable<CalendarDate>): Month[] {
  return [...new Set([...days].map(monthOfDate))];
}
