import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Cents } from '../../../src/domain/money.ts';
import { ZERO, addMoney, cents, formatMoney, parseMoney, subtractMoney } from '../../../src/domain/money.ts';

/** As many cents as thirteen digits of dollars can say; a thousand times the world's money is not a bill. */
const MOST = 999_999_999_999_999;
const anyAmount = fc.oneof(
  fc.integer({ min: -MOST, max: MOST }),
  fc.integer({ min: -1_000, max: 1_000 }),
) as fc.Arbitrary<Cents>;

/** Prints with whole-number arithmetic on text, the other way round than the code: digits first, then the point. */
function print(amount: bigint): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

describe('reading an amount', () => {
  it.each([
    ['4.99', 499],
    ['39.99', 3_999],
    ['5', 500],
    ['5.5', 550],
    ['5.05', 505],
    ['0', 0],
    ['0.01', 1],
    ['-0.50', -50],
    ['-12', -1_200],
    ['007.10', 710],
    ['9999999999999.99', MOST],
  ])('reads %j as %i cents', (text, expected) => {
    expect(parseMoney(text)).toBe(expected);
  });

  it.each([
    '',
    ' ',
    '4.999',
    '4.',
    '.99',
    '4,99',
    '$4.99',
    '4.99 ',
    ' 4.99',
    '4.99\n',
    '+4.99',
    '--1',
    '- 1',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '4.9.9',
    '1_000',
    '1 000',
    '٤.٩٩',
    '10000000000000.00', // one digit too many
  ])('refuses %j instead of guessing', (text) => {
    expect(parseMoney(text)).toBeNull();
  });

  it('reads minus zero as zero, so that amounts that print alike are alike', () => {
    expect(Object.is(parseMoney('-0.00'), 0)).toBe(true);
    expect(Object.is(cents(-0), ZERO)).toBe(true);
  });

  it('gives dollars times a hundred plus cents, for one and two decimals', () => {
    const dollars = fc.bigInt({ min: 0n, max: 9_999_999_999_999n });
    fc.assert(
      fc.property(dollars, fc.integer({ min: 0, max: 99 }), fc.boolean(), (whole, fraction, negative) => {
        const sign = negative ? '-' : '';
        const expected = (whole * 100n + BigInt(fraction)) * (negative ? -1n : 1n);
        const text = `${sign}${whole}.${fraction < 10 ? '0' : ''}${fraction}`;
        expect(BigInt(parseMoney(text)!)).toBe(expected);
        if (fraction % 10 === 0) expect(parseMoney(text.slice(0, -1))).toBe(parseMoney(text));
      }),
    );
  });

  it('never makes an amount out of a text with anything but digits, one point and one minus', () => {
    const nearlyMoney = fc.string({ unit: fc.constantFrom(...'0123456789.-+, e$'), maxLength: 8 });
    fc.assert(
      fc.property(fc.oneof(nearlyMoney, fc.string()), (text) => {
        const wellFormed = /^-?[0-9]+$|^-?[0-9]+\.[0-9]$|^-?[0-9]+\.[0-9][0-9]$/.test(text);
        expect(parseMoney(text) !== null).toBe(wellFormed);
      }),
    );
  });
});

describe('printing an amount', () => {
  it.each([
    [499, '4.99'],
    [5, '0.05'],
    [0, '0.00'],
    [-5, '-0.05'],
    [-1_250, '-12.50'],
    [100, '1.00'],
    [MOST, '9999999999999.99'],
  ])('prints %i cents as %j', (amount, text) => {
    expect(formatMoney(cents(amount))).toBe(text);
  });

  it('has two decimals always and is read back as the same amount', () => {
    fc.assert(
      fc.property(anyAmount, (amount) => {
        expect(formatMoney(amount)).toBe(print(BigInt(amount)));
        expect(parseMoney(formatMoney(amount))).toBe(amount);
      }),
    );
  });
});

describe('arithmetic', () => {
  it('adds and subtracts exactly', () => {
    fc.assert(
      fc.property(anyAmount, anyAmount, (a, b) => {
        expect(BigInt(addMoney(a, b))).toBe(BigInt(a) + BigInt(b));
        expect(BigInt(subtractMoney(a, b))).toBe(BigInt(a) - BigInt(b));
      }),
    );
  });

  it('adds ten cents and twenty cents to thirty cents', () => {
    expect(formatMoney(addMoney(parseMoney('0.10')!, parseMoney('0.20')!))).toBe('0.30');
  });

  it('orders amounts as the numbers that are printed', () => {
    fc.assert(
      fc.property(anyAmount, anyAmount, (a, b) => {
        const [left, right] = [parseMoney(print(BigInt(a)))!, parseMoney(print(BigInt(b)))!];
        expect(left < right).toBe(BigInt(a) < BigInt(b));
        expect(left === right).toBe(BigInt(a) === BigInt(b));
      }),
    );
  });

  it('leaves no minus zero behind', () => {
    expect(Object.is(subtractMoney(cents(-5), cents(-5)), 0)).toBe(true);
    expect(Object.is(addMoney(-0 as Cents, -0 as Cents), 0)).toBe(true);
  });

  it.each([0.5, 4.99, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    'does not take %d for a number of cents',
    (value) => {
      expect(() => cents(value)).toThrow(RangeError);
    },
  );

  it('stops rather than losing a cent when a sum is too large to be exact', () => {
    expect(() => addMoney(Number.MAX_SAFE_INTEGER as Cents, 1 as Cents)).toThrow(RangeError);
    expect(() => subtractMoney(-Number.MAX_SAFE_INTEGER as Cents, 1 as Cents)).toThrow(RangeError);
  });
});
