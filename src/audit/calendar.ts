/* Days and months, counted here once more: see the README for why nothing is shared with the rules. */

const NANOS_PER_MS = 1_000_000n;
const MS_PER_DAY = 86_400_000;
const BILLING_HOUR = 6;
const FRIDAY = 5;
const LONGEST_MONTH = 31;

export interface DateParts {
  readonly year: number;
  /** 1 to 12 */
  readonly month: number;
  readonly day: number;
}

const utc = (instant: bigint): Date => new Date(Number(instant / NANOS_PER_MS));

export function dateOf(instant: bigint): DateParts {
  const date = utc(instant);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** `YYYY-MM-DD` */
export const utcDay = (instant: bigint): string => utc(instant).toISOString().slice(0, 10);

/** Of two such days. */
export const daysBetween = (from: string, to: string): number =>
  (Date.parse(to) - Date.parse(from)) / MS_PER_DAY;

/** Months since year 0. */
export function monthOf(instant: bigint): number {
  const { year, month } = dateOf(instant);
  return year * 12 + month - 1;
}

/** 06:00:00 UTC, to the second: Go has written fractions of it. Other rows are prorations, or were moved aside. */
export function isBillingHour(instant: bigint): boolean {
  const date = utc(instant);
  return date.getUTCHours() === BILLING_HOUR && date.getUTCMinutes() === 0 && date.getUTCSeconds() === 0;
}

/** Day 0 of the month after is the last of this one. */
export const daysInMonth = (year: number, month: number): number =>
  new Date(Date.UTC(year, month, 0)).getUTCDate();

/** The day of the n-th Friday, or of the last one where there are fewer. */
export function nthFriday(year: number, month: number, n: number): number {
  const length = daysInMonth(year, month);
  const days = Array.from({ length }, (_, i) => i + 1);
  const fridays = days.filter((day) => new Date(Date.UTC(year, month - 1, day)).getUTCDay() === FRIDAY);
  return fridays[Math.min(n, fridays.length) - 1] ?? length;
}

/**
 * The days of the month that a member may have been meant to be billed on, given one more billing date: the last of a
 * month may stand for any later day that the month does not have. `before` is what was possible so far.
 */
export function candidateAnchors(
  before: ReadonlySet<number> | null,
  billingDate: bigint | null,
): Set<number> {
  const days = before ?? new Set(Array.from({ length: LONGEST_MONTH }, (_, i) => i + 1));
  if (billingDate === null) return new Set(days);
  const { year, month, day } = dateOf(billingDate);
  return new Set([...days].filter((anchor) => Math.min(anchor, daysInMonth(year, month)) === day));
}
