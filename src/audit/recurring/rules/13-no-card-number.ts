import type { RecurringRule } from '../recurring-case.ts';

/** Nobody's card number is kept: thirteen to nineteen digits with the right check digit, however they are spaced. */
export const noCardNumber: RecurringRule = function* ({ row }) {
  if (row.paymentDetails.some(holdsCard)) yield 'may hold a card number in its payment details';
};

const holdsCard = (text: string): boolean =>
  [...text.matchAll(/\d[\d -]{11,}\d/g)]
    .map(([found]) => found.replaceAll(/[ -]/g, ''))
    .some((digits) => digits.length >= 13 && digits.length <= 19 && checks(digits));

function checks(digits: string): boolean {
  const values = [...digits].map(Number).reverse();
  const sum = values.reduce(
    (total, value, n) => total + (n % 2 === 0 ? value : Math.floor(value / 5) + ((value * 2) % 10)),
    0,
  );
  return sum % 10 === 0;
}
