import type { unmarshallOptions } from '@aws-sdk/util-dynamodb';
import { convertToNative } from '@aws-sdk/util-dynamodb';
import type { z } from 'zod';
import { MalformedRowError } from '../../errors.ts';
import { readBy } from '../../in-words.ts';
import type { RawItem } from './raw-item.ts';

/** Which row it is and whose, as far as it tells. */
export interface RowName {
  readonly name: string;
  readonly userId: string;
  readonly subscriptionId: string;
}

/** Reads what can be read: one bad row must not hide the others. Any other error is not the row's, and is thrown. */
export function readRows<T>(
  rows: readonly RawItem[],
  read: (item: RawItem) => T,
): { readonly found: T[]; readonly malformed: MalformedRowError[] } {
  const found: T[] = [];
  const malformed: MalformedRowError[] = [];
  for (const item of rows) {
    try {
      found.push(read(item));
    } catch (error) {
      if (!(error instanceof MalformedRowError)) throw error;
      malformed.push(error);
    }
  }
  return { found, malformed };
}

/** The row as the schema has it. Throws a MalformedRowError that names the row and the attribute, never its value. */
export function readRow<T>(
  schema: z.ZodType<T>,
  item: RawItem,
  row: RowName,
  options: unmarshallOptions = {},
): T {
  const result = readBy(schema, plainOf(item, row, options));
  if ('data' in result) return result.data;
  throw malformedRow(row, result.first, result.wrong);
}

/** By its attributes: the SDK says of a number that it cannot hold what it is, and not where. */
function plainOf(item: RawItem, row: RowName, options: unmarshallOptions): Record<string, unknown> {
  const plain = Object.entries(item).map(([name, value]) => {
    try {
      return [name, convertToNative(value, options)] as const;
    } catch {
      throw malformedRow(row, name, `${name}: a value that nobody can hold`);
    }
  });
  return Object.fromEntries(plain);
}

export const malformedRow = (
  { name, userId, subscriptionId }: RowName,
  attribute: string,
  wrong: string,
): MalformedRowError =>
  new MalformedRowError(`${name} cannot be read: ${wrong}`, { userId, subscriptionId, attribute });
