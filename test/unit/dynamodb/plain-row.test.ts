import { describe, expect, it } from 'vitest';
import { plainChange, plainRow } from '../../../src/adapters/dynamodb/plain-row.ts';

describe('a row as JSON can say it', () => {
  it('keeps every attribute under its name', () => {
    const bytes = new Uint8Array([1, 2, 255]);
    expect(
      plainRow({
        user_id: { S: 'user-1' },
        billing_amount: { S: '4.99' },
        billing_week: { NULL: true },
        pause_duration_months: { N: '-1' },
        is_pending_downgrade: { BOOL: false },
        empty: { S: '' },
        nested: { M: { list: { L: [{ N: '1.5' }, { S: 'x' }] } } },
        bytes: { B: bytes },
        sets: { L: [{ SS: ['a', 'b'] }, { NS: ['1', '2'] }, { BS: [bytes] }] },
      }),
    ).toEqual({
      user_id: 'user-1',
      billing_amount: '4.99',
      billing_week: null,
      pause_duration_months: -1,
      is_pending_downgrade: false,
      empty: '',
      nested: { list: [1.5, 'x'] },
      bytes: 'AQL/',
      sets: [['a', 'b'], [1, 2], ['AQL/']],
    });
  });

  it('does not round numbers', () => {
    expect(plainRow({ id: { N: '12345678901234567890' }, limit: { N: '9007199254740991' } })).toEqual({
      id: '12345678901234567890',
      limit: 9007199254740991,
    });
  });

  it('is there before, after, or both', () => {
    const item = { user_id: { S: 'user-1' } };
    const plain = { user_id: 'user-1' };
    expect(plainChange({ oldImage: null, newImage: item })).toEqual({
      before: null,
      after: plain,
    });
    expect(plainChange({ oldImage: item, newImage: null })).toEqual({
      before: plain,
      after: null,
    });
  });
});
