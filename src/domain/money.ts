/** An amount of US dollars in whole cents. Text with two decimals at the edges, never a float in between. */
export type Cents = number & { readonly __brand: 'Cents' };

const DECIMAL = /^(-?)(\d{1,13})(?:\.(\d{1,2}))?$/;

export const ZERO = 0 as Cents;

export function cents(value: number): Cents {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number of cents: ${value}`);
  // Minus zero would print as "0.00" but differ under Object.is.
  return (value === 0 ? 0 : value) as Cents;
}

/** Reads `"4.99"`, `"5"`, `"-0.50"`. Null for anything else: a bad amount is reported, never guessed. */
export function parseMoney(text: string): Cents | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const [, sign, dollars = '', fraction = ''] = match;
  const value = Number(dollars) * 100 + Number(fraction.padEnd(2, '0'));
  return cents(sign === '-' ? -value : value);
}

export function formatMoney(amount: Cents): string {
  const magnitude = Math.abs(amount);
  const fraction = (magnitude % 100).toString().padStart(2, '0');
  return `${amount < 0 ? '-' : ''}${Math.trunc(magnitude / 100)}.${fraction}`;
}

/** As people read it in a sentence; where machines read it, it is `formatMoney`. */
export const sayMoney = (amount: Cents): string =>
  `${amount < 0 ? '-' : ''}$${formatMoney(cents(Math.abs(amount)))}`;

export const addMoney = (a: Cents, b: Cents): Cents => cents(a + b);

export const subtractMoney = (a: Cents, b: Cents): Cents => cents(a - b);
