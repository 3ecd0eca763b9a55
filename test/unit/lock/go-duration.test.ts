import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatGoDuration, parseGoDuration } from '../../../src/adapters/lock/go-duration.ts';

const UNIT_MS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, μs: 1e-3, ns: 1e-6 } as const;

describe('a Go duration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['1m0s', 60_000],
    ['1h0m0s', 3_600_000],
    ['1.5h', 5_400_000],
    ['100ms', 100],
    ['20s', 20_000],
    ['2m0.25s', 120_250],
    ['1us', 0.001],
    ['1µs', 0.001],
    ['1μs', 0.001],
    ['1ns', 0.000001],
    ['.5s', 500],
    ['5.s', 5000],
    ['+5s', 5000],
    ['-1m0s', -60_000],
    ['1h15m30.918s', 4_530_918],
    ['0.3333333333333333333h', 1_199_999.999999],
    ['2562047h47m16.854775807s', 9_223_372_036_854.775807],
  ])('%s is %d ms', (text, ms) => {
    expect(parseGoDuration(text)).toBe(ms);
  });

  it.each([
    '',
    '60',
    '1',
    '1 s',
    's',
    '.s',
    '+',
    '-',
    '1m 0s',
    '1d',
    '1e3s',
    'one minute',
    '1m0',
    '0x1s',
    '1s\n',
    '9999999h',
  ])('is not %j, which Go refuses too', (text) => {
    expect(parseGoDuration(text)).toBeNull();
  });

  it.each([
    [0, '0s'],
    [1, '1ms'],
    [999, '999ms'],
    [1000, '1s'],
    [1500, '1.5s'],
    [59_999, '59.999s'],
    [60_000, '1m0s'],
    [120_250, '2m0.25s'],
    [3_600_000, '1h0m0s'],
    [3_600_001, '1h0m0.001s'],
    [90_061_000, '25h1m1s'],
    [-1500, '-1.5s'],
  ])('of %d ms is printed %s', (ms, text) => {
    expect(formatGoDuration(ms)).toBe(text);
  });

  it('is printed for whole milliseconds only', () => {
    expect(() => formatGoDuration(0.5)).toThrow(RangeError);
  });

  it('reads back what was printed', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
        expect(parseGoDuration(formatGoDuration(ms))).toBe(ms);
      }),
    );
  });

  it('is printed in the form of Duration.String: no unit twice, no leading zero unit, 60 is never reached', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 1e12 }), (ms) => {
        const match = /^(?:([1-9]\d*)h)?(?:(\d+)m)?(\d+)(?:\.(\d*[1-9]))?s$/.exec(formatGoDuration(ms));
        expect(match).not.toBeNull();
        const [, hours, minutes, seconds] = match!;
        expect(Number(seconds)).toBeLessThan(60);
        expect(Number(minutes ?? 0)).toBeLessThan(60);
        expect(hours === undefined || minutes !== undefined).toBe(true);
        expect(hours !== undefined || minutes !== '0').toBe(true);
      }),
    );
  });

  it('adds its parts up, in any order and with any unit', () => {
    const part = fc.tuple(
      fc.integer({ min: 0, max: 10_000 }),
      fc.constantFrom(...(Object.keys(UNIT_MS) as (keyof typeof UNIT_MS)[])),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const text = parts.map(([count, unit]) => `${count}${unit}`).join('');
        const ms = parts.reduce((sum, [count, unit]) => sum + count * UNIT_MS[unit], 0);
        expect(parseGoDuration(text)).toBeCloseTo(ms, 3);
      }),
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(fc.property(fc.string(), (text) => void parseGoDuration(text)));
    fc.assert(fc.property(fc.stringMatching(/^[-+.0-9hmsnuµ]*$/), (text) => void parseGoDuration(text)));
  });
});
