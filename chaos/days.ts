import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { MONDAY, addDays, dateOf, midnightOf, weekday } from '../src/domain/calendar-date.ts';
import type { Instant } from '../src/domain/instant.ts';
import { instantFromMs, plusMs } from '../src/domain/instant.ts';

/** A time of day in UTC. */
export type HourAndMinute = readonly [hour: number, minute: number];

const MINUTE_MS = 60_000;
const DAWN: HourAndMinute = [6, 0];

/** When members join, before the first run of the day. */
export const MORNING: HourAndMinute = [6, 30];
/** When some runs have just become due. */
export const STOPS: readonly HourAndMinute[] = [
  [7, 1],
  [8, 1],
  [9, 31],
  [16, 1],
  [22, 1],
];
/** When every run of the day is due. */
export const EVENING: HourAndMinute = [22, 1];

export const timeOn = (day: CalendarDate, [hour, minute]: HourAndMinute): Instant =>
  plusMs(midnightOf(day), (hour * 60 + minute) * MINUTE_MS);

/** Spread over the days, from 0, the first of which has a member: traffic begins with it. */
export const joinersOn = (
  day: number,
  { users, days }: { readonly users: number; readonly days: number },
): number => Math.ceil(((day + 1) * users) / days) - Math.ceil((day * users) / days);

/** The coming Monday: ahead of the machine's clock, by which DynamoDB Local takes away what has expired. */
export function firstDawn(now: Date): Instant {
  const today = dateOf(instantFromMs(now.getTime()));
  const daysLeft = (MONDAY + 7 - weekday(today)) % 7 || 7;
  return timeOn(addDays(today, daysLeft), DAWN);
}
