import type { z } from 'zod';
import { MalformedEventError } from '../../errors.ts';
import { readBy } from '../../in-words.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Throws a MalformedEventError for what is no JSON. */
export function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch (error) {
    throw new MalformedEventError('the body is not JSON', { cause: error });
  }
}

/** What a gateway promises of its events. The message names fields, never their values. */
export function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = readBy(schema, value);
  if ('wrong' in read) throw new MalformedEventError(read.wrong);
  return read.data;
}

/** Absent and null are the same: nothing is said of it. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? null);
