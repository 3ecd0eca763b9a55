/*
 * What must not reach a log line. Pino's own `redact` knows exact paths only: for the first four depths of these keys it
 * costs forty times the line itself, and a fifth depth or another spelling passes it.
 */

const REDACTED = '[redacted]';
/** Deeper than any line that is meant to be read; also the end of a circle. */
const DEEPEST = 8;

/** The end of a key, `_` and `-` left out: `user_email`, `accountMask`, `PAYMENTS_TOKEN`, `set-cookie`. */
const TELLS_ON_SOMEBODY =
  /(emails?|masks?|tokens?|authorization|passwords?|passwd|secrets?|cookies?|address(es)?|phones?|(phone|account|routing|card)numbers?|ssn|apikey|dateofbirth|birth(date|day)|dob)$/i;
/** Not every name is a person's: a queue has one too. */
const NAMES_SOMEBODY = /^(first|last|full|middle|given|family|user|member|holder|display)?name$/i;

/** `jane@example.com`, and what stands before the @ of a URL. */
const ADDRESS_IN_TEXT = /[^\s/"'<>()]+@[^\s/"'<>(),;]+/g;
const CREDENTIALS_IN_TEXT = /\b(Bearer|Basic) +[^\s"',]+/gi;

export const withoutPersonalData = (fields: object): object => clean(fields, 0) as object;

export const withoutAddresses = (text: string): string =>
  text.replace(ADDRESS_IN_TEXT, REDACTED).replace(CREDENTIALS_IN_TEXT, `$1 ${REDACTED}`);

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return withoutAddresses(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return '[…]';
  if (value instanceof Error) return errorFields(value, depth);
  if (Array.isArray(value)) return value.map((entry) => clean(entry, depth + 1));
  if (saysItself(value)) return clean(value.toJSON(), depth + 1);
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key, isPersonal(key) ? REDACTED : clean(entry, depth + 1)]),
  );
}

/** Dates, URLs: what JSON would write of them. */
const saysItself = (value: object): value is { toJSON: () => unknown } =>
  'toJSON' in value && typeof value.toJSON === 'function';

function isPersonal(key: string): boolean {
  const word = key.replaceAll(/[_-]/g, '');
  return TELLS_ON_SOMEBODY.test(word) || NAMES_SOMEBODY.test(word);
}

/** Clients hang requests, answers and their bodies on errors: only what tells which error it was is kept. */
function errorFields(error: Error, depth: number): object {
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: withoutAddresses(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: withoutAddresses(error.stack) }),
    ...(error.cause instanceof Error ? { cause: clean(error.cause, depth + 1) } : {}),
  };
}
