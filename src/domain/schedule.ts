import { addDays, dateOf, isWeekend, midnightOf } from './calendar-date.ts';
import type { Instant } from './instant.ts';
import { plusMs } from './instant.ts';
import type { RunProcess } from './runs.ts';

const MINUTE_MS = 60_000;

interface Tick {
  readonly hour: number;
  readonly minute?: number;
  readonly weekdaysOnly: boolean;
}

/** When each run starts, in UTC. */
const TICKS: Record<RunProcess, Tick> = {
  retry: { hour: 7, weekdaysOnly: true },
  scheduled: { hour: 8, weekdaysOnly: true },
  stale: { hour: 9, weekdaysOnly: false },
  // From 7 to 11 in the morning across the continental US, summer and winter: no member is woken by it. Weekends too: a
  // member whose record is due on a Wednesday is told on a Saturday.
  notify: { hour: 15, weekdaysOnly: false },
  pause: { hour: 22, weekdaysOnly: true },
  'float-retry': { hour: 8, minute: 30, weekdaysOnly: true },
  'float-tomorrow': { hour: 9, minute: 30, weekdaysOnly: true },
  'float-today': { hour: 9, minute: 30, weekdaysOnly: true },
  // Reminders first: what is paid today is told of before. Cards know no weekends.
  'recurring-reminders': { hour: 15, weekdaysOnly: false },
  'recurring-payments': { hour: 16, weekdaysOnly: false },
};

/** The latest moment at which the run was to start, up to and with now. */
export function newestTick(process: RunProcess, now: Instant): Instant {
  const tick = TICKS[process];
  let date = dateOf(now);
  while (startOn(date, tick) > now || (tick.weekdaysOnly && isWeekend(date))) date = addDays(date, -1);
  return startOn(date, tick);
}

/** The same for a scheduler that knows cron. */
export function cronOf(process: RunProcess): string {
  const { hour, minute = 0, weekdaysOnly } = TICKS[process];
  return `${minute} ${hour} * * ${weekdaysOnly ? '1-5' : '*'}`;
}

const startOn = (date: ReturnType<typeof dateOf>, { hour, minute = 0 }: Tick): Instant =>
  plusMs(midnightOf(date), (hour * 60 + minute) * MINUTE_MS);
