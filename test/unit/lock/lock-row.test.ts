import { describe, expect, it } from 'vitest';
import { newItem, seenRow, type Item } from '../../../src/adapters/lock/lock-row.ts';
import { parseInstant } from '../../../src/domain/instant.ts';

const held: Item = {
  PartitionKey: { S: 'k' },
  ownerName: { S: 'o' },
  recordVersionNumber: { S: 'v' },
  leaseDuration: { S: '1m0s' },
};

describe('a lock row', () => {
  it('is written as Go writes it, with owner and deleteOn beside', () => {
    const row = newItem({
      key: 'k',
      ownerName: 'o',
      version: 'v',
      leaseMs: 60_000,
      acquiredAt: parseInstant('2026-11-16T06:00:00.000000001Z')!,
      deleteOnSeconds: 1_800_000_000,
    });
    expect(row).toEqual({
      ...held,
      data: { B: new TextEncoder().encode('1794808800000000001') },
      owner: { S: 'o' },
      deleteOn: { N: '1800000000' },
    });
  });

  it('is read', () => {
    expect(seenRow(held)).toEqual({ ownerName: 'o', version: 'v', leaseMs: 60_000, isReleased: false });
    expect(seenRow({ ...held, isReleased: { S: '1' } }).isReleased).toBe(true);
  });

  it.each(['', 'forever', '60', '0s', '-1m0s', '60 seconds'])(
    'with the lease %j has none that counts',
    (text) => {
      expect(seenRow({ ...held, leaseDuration: { S: text } }).leaseMs).toBeNull();
    },
  );

  it('with attributes of the wrong kind, or none, is still a row that is held', () => {
    const nothing = { ownerName: '', version: '', leaseMs: null, isReleased: false };
    expect(seenRow({ PartitionKey: { S: 'k' } })).toEqual(nothing);
    expect(
      seenRow({
        PartitionKey: { S: 'k' },
        ownerName: { N: '1' },
        recordVersionNumber: { N: '1' },
        leaseDuration: { N: '60' },
        isReleased: { BOOL: true },
      }),
    ).toEqual(nothing);
  });
});
