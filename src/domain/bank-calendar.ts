import type { CalendarDate } from './calendar-date.ts';
import {
  MONDAY,
  SATURDAY,
  SUNDAY,
  THURSDAY,
  addDays,
  dateInZone,
  lastWeekday,
  midnightOf,
  nthWeekday,
  partsOf,
  weekday,
} from './calendar-date.ts';
import type { Instant } from './instant.ts';
import { plusMs } from './instant.ts';

/** The Federal Reserve's holidays with a fixed date, as month and day. */
const FIXED_HOLIDAYS = [
  [1, 1], // New Year
  [6, 19], // Juneteenth
  [7, 4], // Independence Day
  [11, 11], // Veterans Day
  [12, 25], // Christmas
] as const;

/** The day on which banks would book something that happens now: the Fed keeps Eastern time. */
export const bankDateOf = (instant: Instant): CalendarDate => dateInZone(instant, 'America/New_York');

const HOUR_MS = 3_600_000;

/** When that day begins for the banks: at 04:00 UTC in summer, at 05:00 in winter. */
export function startOfBankDay(date: CalendarDate): Instant {
  const inSummer = plusMs(midnightOf(date), 4 * HOUR_MS);
  return bankDateOf(inSummer) === date ? inSummer : plusMs(inSummer, HOUR_MS);
}

export function isBankingDay(date: CalendarDate): boolean {
  const day = weekday(date);
  return day !== SATURDAY && day !== SUNDAY && !isFedHoliday(date);
}

/**
 * On which weekdays the Fed is closed. A holiday on a Sunday closes the Monday; one on a Saturday closes nothing, so
 * 3 July 2026 is open while 5 July 2027 is closed.
 */
export function isFedHoliday(date: CalendarDate): boolean {
  return isFixedHoliday(date) || isFloatingHoliday(date);
}

/** The `count`-th banking day after `date`. Zero gives the date itself if it is one, else the next. */
export function addBankingDays(date: CalendarDate, count: number): CalendarDate {
  let day = date;
  let left = count;
  while (left > 0 || !isBankingDay(day)) {
    day = addDays(day, 1);
    if (isBankingDay(day)) left -= 1;
  }
  return day;
}

function isFixedHoliday(date: CalendarDate): boolean {
  const isOne = (day: CalendarDate): boolean => {
    const { month, day: dayOfMonth } = partsOf(day);
    return FIXED_HOLIDAYS.some(([m, d]) => m === month && d === dayOfMonth);
  };
  if (isOne(date)) return weekday(date) !== SATURDAY && weekday(date) !== SUNDAY;
  return weekday(date) === MONDAY && isOne(addDays(date, -1));
}

function isFloatingHoliday(date: CalendarDate): boolean {
  const { year, month } = partsOf(date);
  switch (month) {
    case 1: // Martin Luther King
      return date === nthWeekday(year, 1, MONDAY, 3);
    case 2: // Presidents' Day
      return date === nthWeekday(year, 2, MONDAY, 3);
    case 5: // Memorial Day
      return date === lastWeekday(year, 5, MONDAY);
    case 9: // Labor Day
      return date === nthWeekday(year, 9, MONDAY, 1);
    case 10: // Columbus Day
      return date === nthWeekday(year, 10, MONDAY, 2);
    case 11: // Thanksgiving
      return date === nthWeekday(year, 11, THURSDAY, 4);
    default:
      return false;
  }
}
