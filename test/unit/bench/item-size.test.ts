import { expect, it } from 'vitest';
import { itemBytes } from '../../../bench/item-size.ts';

it.each([
  ['text is its bytes, and a name counts too', { name: { S: 'Zoë' } }, 4 + 4],
  [
    'a number is a byte for two digits and one more, zeros at the ends apart',
    { n: { N: '1700000000' } },
    1 + 2,
  ],
  ['a sign and a point are no digits', { n: { N: '-12.5' } }, 1 + 3],
  ['bytes are text on the wire', { b: { B: Buffer.from('12345').toString('base64') } }, 1 + 5],
  ['true and nothing are a byte', { t: { BOOL: true }, n: { NULL: true } }, 2 + 2],
  [
    'a map is three bytes, what it holds, and a byte for each',
    { m: { M: { a: { S: 'xy' } } } },
    1 + 3 + 1 + 2 + 1,
  ],
  ['so is a list', { l: { L: [{ S: 'xy' }, { S: '' }] } }, 1 + 3 + 2 + 1 + 1],
])('%s', (_, item, bytes) => {
  expect(itemBytes(item as never)).toBe(bytes);
});

it('what no item of ours has is not guessed', () => {
  expect(() => itemBytes({ s: { SS: ['a'] } })).toThrow('no item of the pipeline has a SS');
});
