/** Cards have so many digits. */
const SHORTEST = 13;
const LONGEST = 19;

/** Digits, and between them whatever people write to keep them apart, seen or not. Colons stand in times. */
const NUMBERS = /\d(?:[^\p{L}\p{N}:]*\d)*/gu;
const GAPS = /\D+/gu;

/**
 * Whether a text holds what may be a card number: 13 to 19 digits, of whatever script and however they are spaced, that
 * end in the right check digit. Something may stand before or behind it, such as the date on which the card expires.
 */
export const hasCardNumber = (text: string): boolean =>
  [...inOurDigits(text).matchAll(NUMBERS)].some(([number]) => isCardAmong(number.split(GAPS)));

const DIGIT = /\p{Nd}/gu;
const isDigit = (code: number): boolean => /\p{Nd}/u.test(String.fromCodePoint(code));

/** Each script has its ten digits one after the other, from nought on. */
const inOurDigits = (text: string): string =>
  text.normalize('NFKC').replaceAll(DIGIT, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    let first = code;
    while (isDigit(first - 1)) first -= 1;
    return String((code - first) % 10);
  });

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
