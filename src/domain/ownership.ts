import { createHash } from 'node:crypto';
import type { UserId } from './subscription.ts';

/**
 * Whose records this pipeline collects while the Go service still runs beside it. A range is of hashes from 0 to 0xffff,
 * both ends included: what one side owns up to 7fff the other owns from 8000.
 */
export type OwnedUsers =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'range'; readonly from: number; readonly to: number };

export function owns(owned: OwnedUsers, userId: UserId): boolean {
  switch (owned.kind) {
    case 'all':
      return true;
    case 'none':
      return false;
    case 'range': {
      const hash = ownershipHash(userId);
      return owned.from <= hash && hash <= owned.to;
    }
  }
}

/** The first four hexadecimal digits of the id's SHA-256: both services can compute it, and it spreads any kind of id evenly. */
const ownershipHash = (userId: UserId): number =>
  createHash('sha256').update(userId).digest().readUInt16BE(0);
