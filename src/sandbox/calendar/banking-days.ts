import { addDays, weekdayOf, type CivilDate } from './civil-date.ts';
import { isFedHoliday } from './fed-holidays.ts';
import { newYorkDate, newYorkInstant, type Instant } from './new-york-time.ts';

/** When the morning window settles, Eastern time. Returns and completions are reported in the same window. */
const SETTLEMENT_TIME = '08:30';

export function isBankingDay(date: CivilDate): boolean {
  const weekday = weekdayOf(date);
  return weekday !== 0 && weekday !== 6 && !isFedHoliday(date);
}

export function addBankingDays(date: CivilDate, days: number): CivilDate {
  let day = date;
  for (let left = days; left > 0;) {
    day = addDays(day, 1);
    if (isBankingDay(day)) left -= 1;
  }
  return day;
}

/** The settlement window `days` banking days after the New York date of `instant`, never on that date itself. */
export function settlementAfter(instant: Instant, days: number): Instant {
  return newYorkInstant(addBankingDays(newYorkDate(instant), days), SETTLEMENT_TIME);
}
