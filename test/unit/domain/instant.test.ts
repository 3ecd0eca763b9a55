import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/domain/instant.ts';
import {
  UNSET_TEXT,
  compareInstants,
  formatInstant,
  instantFromMs,
  isWholeSecond,
  lowerBoundText,
  msOf,
  nextStamp,
  parseInstant,
  plusDays,
  plusMs,
  plusNanos,
  upperBoundText,
} from '../../../src/domain/instant.ts';
import { FIRST_INSTANT, LAST_INSTANT, instants } from '../../support/arbitraries.ts';
import { at } from '../../support/records.ts';

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;

/** Floor division and remainder, which BigInt does not have. */
const modulo = (value: bigint, by: bigint): bigint => ((value % by) + by) % by;
const floor = (value: bigint, by: bigint): bigint => (value - modulo(value, by)) / by;

/** Year, month and day of a day number since 1970, in whole-number arithmetic without `Date` (eras of 400 years). */
function civil(days: bigint): [bigint, bigint, bigint] {
  const shifted = days + 719_468n;
  const era = floor(shifted, 146_097n);
  const dayOfEra = modulo(shifted, 146_097n);
  const yearOfEra = (dayOfEra - dayOfEra / 1_460n + dayOfEra / 36_524n - dayOfEra / 146_096n) / 365n;
  const dayOfYear = dayOfEra - (365n * yearOfEra + yearOfEra / 4n - yearOfEra / 100n);
  const shiftedMonth = (5n * dayOfYear + 2n) / 153n;
  const day = dayOfYear - (153n * shiftedMonth + 2n) / 5n + 1n;
  const month = shiftedMonth < 10n ? shiftedMonth + 3n : shiftedMonth - 9n;
  return [yearOfEra + era * 400n + (month <= 2n ? 1n : 0n), month, day];
}

const digits = (value: bigint, width: number): string => value.toString().padStart(width, '0');

/** The whole second, as a clock that is `offsetMinutes` ahead of UTC shows it. */
function clockText(instant: bigint, offsetMinutes = 0n): string {
  const local = instant + offsetMinutes * 60n * SECOND;
  const [year, month, day] = civil(floor(local, DAY));
  const second = modulo(local, DAY) / SECOND;
  const time = [second / 3_600n, (second / 60n) % 60n, second % 60n].map((part) => digits(part, 2)).join(':');
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}T${time}`;
}

/** Go's `Format(time.RFC3339Nano)` for UTC: nine digits of fraction, then zeros taken off the end one by one. */
function goFormat(instant: bigint): string {
  const fraction = digits(modulo(instant, SECOND), 9).split('');
  while (fraction.at(-1) === '0') fraction.pop();
  return `${clockText(instant)}${fraction.length === 0 ? '' : '.'}${fraction.join('')}Z`;
}

describe('writing and reading instants', () => {
  it('writes every nanosecond of the years 1 to 9999 as Go does, and reads it back', () => {
    fc.assert(
      fc.property(instants(), (instant) => {
        const text = formatInstant(instant);
        expect(text).toBe(goFormat(instant));
        expect(parseInstant(text)).toBe(instant);
      }),
      { numRuns: 3_000 },
    );
  });

  it.each<[bigint, string]>([
    [0n, '1970-01-01T00:00:00Z'],
    [-1n, '1969-12-31T23:59:59.999999999Z'],
    [1n, '1970-01-01T00:00:00.000000001Z'],
    [500_000_000n, '1970-01-01T00:00:00.5Z'],
    [120_000_000n, '1970-01-01T00:00:00.12Z'],
    [-500_000_000n, '1969-12-31T23:59:59.5Z'],
    [1_794_808_800_000_000_000n, '2026-11-16T06:00:00Z'],
    [1_709_164_800_000_000_000n, '2024-02-29T00:00:00Z'],
    [FIRST_INSTANT, '0001-01-01T00:00:00Z'],
    [LAST_INSTANT, '9999-12-31T23:59:59.999999999Z'],
  ])('knows %d as %s', (nanos, text) => {
    expect(formatInstant(nanos as Instant)).toBe(text);
    expect(parseInstant(text)).toBe(nanos);
  });

  it("knows Go's zero time, which stands for an unset one", () => {
    expect(UNSET_TEXT).toBe('0001-01-01T00:00:00Z');
    expect(parseInstant(UNSET_TEXT)).toBe(FIRST_INSTANT);
    expect(formatInstant(FIRST_INSTANT)).toBe(UNSET_TEXT);
  });

  it.each([
    ['2026-11-16T06:00:00+00:00', '2026-11-16T06:00:00Z'],
    ['2026-11-16T06:00:00-00:00', '2026-11-16T06:00:00Z'],
    ['2026-11-16T01:00:00-05:00', '2026-11-16T06:00:00Z'],
    ['2026-11-16T11:45:00.25+05:45', '2026-11-16T06:00:00.25Z'],
    ['2027-01-01T00:30:00+01:00', '2026-12-31T23:30:00Z'],
    ['2026-11-16T06:00:00.500000000Z', '2026-11-16T06:00:00.5Z'],
    ['2026-11-16T06:00:00.000Z', '2026-11-16T06:00:00Z'],
    ['0000-12-31T19:00:00-05:00', '0001-01-01T00:00:00Z'],
  ])('reads %s as %s', (text, utc) => {
    expect(formatInstant(parseInstant(text)!)).toBe(utc);
  });

  it('reads the same instant from the clock of every zone', () => {
    const inside = instants((FIRST_INSTANT + DAY) as Instant, (LAST_INSTANT - DAY) as Instant);
    fc.assert(
      fc.property(inside, fc.integer({ min: -1_439, max: 1_439 }), (instant, offset) => {
        const ahead = Math.abs(offset);
        const zone = `${offset < 0 ? '-' : '+'}${digits(BigInt(Math.trunc(ahead / 60)), 2)}:${digits(BigInt(ahead % 60), 2)}`;
        const fraction = digits(modulo(instant, SECOND), 9);
        expect(parseInstant(`${clockText(instant, BigInt(offset))}.${fraction}${zone}`)).toBe(instant);
      }),
    );
  });

  it.each([
    '',
    '2026-11-16',
    '2026-11-16T06:00Z',
    '2026-11-16T06:00:00', // a bound, not an instant
    '2026-11-16 06:00:00Z',
    '2026-11-16t06:00:00Z',
    '2026-11-16T06:00:00z',
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-11-16T24:00:00Z',
    '2026-11-16T23:60:00Z',
    '2026-11-16T23:59:60Z',
    '2026-11-16T06:00:00.Z',
    '2026-11-16T06:00:00,5Z',
    '2026-11-16T06:00:00.1234567890Z', // ten digits
    '2026-11-16T06:00:00+24:00',
    '2026-11-16T06:00:00+05:60',
    '2026-11-16T06:00:00+0500',
    '2026-11-16T06:00:00 Z',
    ' 2026-11-16T06:00:00Z',
    '2026-11-16T06:00:00Z\n',
    '+002026-11-16T06:00:00Z',
    '12026-11-16T06:00:00Z',
    '226-11-16T06:00:00Z',
    '1794808800',
    '9999-12-31T23:59:59-01:00', // in the year 10000, which Go could not write again
    '0000-01-01T00:00:00+01:00', // before the year 0
  ])('does not take %j for an instant', (text) => {
    expect(parseInstant(text)).toBeNull();
  });

  it('refuses the days that a month does not have, and only those', () => {
    const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (const year of [1900, 2000, 2024, 2025, 2026, 2100]) {
      const leap = [2000, 2024].includes(year);
      lengths.forEach((length, index) => {
        for (let day = 1; day <= 31; day += 1) {
          const text = `${year}-${digits(BigInt(index + 1), 2)}-${digits(BigInt(day), 2)}T12:00:00Z`;
          const exists = day <= (index === 1 && leap ? 29 : length);
          expect(parseInstant(text) !== null, text).toBe(exists);
        }
      });
    }
  });
});

describe('order and arithmetic', () => {
  it('sorts by time, which the texts do not', () => {
    const half = at('2026-11-16T06:00:00.5Z');
    const whole = at('2026-11-16T06:00:00Z');
    expect(formatInstant(half) < formatInstant(whole)).toBe(true);
    expect(compareInstants(half, whole)).toBe(1);
    expect([half, whole].sort(compareInstants)).toEqual([whole, half]);
  });

  it('compares as the numbers of nanoseconds do', () => {
    const pairs = instants().chain((a) =>
      fc.tuple(fc.constant(a), fc.oneof(instants(), fc.constant(a), fc.constant((a + 1n) as Instant))),
    );
    fc.assert(
      fc.property(pairs, ([a, b]) => {
        expect(compareInstants(a, b)).toBe(a === b ? 0 : a - b > 0n ? 1 : -1);
        expect(compareInstants(b, a) + compareInstants(a, b)).toBe(0);
      }),
    );
  });

  it('adds nanoseconds, milliseconds and days exactly', () => {
    fc.assert(
      fc.property(instants(), fc.integer({ min: -100_000, max: 100_000 }), (instant, count) => {
        expect(plusNanos(instant, BigInt(count))).toBe(instant + BigInt(count));
        expect(plusMs(instant, count)).toBe(instant + BigInt(count) * 1_000_000n);
        expect(plusDays(instant, count)).toBe(instant + BigInt(count) * DAY);
      }),
    );
  });

  it('goes to milliseconds rounding down, also before 1970, and back', () => {
    expect(msOf(-1n as Instant)).toBe(-1);
    expect(msOf(999_999n as Instant)).toBe(0);
    fc.assert(
      fc.property(instants(), (instant) => {
        expect(BigInt(msOf(instant))).toBe(floor(instant, 1_000_000n));
        expect(instantFromMs(msOf(instant))).toBe(instant - modulo(instant, 1_000_000n));
      }),
    );
  });

  it('knows a whole second from one with a fraction, also before 1970', () => {
    fc.assert(
      fc.property(instants(), (instant) => {
        expect(isWholeSecond(instant)).toBe(!goFormat(instant).includes('.'));
      }),
    );
    expect(isWholeSecond(at('1969-12-31T23:59:59Z'))).toBe(true);
    expect(isWholeSecond(at('1969-12-31T23:59:59.000000001Z'))).toBe(false);
  });
});

describe('bounds for a key condition', () => {
  /** The last second of the year 9999 has no second after it that could be written. */
  const bounded = instants(FIRST_INSTANT, at('9999-12-31T23:59:58.999999999Z'));

  /** Two instants that are close enough for their texts to differ in the fraction only, half of the time. */
  const neighbours = bounded.chain((a) =>
    fc.tuple(
      fc.constant(a),
      fc.oneof(
        fc
          .bigInt({ min: -2n * SECOND, max: 2n * SECOND })
          .map((away) => a + away)
          .filter((b) => b >= FIRST_INSTANT && b <= LAST_INSTANT),
        instants(),
      ),
    ),
  );

  /** Every way to write an instant in UTC: trimmed as Go does, or with zeros up to nine digits. */
  function spellings(instant: bigint): string[] {
    const fraction = digits(modulo(instant, SECOND), 9);
    const texts = [goFormat(instant)];
    for (let width = 1; width <= 9; width += 1) {
      if (/^0*$/.test(fraction.slice(width)))
        texts.push(`${clockText(instant)}.${fraction.slice(0, width)}Z`);
    }
    return texts;
  }

  /** As DynamoDB compares strings. */
  const sortsBefore = (a: string, b: string): boolean => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;

  it('are the second without fraction and zone letter', () => {
    expect(lowerBoundText(at('2026-11-16T08:00:00Z'))).toBe('2026-11-16T08:00:00');
    expect(lowerBoundText(at('2026-11-16T08:00:00.999999999Z'))).toBe('2026-11-16T08:00:00');
    expect(upperBoundText(at('2026-11-16T08:00:00Z'))).toBe('2026-11-16T08:00:00');
    expect(upperBoundText(at('2026-11-16T08:00:00.000000001Z'))).toBe('2026-11-16T08:00:01');
    expect(upperBoundText(at('2026-12-31T23:59:59.5Z'))).toBe('2027-01-01T00:00:00');
    expect(upperBoundText(at('1969-12-31T23:59:58.5Z'))).toBe('1969-12-31T23:59:59');
  });

  it('miss no row at or after an instant, however the row spells its own', () => {
    fc.assert(
      fc.property(neighbours, ([bound, row]) => {
        fc.pre(row >= bound);
        for (const text of spellings(row)) expect(sortsBefore(lowerBoundText(bound), text), text).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('miss no row before an instant, however the row spells its own', () => {
    fc.assert(
      fc.property(neighbours, ([bound, row]) => {
        fc.pre(row < bound);
        for (const text of spellings(row)) expect(sortsBefore(text, upperBoundText(bound)), text).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('let in no more than the rest of one second, so that a due query reads only what is due', () => {
    fc.assert(
      fc.property(neighbours, ([bound, row]) => {
        for (const text of spellings(row)) {
          if (sortsBefore(lowerBoundText(bound), text)) expect(row > bound - SECOND).toBe(true);
          if (sortsBefore(text, upperBoundText(bound))) expect(row < bound + SECOND).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the next history stamp', () => {
  // The last instants of all have no next one.
  const sometime = instants(FIRST_INSTANT, (LAST_INSTANT - 100n) as Instant);
  const clockAndLatest = sometime.chain((now) =>
    fc.tuple(
      fc.constant(now),
      fc.option(
        fc.oneof(
          sometime,
          fc.bigInt({ min: -20n, max: 20n }).map((away) => (now + away) as Instant),
        ),
      ),
    ),
  );

  it('comes after the latest one, not before the clock, and no further on than it must', () => {
    fc.assert(
      fc.property(clockAndLatest, ([now, latest]) => {
        const stamp = nextStamp(now, latest);
        expect(stamp >= now).toBe(true);
        if (latest !== null) expect(stamp > latest).toBe(true);
        const earliest = latest !== null && latest >= now ? latest + 1n : now;
        expect(stamp - earliest <= 1n).toBe(true);
      }),
    );
  });

  it('has nine digits of which the last is not 0, so that Go writes the same text again', () => {
    fc.assert(
      fc.property(clockAndLatest, ([now, latest]) => {
        const text = formatInstant(nextStamp(now, latest));
        expect(text).toMatch(/\.\d{8}[1-9]Z$/);
        expect(formatInstant(parseInstant(text)!)).toBe(text);
        expect(goFormat(parseInstant(text)!)).toBe(text);
      }),
    );
  });

  it('grows with every change, whether the clock stands still, jumps back or goes on', () => {
    const clock = fc.array(instants(at('2026-01-01T00:00:00Z'), at('2026-01-01T00:00:00.0000001Z')), {
      minLength: 2,
      maxLength: 30,
    });
    fc.assert(
      fc.property(clock, (readings) => {
        let latest: Instant | null = null;
        for (const now of readings) {
          const stamp: Instant = nextStamp(now, latest);
          if (latest !== null) expect(stamp > latest).toBe(true);
          latest = stamp;
        }
      }),
    );
  });

  it('is the clock itself when the clock will do', () => {
    const now = at('2026-11-16T08:00:00.123456789Z');
    expect(nextStamp(now, null)).toBe(now);
    expect(nextStamp(now, (now - 1n) as Instant)).toBe(now);
    expect(nextStamp(now, now)).toBe(now + 2n); // …790 would be trimmed
  });
});

describe('a time beyond the year 9999', () => {
  it('is not written: it would read as another', () => {
    const last = at('9999-12-31T23:59:59.999999999Z');
    expect(formatInstant(last)).toBe('9999-12-31T23:59:59.999999999Z');
    expect(() => formatInstant(plusNanos(last, 1n))).toThrow('beyond the years');
  });
});
