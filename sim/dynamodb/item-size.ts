import type { RawItem, Value } from './attribute-value.ts';

/**
 * How many bytes DynamoDB counts for an item: names and values in UTF-8, numbers at about two digits a byte, and a
 * few bytes for what holds others. AWS does not document the last of them; a page may end an item earlier or later.
 */
export function itemBytes(item: RawItem): number {
  let bytes = 0;
  for (const name of Object.keys(item)) bytes += textBytes(name) + valueBytes(item[name] as Value);
  return bytes;
}

const numberBytes = (text: string): number => Math.ceil(text.length / 2) + 1;
export const textBytes = (text: string): number => Buffer.byteLength(text);
const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);

export function valueBytes(value: Value): number {
  if (value.S !== undefined) return textBytes(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.B !== undefined) return value.B.length;
  if (value.SS !== undefined) return sum(value.SS.map(textBytes));
  if (value.NS !== undefined) return sum(value.NS.map(numberBytes));
  if (value.BS !== undefined) return sum(value.BS.map(({ length }) => length));
  if (value.L !== undefined) return 3 + sum(value.L.map((element) => 1 + valueBytes(element)));
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemBytes(value.M);
  return 1;
}
