import fc from 'fast-check';
import { expect, it } from 'vitest';
import { instantFromMs } from '../../../../src/domain/instant.ts';
import {
  receiptKey,
  receiptKeyPrefix,
  receiptNumberText,
} from '../../../../src/domain/recurring/receipt-key.ts';
import { at } from '../../../support/records.ts';

it('a receipt’s key is its number, its time and its SKU, in the shape that others know', () => {
  const processedDate = at('2023-05-28T14:15:39.247Z');
  expect(receiptKey({ number: 1, processedDate, sku: '999' })).toBe(
    'REC#00000000012023-05-28T14:15:39.247Z#SKU#999',
  );
  expect(receiptNumberText(42)).toBe('0000000042');
});

it('keys sort by number, whatever the time', () => {
  const ms = fc.integer({ min: 0, max: 4_000_000_000_000 });
  const number = fc.integer({ min: 1, max: 9_999_999_998 });
  fc.assert(
    fc.property(number, ms, ms, (n, one, other) => {
      const first = receiptKey({ number: n, processedDate: instantFromMs(one), sku: 'z' });
      const second = receiptKey({ number: n + 1, processedDate: instantFromMs(other), sku: 'a' });
      expect(first < second).toBe(true);
      expect(first.startsWith(receiptKeyPrefix(n))).toBe(true);
      expect(second.startsWith(receiptKeyPrefix(n))).toBe(false);
    }),
  );
});
