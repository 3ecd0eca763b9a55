import { describe, expect, it } from 'vitest';
import { refOf } from '../../../src/adapters/dynamodb/recurring-items.ts';
import { recurringOf, recurringRecordId } from '../../../src/domain/recurring/record-id.ts';
import { MalformedRowError } from '../../../src/errors.ts';

const item = (subscription: string) => ({ PK: { S: 'ACC#a.b' }, SK: { S: `SUB#${subscription}#SKU#999` } });

describe('which subscription an item is', () => {
  it('can be told from its record’s id again', () => {
    const ref = refOf(item('123'));
    expect(recurringOf(recurringRecordId(ref))).toEqual(ref);
  });

  it('is not guessed: one whose record would be taken for another account’s is reported', () => {
    expect(() => refOf(item('12.3'))).toThrow(MalformedRowError);
  });
});
