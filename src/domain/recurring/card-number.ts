/** Cards have so many digits. */
const SHORTEST = 13;
const LONGEST = 19;

/** Digits, and between them whatever people write to keep them apart. */
const NUMBERS = /\d(?:[\s\p{Pd}]*\d)*/gu;
const GAPS = /[\s\p{Pd}]+/gu;

/**
 * Whether a text holds what may be a card number: 13 to 19 digits, however they are spaced, that end in the right check
 * digit. Something may stand before or behind it, such as the date on which the card expires.
 */
export const hasCardNumber = (text: string): boolean =>
  [...text.normalize('NFKC').matchAll(NUMBERS)].some(([number]) => isCardAmong(number.split(GAPS)));

/** Of digits that are written in groups, any that stand side by side may be the card's. */
function isCardAmong(groups: readonly string[]): boolean {
  return groups.some((_, first) => {
    let digits = '';
    for (const group of groups.slice(first)) {
      digits += group;
      if (digits.length > LONGEST) return false;
      if (digits.length >= SHORTEST && isLuhn(digits)) return true;
    }
    return false;
  });
}

/** Every second digit from the right counts double, and the digits of all that add up to a multiple of ten. */
function isLuhn(digits: string): boolean {
  let sum = 0;
  [...digits].reverse().forEach((digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
  });
  return sum % 10 === 0;
}
