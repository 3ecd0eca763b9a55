/** Whole cents. The sandbox parses money by itself: sharing the code under test would share its bugs. */
export type Cents = number;

/** Exactly two decimals, no sign, no leading zeros, at most nine whole digits, so that sums stay far below 2^53. */
export const MONEY_TEXT = /^(0|[1-9]\d{0,8})\.\d{2}$/;

export function centsFrom(text: string): Cents {
  if (!MONEY_TEXT.test(text)) throw new RangeError(`not a decimal amount: ${text}`);
  return Number(text.replace('.', ''));
}

export function moneyText(cents: Cents): string {
  const whole = Math.trunc(cents / 100);
  return `${whole}.${String(cents % 100).padStart(2, '0')}`;
}
