import { addDays, dateOf, isWeekend, midnightOf } from './calendar-date.ts';
import type { Instant } from './instant.ts';
import { plusMs } from './instant.ts';
import type { RunProcess } from './runs.ts';

const HOUR_MS = 3_600_000;

/** When each run starts, in UTC. */
const TICKS: Record<RunProcess, { readonly hour: number; readonly weekdaysOnly: boolean }> = {
  retry: { hour: 7, weekdaysOnly: true },
  scheduled: { hour: 8, weekdaysOnly: true },
  stale: { hour: 9, weekdaysOnly: false },
  // From 7 to 11 in the morning across the continental US, summer and winter: nobody is woken by it. Weekends too: a
  // member whose record is due on a Wednesday is told on a Saturday.
  notify: { hour: 15, weekdaysOnly: false },
  pause: { hour: 22, weekdaysOnly: true },
};

/** The latest moment at which the run was to start, up to and with now. */
export function newestTick(process: RunProcess, now: Instant): Instant {
  const { hour, weekdaysOnly } = TICKS[process];
  let date = dateOf(now);
  while (tickOn(date, hour) > now || (weekdaysOnly && isWeekend(date))) date = addDays(date, -1);
  return tickOn(date, hour);
}

/** The same for a scheduler that knows cron. */
export const cronOf = (process: RunProcess): string =>
  `0 ${TICKS[process].hour} * * ${TICKS[process].weekdaysOnly ? '1-5' : '*'}`;

const tickOn = (date: ReturnType<typeof dateOf>, hour: number): Instant =>
  plusMs(midnightOf(date), hour * HOUR_MS);
