import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { allowedInWords, readBy, wrongInWords } from '../../src/in-words.ts';

const said = (schema: z.ZodType, value: unknown, error: typeof wrongInWords = wrongInWords): string[] =>
  schema.safeParse(value, { error }).error?.issues.map(({ message }) => message) ?? [];

describe('what a schema allows, in words', () => {
  it.each([
    [z.string(), 1, 'a string'],
    [z.int(), 1.5, 'a whole number'],
    [z.array(z.string()), {}, 'an array'],
    [z.object({}), null, 'an object'],
    [z.enum(['on', 'off']), 'loud', 'one of on, off'],
    [z.literal('income_txn'), 'other', 'income_txn'],
    [z.string().min(2), 'x', 'at least 2 characters'],
    [z.string().max(2), 'xxx', 'at most 2 characters'],
    [z.array(z.int()).min(1), [], 'at least 1 items'],
    [z.number().max(5), 6, 'at most 5'],
    [z.string('a name'), 1, 'a name'],
  ])('%#', (schema, value, words) => {
    expect(said(schema, value)).toEqual([words]);
  });

  it('says what is not there, unless the schema has words of its own', () => {
    const schema = z.object({ id: z.string(), name: z.string('a name') });
    expect(said(schema, {})).toEqual(['a string, which is missing', 'a name']);
    expect(said(schema, {}, allowedInWords)).toEqual(['a string', 'a name']);
  });
});

describe('a value read by a schema', () => {
  it('names each field that is wrong, never its value', () => {
    const schema = z.object({ id: z.string(), account: z.object({ amount: z.number() }) });
    expect(readBy(schema, { id: 'x', account: { amount: 1 } })).toEqual({
      data: { id: 'x', account: { amount: 1 } },
    });
    expect(readBy(schema, { account: { amount: 'secret' } })).toEqual({
      wrong: 'id: a string, which is missing; account.amount: a number',
      first: 'id',
    });
  });
});
