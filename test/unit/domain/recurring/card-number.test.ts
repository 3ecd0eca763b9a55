import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasCardNumber } from '../../../../src/domain/recurring/card-number.ts';

/** The check digit that makes it a card's, found by trying. */
function withCheckDigit(digits: string): string {
  const sum = [...digits]
    .reverse()
    .map((digit, place) => Number(digit) * (place % 2 === 0 ? 2 : 1))
    .map((value) => Math.floor(value / 10) + (value % 10))
    .reduce((a, b) => a + b, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
const digits = (least: number, most: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: least, maxLength: most })
    .map((list) => list.join(''));
const cards = digits(12, 18).map(withCheckDigit);
const gaps = fc.constantFrom('', '', ' ', '-', '--', ' - ', '\u2013', '\u00a0', '\t', '.', '_', '\u200b');
const spaced = fc
  .tuple(cards, fc.array(gaps, { minLength: 19, maxLength: 19 }))
  .map(([card, between]) => [...card].map((digit, i) => `${digit}${between[i]}`).join(''));
const words = fc
  .string({ unit: fc.constantFrom(...'abcXYZ_./:=#') })
  .map((text) => (text === '' ? text : `${text}|`));

describe('a card number', () => {
  it.each([
    '4111111111111111',
    '4111 1111 1111 1111',
    '4111-1111-1111-1111',
    'tok_4242424242424242',
    'tok-4242-4242-4242-4242-x',
    'visa 4242 4242 4242 4242 12/27 123',
    '1 5555555555554444',
    '378282246310005',
    '30569309025904',
    '4222222222222',
    '6304000000000000000',
    '\uff14\uff11\uff11\uff11 1111 1111 1111',
    // Other separators, seen and unseen, and the digits of other scripts.
    '4242.4242.4242.4242',
    'tok_4242_4242_4242_4242',
    '4242/4242/4242/4242',
    '4242\u00b74242\u00b74242\u00b74242',
    '4242\u200b4242\u200b4242\u200b4242',
    '4242\u00ad424242424242',
    '\u0664\u0662\u0664\u0662 \u06f4\u06f2\u06f4\u06f2 \u096a\u0968\u096a\u0968 4242',
    '\u{1d7db}\u{1d7d5}8282246310005',
  ])('is seen in %j', (text) => {
    expect(hasCardNumber(text)).toBe(true);
  });

  it.each([
    '',
    'tok_visa_abc',
    '4111111111111112',
    'pm_1NirD82eZvKYlo2CIvbtLWuE',
    '424242424242',
    '9f3c2a10-7d4e-4b7a-9c55-0d5f0e9a1b2c',
    '2026-11-16 16:00:00',
    '2026-11-16T16:00:00.000Z',
    'ending 4242, 12/27',
    '42424242x42424242',
  ])('is not seen in %j', (text) => {
    expect(hasCardNumber(text)).toBe(false);
  });

  it('is seen however it is spaced and whatever stands around it', () => {
    fc.assert(
      fc.property(words, spaced, words, (before, card, behind) => {
        expect(hasCardNumber(`${before}${card}${behind}`)).toBe(true);
      }),
    );
  });

  it('is not seen in a number whose check digit is another', () => {
    const wrong = fc
      .tuple(cards, fc.integer({ min: 1, max: 9 }))
      .map(([card, off]) => `${card.slice(0, -1)}${(Number(card.at(-1)) + off) % 10}`);
    fc.assert(fc.property(wrong, (number) => !hasCardNumber(number)));
  });

  it('is not seen in fewer than 13 or more than 19 digits', () => {
    const others = fc.oneof(digits(0, 11), digits(19, 30)).map(withCheckDigit);
    fc.assert(fc.property(others, (number) => !hasCardNumber(number)));
  });
});
