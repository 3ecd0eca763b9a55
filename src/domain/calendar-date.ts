import type { Instant } from './instant.ts';
import { MS_PER_DAY, instantFromMs, isoText, msOf } from './instant.ts';

/** A day without a time or a zone, `2026-11-16`. Sorts as text. */
export type CalendarDate = string & { readonly __brand: 'CalendarDate' };

export interface DateParts {
  readonly year: number;
  /** 1 to 12 */
  readonly month: number;
  readonly day: number;
}

/** Sunday is 0, as in JavaScript. */
export const MONDAY = 1;
export const THURSDAY = 4;
export const FRIDAY = 5;
export const SATURDAY = 6;
export const SUNDAY = 0;

export function calendarDate(year: number, month: number, day: number): CalendarDate {
  return dateOfDayNumber(Math.floor(utcMidnightMs(year, month, day) / MS_PER_DAY));
}

export function parseDate(text: string): CalendarDate | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return null;
  const date = calendarDate(Number(match[1]), Number(match[2]), Number(match[3]));
  return date === text ? date : null;
}

export function partsOf(date: CalendarDate): DateParts {
  return { year: Number(date.slice(0, 4)), month: Number(date.slice(5, 7)), day: Number(date.slice(8, 10)) };
}

/** The UTC day of an instant. */
export const dateOf = (instant: Instant): CalendarDate =>
  dateOfDayNumber(Math.floor(msOf(instant) / MS_PER_DAY));

export const midnightOf = (date: CalendarDate): Instant => instantFromMs(dayNumber(date) * MS_PER_DAY);

export const addDays = (date: CalendarDate, days: number): CalendarDate =>
  dateOfDayNumber(dayNumber(date) + days);

export const daysBetween = (from: CalendarDate, to: CalendarDate): number => dayNumber(to) - dayNumber(from);

/** 1 January 1970 was a Thursday. */
export const weekday = (date: CalendarDate): number => (((dayNumber(date) + THURSDAY) % 7) + 7) % 7;

export const isWeekend = (date: CalendarDate): boolean => [SATURDAY, SUNDAY].includes(weekday(date));

export const daysInMonth = (year: number, month: number): number =>
  partsOf(calendarDate(year, month + 1, 0)).day;

/** The n-th weekday of a month; n beyond the month's last one gives the last. */
export function nthWeekday(year: number, month: number, day: number, n: number): CalendarDate {
  const first = calendarDate(year, month, 1);
  const offset = (day - weekday(first) + 7) % 7;
  const wanted = 1 + offset + (n - 1) * 7;
  const length = daysInMonth(year, month);
  return calendarDate(year, month, wanted <= length ? wanted : wanted - 7 * Math.ceil((wanted - length) / 7));
}

export const lastWeekday = (year: number, month: number, day: number): CalendarDate =>
  nthWeekday(year, month, day, 5);

const formatters = new Map<string, Intl.DateTimeFormat>();

/** The day that people in `zone` have at this instant. */
export function dateInZone(instant: Instant, zone: string): CalendarDate {
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    formatters.set(zone, formatter);
  }
  return formatter.format(msOf(instant)) as CalendarDate;
}

function dayNumber(date: CalendarDate): number {
  const { year, month, day } = partsOf(date);
  return utcMidnightMs(year, month, day) / MS_PER_DAY;
}

const dateOfDayNumber = (days: number): CalendarDate =>
  isoText(days * MS_PER_DAY).slice(0, 10) as CalendarDate;

function utcMidnightMs(year: number, month: number, day: number): number {
  const date = new Date(0);
  // Not Date.UTC: it reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime();
}
