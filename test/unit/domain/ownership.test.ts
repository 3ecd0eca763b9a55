import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OwnedUsers } from '../../../src/domain/ownership.ts';
import { owns } from '../../../src/domain/ownership.ts';
import type { UserId } from '../../../src/domain/subscription.ts';

const range = (from: number, to: number): OwnedUsers => ({ kind: 'range', from, to });
const user = fc.string({ minLength: 1 }).map((text) => text as UserId);
const firstDigits = (userId: string): string => createHash('sha256').update(userId).digest('hex').slice(0, 4);

describe('owned users', () => {
  it('are everybody or nobody without looking at the user', () => {
    fc.assert(
      fc.property(user, (userId) => {
        expect(owns({ kind: 'all' }, userId)).toBe(true);
        expect(owns({ kind: 'none' }, userId)).toBe(false);
      }),
    );
  });

  it('go by the first four digits of the SHA-256, both ends included', () => {
    // printf abc | sha256sum: the vector that FIPS 180 prints.
    expect(firstDigits('abc')).toBe('ba78');
    const abc = 'abc' as UserId;
    expect(owns(range(0xba78, 0xba78), abc)).toBe(true);
    expect(owns(range(0, 0xba77), abc)).toBe(false);
    expect(owns(range(0xba79, 0xffff), abc)).toBe(false);
  });

  it('of two halves partition all users, wherever the cut is', () => {
    fc.assert(
      fc.property(user, fc.integer({ min: 0, max: 0xfffe }), (userId, cut) => {
        const lower = owns(range(0, cut), userId);
        expect(owns(range(cut + 1, 0xffff), userId)).toBe(!lower);
        expect(lower).toBe(firstDigits(userId) <= cut.toString(16).padStart(4, '0'));
      }),
    );
  });

  it('are spread evenly, also when ids only count up', () => {
    const count = 5_000;
    const ids = Array.from({ length: count }, (_, i) => `user-${i}` as UserId);
    for (let eighth = 0; eighth < 8; eighth += 1) {
      const part = range(eighth * 0x2000, eighth * 0x2000 + 0x1fff);
      const share = ids.filter((userId) => owns(part, userId)).length / count;
      expect(Math.abs(share - 1 / 8)).toBeLessThan(0.02);
    }
  });
});
