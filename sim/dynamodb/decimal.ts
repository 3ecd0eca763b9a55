import { invalid } from './errors.ts';

/**
 * DynamoDB's numbers: exact decimals of up to 38 digits. A double would call two different `run_time`s equal, because
 * nanoseconds since 1970 need more than 53 bits.
 */
interface Decimal {
  readonly isNegative: boolean;
  /** Without leading or trailing zeros; empty for zero. */
  readonly digits: string;
  /** The value is 0.DIGITS × 10^magnitude. */
  readonly magnitude: number;
}

const MAX_DIGITS = 38;
const MAX_MAGNITUDE = 126;
const MIN_MAGNITUDE = -129;
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;
/** Written as DynamoDB writes it, and exact as a double. */
const SHORT_INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;
const ZERO: Decimal = { isNegative: false, digits: '', magnitude: 0 };

/** The one way of writing this number: `1.50` and `15e-1` are `1.5`. */
export const canonicalNumber = (text: string): string =>
  SHORT_INTEGER.test(text) ? text : written(parse(text));

export function compareNumbers(a: string, b: string): number {
  if (a === b) return 0;
  if (SHORT_INTEGER.test(a) && SHORT_INTEGER.test(b)) return Number(a) - Number(b);
  const [left, right] = [sortableNumber(a), sortableNumber(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A text for each number, such that texts sort as their numbers do. */
export function sortableNumber(text: string): string {
  const { isNegative, digits, magnitude } = parse(text);
  if (digits === '') return '1';
  const size = String(magnitude + 500);
  // A shorter negative number is the greater one: nines' complements sort backwards, and `~` comes after every digit.
  return isNegative ? `0${complement(size)}${complement(digits)}~` : `2${size}${digits}`;
}

export function addNumbers(a: string, b: string): string {
  if (SHORT_INTEGER.test(a) && SHORT_INTEGER.test(b)) return String(Number(a) + Number(b));
  const [left, right] = [scaled(parse(a)), scaled(parse(b))];
  const exponent = Math.min(left.exponent, right.exponent);
  const sum = atExponent(left, exponent) + atExponent(right, exponent);
  return written(parse(`${sum}e${exponent}`));
}

export const negated = (text: string): string =>
  text === '0' ? text : text.startsWith('-') ? text.slice(1) : `-${text}`;

const complement = (digits: string): string => digits.replace(/\d/g, (digit) => String(9 - Number(digit)));

function parse(text: string): Decimal {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const all = whole + fraction;
  if (all === '') throw invalid(`The parameter cannot be converted to a numeric value: ${text}`);
  const digits = all.replace(/^0+/, '').replace(/0+$/, '');
  if (digits === '') return ZERO;
  const leadingZeros = /^0*/.exec(all)?.[0].length ?? 0;
  const magnitude = whole.length - leadingZeros + Number(exponent);
  if (digits.length > MAX_DIGITS)
    throw invalid('Attempting to store more than 38 significant digits in a Number');
  if (magnitude > MAX_MAGNITUDE)
    throw invalid('Number overflow. Attempting to store a number with magnitude larger than supported range');
  if (magnitude < MIN_MAGNITUDE)
    throw invalid(
      'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    );
  return { isNegative: sign === '-', digits, magnitude };
}

function written({ isNegative, digits, magnitude }: Decimal): string {
  if (digits === '') return '0';
  const sign = isNegative ? '-' : '';
  if (magnitude <= 0) return `${sign}0.${'0'.repeat(-magnitude)}${digits}`;
  if (digits.length <= magnitude) return sign + digits.padEnd(magnitude, '0');
  return `${sign}${digits.slice(0, magnitude)}.${digits.slice(magnitude)}`;
}

interface Scaled {
  readonly coefficient: bigint;
  readonly exponent: number;
}

const scaled = ({ isNegative, digits, magnitude }: Decimal): Scaled => ({
  coefficient: BigInt(`${isNegative ? '-' : ''}${digits || '0'}`),
  exponent: magnitude - digits.length,
});

const atExponent = ({ coefficient, exponent }: Scaled, wanted: number): bigint =>
  coefficient * 10n ** BigInt(exponent - wanted);
