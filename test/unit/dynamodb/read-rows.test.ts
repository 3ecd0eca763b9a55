import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RawItem } from '../../../src/adapters/dynamodb/raw-item.ts';
import { readRow, readRows } from '../../../src/adapters/dynamodb/read-rows.ts';
import { MalformedRowError } from '../../../src/errors.ts';

const NAME = { name: 'row 1', userId: 'u', subscriptionId: 's' };
const numbered = (number: string): RawItem => ({ id: { S: 'one' }, number: { N: number } });
const schema = z.object({ id: z.string(), number: z.int() });
const read = (item: RawItem) => readRow(schema, item, NAME).number;

describe('rows', () => {
  it('are read as far as they can be, and the others are kept apart', () => {
    const { found, malformed } = readRows([numbered('1'), { id: { S: 'two' } }, numbered('3')], read);
    expect(found).toEqual([1, 3]);
    expect(malformed.map(({ message, attribute, row }) => [message, attribute, row])).toEqual([
      [
        'row 1 cannot be read: number: a number, which is missing',
        'number',
        { userId: 'u', subscriptionId: 's' },
      ],
    ]);
  });

  it('with a number that the SDK cannot hold are rows that cannot be read, and do not tell it', () => {
    const { found, malformed } = readRows([numbered('10000000000000000.5'), numbered('2')], read);
    expect(found).toEqual([2]);
    expect(malformed).toHaveLength(1);
    expect(malformed[0]).toBeInstanceOf(MalformedRowError);
    expect(malformed[0]).toMatchObject({ attribute: 'number' });
    expect(malformed[0]!.message).not.toContain('10000000000000000');
  });

  it('hide no error that is not theirs', () => {
    const broken = () => {
      throw new TypeError('a fault of ours');
    };
    expect(() => readRows([numbered('1')], broken)).toThrow('a fault of ours');
  });
});
