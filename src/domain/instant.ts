/**
 * A point in time in whole nanoseconds since 1970 (UTC), as the Go service stores it. Go prints RFC3339Nano: fractions
 * without trailing zeros. Texts therefore do not sort by time (".5Z" < "Z"): compare instants, never texts.
 */
export type Instant = bigint & { readonly __brand: 'Instant' };

const NANOS_PER_MS = 1_000_000n;
export const NANOS_PER_SECOND = 1_000_000_000n;
export const MS_PER_DAY = 86_400_000;

/** Go's zero time, which stands for "not set" in a row. */
export const UNSET_TEXT = '0001-01-01T00:00:00Z';

const YEAR_0_MS = -62_167_219_200_000;
const YEAR_10000_MS = 253_402_300_800_000;

const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:Z|([+-])(\d{2}):(\d{2}))$/;

export const instantFromMs = (ms: number): Instant => (BigInt(ms) * NANOS_PER_MS) as Instant;

/** Whole milliseconds, rounded down. */
export const msOf = (instant: Instant): number => Number(floorDivide(instant, NANOS_PER_MS));

export const plusNanos = (instant: Instant, nanos: bigint): Instant => (instant + nanos) as Instant;

export const plusMs = (instant: Instant, ms: number): Instant =>
  plusNanos(instant, BigInt(ms) * NANOS_PER_MS);

export const plusDays = (instant: Instant, days: number): Instant => plusMs(instant, days * MS_PER_DAY);

export const compareInstants = (a: Instant, b: Instant): number => (a < b ? -1 : a > b ? 1 : 0);

/** Reads what Go's RFC3339Nano writes, with any offset. Null for anything else, also for dates that do not exist. */
export function parseInstant(text: string): Instant | null {
  const match = RFC3339.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] = match;
  const parts = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const ms = utcMs(...parts);
  if (ms === null) return null;
  const offset = offsetMs(sign, Number(offsetHour ?? 0), Number(offsetMinute ?? 0));
  if (offset === null) return null;
  const utc = ms - offset;
  // An offset can lead out of the years that four digits can say: such an instant could not be written again.
  if (utc < YEAR_0_MS || utc >= YEAR_10000_MS) return null;
  return (BigInt(utc) * NANOS_PER_MS + BigInt(fraction.padEnd(9, '0'))) as Instant;
}

/** As Go's RFC3339Nano writes it in UTC: the fraction without trailing zeros, none at all when it is zero. */
export function formatInstant(instant: Instant): string {
  const nanos = nanosOfSecond(instant);
  if (nanos === 0n) return `${wholeSecondText(instant)}Z`;
  return `${wholeSecondText(instant)}.${nanos.toString().padStart(9, '0').replace(/0+$/, '')}Z`;
}

export const formatIfSet = (instant: Instant | null): string | null =>
  instant === null ? null : formatInstant(instant);

/**
 * A bound for a key condition: the second without fraction and `Z`. It sorts before every text of that second, with
 * and without fraction, so a query with it misses nothing; the caller then filters by instant.
 */
export const lowerBoundText = (instant: Instant): string => wholeSecondText(instant);

/** The same for an upper bound that excludes: rounded up to the next whole second. */
export function upperBoundText(instant: Instant): string {
  const fraction = nanosOfSecond(instant);
  return wholeSecondText(fraction === 0n ? instant : plusNanos(instant, NANOS_PER_SECOND - fraction));
}

/** Always nine digits, so that texts sort by time: for keys that only we write. */
export const sortableText = (instant: Instant): string =>
  `${wholeSecondText(instant)}.${nanosOfSecond(instant).toString().padStart(9, '0')}Z`;

/** Cut, not rounded: never later than the instant. */
export const wholeSecond = (instant: Instant): Instant => plusNanos(instant, -nanosOfSecond(instant));

export const isWholeSecond = (instant: Instant): boolean => nanosOfSecond(instant) === 0n;

/**
 * The next history stamp of a user: after every earlier one, and with nine fraction digits of which the last is not 0,
 * so that Go writes the same text again when it copies the row.
 */
export function nextStamp(now: Instant, latest: Instant | null): Instant {
  const earliest = latest !== null && latest >= now ? plusNanos(latest, 1n) : now;
  return nanosOfSecond(earliest) % 10n === 0n ? plusNanos(earliest, 1n) : earliest;
}

function nanosOfSecond(instant: Instant): bigint {
  return instant - floorDivide(instant, NANOS_PER_SECOND) * NANOS_PER_SECOND;
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value < 0n && quotient * by !== value ? quotient - 1n : quotient;
}

function wholeSecondText(instant: Instant): string {
  const seconds = Number(floorDivide(instant, NANOS_PER_SECOND));
  return isoText(seconds * 1000).slice(0, 19);
}

/** Four digits for the year: with more, nothing that is written could be compared with anything else. */
export function isoText(ms: number): string {
  const text = new Date(ms).toISOString();
  if (/^[+-]/.test(text)) throw new RangeError(`${text} is beyond the years that can be written`);
  return text;
}

function utcMs(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | null {
  if (hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(0);
  // Not Date.UTC: it reads the years 0 to 99 as 1900 to 1999, and Go's zero time is in year 1.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return exists ? date.getTime() : null;
}

function offsetMs(sign: string | undefined, hours: number, minutes: number): number | null {
  if (hours > 23 || minutes > 59) return null;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
