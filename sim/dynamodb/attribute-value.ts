import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { compareNumbers, sortableNumber } from './decimal.ts';

export type Value = AttributeValue;
/** Frozen throughout: all readers share it. */
export type RawItem = Readonly<Record<string, Value>>;

export const TYPES = ['S', 'N', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'B', 'BS'] as const;
export type ValueType = (typeof TYPES)[number];

/** The types whose values have an order. */
const ORDERED: ReadonlySet<string> = new Set(['S', 'N', 'B']);
export const isOrdered = (type: ValueType): boolean => ORDERED.has(type);
const SETS: ReadonlySet<string> = new Set(['SS', 'NS', 'BS']);
export const isSet = (type: ValueType): boolean => SETS.has(type);

export function typeOf(value: Value): ValueType {
  if (value.S !== undefined) return 'S';
  if (value.N !== undefined) return 'N';
  for (const type of TYPES) if (value[type as keyof Value] !== undefined) return type;
  throw new Error(`no attribute value: ${JSON.stringify(value)}`);
}

export const attributeOf = (item: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  // An attribute may have the name of what every object has, `constructor` say.
  Object.hasOwn(item, name) ? item[name] : undefined;

/** Of both have the same type and that type has an order; undefined otherwise. Strings go by their UTF-8 bytes. */
export function compare(a: Value, b: Value): number | undefined {
  if (a.S !== undefined && b.S !== undefined) return compareTexts(sortableText(a.S), sortableText(b.S));
  if (a.N !== undefined && b.N !== undefined) return compareNumbers(a.N, b.N);
  if (a.B !== undefined && b.B !== undefined) return compareTexts(sortableBytes(a.B), sortableBytes(b.B));
  return undefined;
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export function equal(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a.S !== undefined || b.S !== undefined) return a.S === b.S;
  if (a.N !== undefined && b.N !== undefined) return compareNumbers(a.N, b.N) === 0;
  const type = typeOf(a);
  if (type !== typeOf(b)) return false;
  if (isSet(type)) return sameSet(elementsOf(a), elementsOf(b));
  if (a.L !== undefined && b.L !== undefined) return sameList(a.L, b.L);
  if (a.M !== undefined && b.M !== undefined) return sameItem(a.M, b.M);
  if (a.B !== undefined && b.B !== undefined) return Buffer.compare(a.B, b.B) === 0;
  return a.BOOL === b.BOOL;
}

export function sameItem(a: RawItem, b: RawItem): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => {
    const [left, right] = [attributeOf(a, name), attributeOf(b, name)];
    return left !== undefined && right !== undefined && equal(left, right);
  });
}

const sameList = (a: readonly Value[], b: readonly Value[]): boolean =>
  a.length === b.length && a.every((value, i) => equal(value, b[i] as Value));

const sameSet = (a: readonly Value[], b: readonly Value[]): boolean =>
  a.length === b.length && a.every((element) => includes(b, element));

export const includes = (elements: readonly Value[], wanted: Value): boolean =>
  elements.some((element) => equal(element, wanted));

/** What a set or a list holds, as values; nothing for any other. */
export function elementsOf({ SS, NS, BS, L }: Value): readonly Value[] {
  if (L !== undefined) return L;
  if (SS !== undefined) return SS.map((S) => ({ S }));
  if (NS !== undefined) return NS.map((N) => ({ N }));
  return (BS ?? []).map((B) => ({ B }));
}

export function setOf(type: ValueType, elements: readonly Value[]): Value {
  if (type === 'SS') return { SS: elements.map(({ S = '' }) => S) };
  if (type === 'NS') return { NS: elements.map(({ N = '' }) => N) };
  return { BS: elements.map(({ B = new Uint8Array() }) => B) };
}

/** A text for each key value, such that the texts of one type sort as DynamoDB sorts the values. */
export function sortable({ S, N, B }: Value): string {
  if (S !== undefined) return sortableText(S);
  if (N !== undefined) return sortableNumber(N);
  return sortableBytes(B ?? new Uint8Array());
}

const HIGH = /[\ud800-\uffff]/;
const EACH_HIGH = /[\ud800-\uffff]/g;

/**
 * JavaScript compares UTF-16 units, where the surrogates of U+10000 and above come before U+E000. Swapping the two
 * ranges gives the order of UTF-8.
 */
const sortableText = (text: string): string =>
  HIGH.test(text)
    ? text.replace(EACH_HIGH, (unit) => {
        const code = unit.charCodeAt(0);
        return String.fromCharCode(code >= 0xe000 ? code - 0x800 : code + 0x2000);
      })
    : text;

const sortableBytes = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
