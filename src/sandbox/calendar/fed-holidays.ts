import { addDays, civilDate, weekdayOf, type CivilDate } from './civil-date.ts';

const SUNDAY = 0;
const MONDAY = 1;
const THURSDAY = 4;

function nthWeekday(year: number, month: number, weekday: number, nth: number): CivilDate {
  const first = civilDate(year, month, 1);
  return addDays(first, ((weekday - weekdayOf(first) + 7) % 7) + (nth - 1) * 7);
}

function lastMondayOfMay(year: number): CivilDate {
  const last = civilDate(year, 5, 31);
  return addDays(last, -((weekdayOf(last) - MONDAY + 7) % 7));
}

/** A holiday on Sunday closes the Monday. One on Saturday closes nothing: the Friday before is open. */
function closure(holiday: CivilDate): CivilDate {
  return weekdayOf(holiday) === SUNDAY ? addDays(holiday, 1) : holiday;
}

function closuresOf(year: number): ReadonlySet<CivilDate> {
  const holidays = [
    civilDate(year, 1, 1),
    nthWeekday(year, 1, MONDAY, 3),
    nthWeekday(year, 2, MONDAY, 3),
    lastMondayOfMay(year),
    civilDate(year, 6, 19),
    civilDate(year, 7, 4),
    nthWeekday(year, 9, MONDAY, 1),
    nthWeekday(year, 10, MONDAY, 2),
    civilDate(year, 11, 11),
    nthWeekday(year, 11, THURSDAY, 4),
    civilDate(year, 12, 25),
  ];
  return new Set(holidays.map(closure));
}

const closuresByYear = new Map<string, ReadonlySet<CivilDate>>();

/** Whether the Federal Reserve is closed for a holiday on that date. Weekends are not holidays. */
export function isFedHoliday(date: CivilDate): boolean {
  const year = date.slice(0, 4);
  let closures = closuresByYear.get(year);
  if (closures === undefined) {
    closures = closuresOf(Number(year));
    closuresByYear.set(year, closures);
  }
  return closures.has(date);
}
