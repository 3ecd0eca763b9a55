import type { RecurringRule } from '../recurring-case.ts';

/** No card number is kept: thirteen to nineteen digits with the right check digit, however they are spaced. */
export const noCardNumber: RecurringRule = function* ({ row }) {
  if (row.paymentDetails.some(holdsCard)) yield 'may hold a card number in its payment details';
};

/** Written here a second time, and otherwise: every stretch of digits, whatever but letters and colons stands among them. */
function holdsCard(text: string): boolean {
  return text
    .normalize('NFKC')
    .split(/[\p{L}:]/u)
    .some((stretch) => {
      const groups = stretch.match(/\d+/g) ?? [];
      const stretches = groups.flatMap((_, from) =>
        groups.slice(from).map((_group, n) => groups.slice(from, from + n + 1).join('')),
      );
      return stretches.some((digits) => digits.length >= 13 && digits.length <= 19 && checks(digits));
    });
}

function checks(digits: string): boolean {
  const values = [...digits].map(Number).reverse();
  const sum = values.reduce(
    (total, value, n) => total + (n % 2 === 0 ? value : Math.floor(value / 5) + ((value * 2) % 10)),
    0,
  );
  return sum % 10 === 0;
}
