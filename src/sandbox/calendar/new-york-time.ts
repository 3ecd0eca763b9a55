import type { CivilDate } from './civil-date.ts';

/** Milliseconds since 1970 UTC. */
export type Instant = number;

// Intl knows the rules of daylight saving time; an offset written here would be wrong twice a year.
const newYork = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

function wallClock(instant: Instant): string {
  const part = Object.fromEntries(newYork.formatToParts(instant).map(({ type, value }) => [type, value]));
  return `${part['year']}-${part['month']}-${part['day']}T${part['hour']}:${part['minute']}:${part['second']}`;
}

export function newYorkDate(instant: Instant): CivilDate {
  return wallClock(instant).slice(0, 10);
}

function offsetAt(instant: Instant): number {
  return Date.parse(`${wallClock(instant)}Z`) - Math.floor(instant / 1000) * 1000;
}

/** The instant at which clocks in New York show `time` (`08:30`) on `date`. Not for the hour that spring skips. */
export function newYorkInstant(date: CivilDate, time: string): Instant {
  const asUtc = Date.parse(`${date}T${time}:00Z`);
  const guess = asUtc - offsetAt(asUtc);
  return asUtc - offsetAt(guess);
}
