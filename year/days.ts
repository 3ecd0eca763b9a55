import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { addDays, dateOf, midnightOf } from '../src/domain/calendar-date.ts';
import type { Instant } from '../src/domain/instant.ts';
import { compareInstants, plusMs } from '../src/domain/instant.ts';
import type { RunProcess } from '../src/domain/runs.ts';
import { RUN_PROCESSES } from '../src/domain/runs.ts';
import { newestTick } from '../src/domain/schedule.ts';

/** A moment at which runs start. */
export interface Moment {
  readonly at: Instant;
  readonly processes: readonly RunProcess[];
}

/** When the scheduler starts something on that day, in order. */
export function momentsOf(date: CalendarDate): Moment[] {
  const lastOfDay = plusMs(midnightOf(addDays(date, 1)), -1);
  const byTick = new Map<Instant, RunProcess[]>();
  for (const process of RUN_PROCESSES) {
    const tick = newestTick(process, lastOfDay);
    if (dateOf(tick) === date) byTick.set(tick, [...(byTick.get(tick) ?? []), process]);
  }
  return [...byTick]
    .map(([at, processes]) => ({ at, processes }))
    .sort((one, other) => compareInstants(one.at, other.at));
}

export function* daysFrom(from: CalendarDate, to: CalendarDate): Generator<CalendarDate> {
  for (let date = from; date < to; date = addDays(date, 1)) yield date;
}
