import type { CalendarDate } from './calendar-date.ts';
import {
  FRIDAY,
  calendarDate,
  dateOf,
  daysInMonth,
  midnightOf,
  nthWeekday,
  partsOf,
} from './calendar-date.ts';
import type { Instant } from './instant.ts';
import { NANOS_PER_SECOND, plusMs } from './instant.ts';
import type { Term } from './subscription.ts';

/** Billing dates are at 06:00 UTC, which is night in all of the United States, so the day is the same there. */
const BILLING_HOUR_UTC = 6;
const HOUR_MS = 3_600_000;

export interface Period {
  readonly billingDate: Instant;
  readonly term: Term;
  readonly billingWeek: number | null;
}

const MONTHS: Record<Term, number> = { MONTHLY: 1, YEARLY: 12 };

export const billingInstant = (date: CalendarDate): Instant =>
  plusMs(midnightOf(date), BILLING_HOUR_UTC * HOUR_MS);

/** `MM/YYYY`, as the row's `billing_period`. */
export function billingPeriod(billingDate: Instant): string {
  const date = dateOf(billingDate);
  return `${date.slice(5, 7)}/${date.slice(0, 4)}`;
}

/**
 * The billing date one term later. Month ends clamp and come back: 31 Jan → 28 Feb → 31 Mar, because the day is taken
 * from the anchor and not from the clamped date. Friday billing keeps the n-th Friday, the 5th being the last.
 */
export function nextBillingDate(period: Period, anchorDay: number): Instant {
  const { year, month } = monthsLater(dateOf(period.billingDate), MONTHS[period.term]);
  if (period.billingWeek !== null) return billingInstant(nthWeekday(year, month, FRIDAY, period.billingWeek));
  return billingInstant(calendarDate(year, month, Math.min(anchorDay, daysInMonth(year, month))));
}

/**
 * The day of the month that this user is billed on when the month has it. It is derived from the user's billing dates:
 * the Go service drops attributes that it does not know, so an anchor stored on the row would be lost.
 *
 * A date before the end of its month is its own anchor. One at the month's end may have been clamped: then the period
 * before it (a month or a year earlier) tells, and so on back, unless that one was on an earlier day that its month did
 * not force: then support moved the date. Only dates at the billing hour count; others are prorations and rows that a
 * collision moved.
 *
 * A reactivated member began anew, on that day and at whatever hour: it was not clamped, and what was before says nothing.
 */
export function anchorDayOf(
  billingDate: Instant,
  billingDatesOfUser: Iterable<Instant>,
  cameBackAt: Instant | null = null,
): number {
  const days = new Map<string, number>();
  for (const instant of billingDatesOfUser) {
    if (isAtBillingHour(instant) && (cameBackAt === null || instant > cameBackAt))
      rememberLatestDay(days, dateOf(instant));
  }
  // The reactivation day replaces a later day of the same month, which belongs to the earlier membership.
  if (cameBackAt !== null) days.set(monthKey(dateOf(cameBackAt)), partsOf(dateOf(cameBackAt)).day);
  let date = dateOf(billingDate);
  let anchor = partsOf(date).day;
  while (isMonthEnd(date)) {
    const earlier = periodBefore(date, days);
    if (earlier === null || (partsOf(earlier).day < partsOf(date).day && !isMonthEnd(earlier))) break;
    anchor = Math.max(anchor, partsOf(earlier).day);
    date = earlier;
  }
  return anchor;
}

function monthsLater(date: CalendarDate, months: number): { year: number; month: number } {
  const { year, month } = partsOf(date);
  const index = year * 12 + (month - 1) + months;
  return { year: Math.floor(index / 12), month: (((index % 12) + 12) % 12) + 1 };
}

function isMonthEnd(date: CalendarDate): boolean {
  const { year, month, day } = partsOf(date);
  return day === daysInMonth(year, month);
}

/** To the second: Go has written fractions of it. */
export const isAtBillingHour = (instant: Instant): boolean => {
  const sinceBillingHour = instant - billingInstant(dateOf(instant));
  return sinceBillingHour >= 0n && sinceBillingHour < NANOS_PER_SECOND;
};

const monthKey = (date: CalendarDate): string => date.slice(0, 7);

function rememberLatestDay(days: Map<string, number>, date: CalendarDate): void {
  const key = monthKey(date);
  days.set(key, Math.max(days.get(key) ?? 0, partsOf(date).day));
}

function periodBefore(date: CalendarDate, days: ReadonlyMap<string, number>): CalendarDate | null {
  for (const months of [MONTHS.MONTHLY, MONTHS.YEARLY]) {
    const { year, month } = monthsLater(date, -months);
    const first = calendarDate(year, month, 1);
    const day = days.get(monthKey(first));
    if (day !== undefined) return calendarDate(year, month, day);
  }
  return null;
}
