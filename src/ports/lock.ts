import type { Instant } from '../domain/instant.ts';

/**
 * Proof of holding a lock, handed to every state change. The change is refused by the store itself once the lock
 * belongs to somebody else: a worker that slept past its lease cannot write.
 */
export interface Fence {
  readonly key: string;
  readonly ownerName: string;
  /**
   * Runs `write` while no heartbeat of this lock is under way, and holds heartbeats back meanwhile: DynamoDB refuses
   * a transaction that checks the lock row while another request changes it.
   */
  exclusively<T>(write: () => Promise<T>): Promise<T>;
}

/** What a caller that found the lock busy needs in order to recognise a dead holder later. */
export interface Sighting {
  readonly version: string;
  /** The holder's own lease. The same version after more than this means that the holder is dead. */
  readonly leaseMs: number;
}

/** A sighting from before, and how long ago it was made by the caller's clock. */
export interface PastSighting {
  readonly version: string;
  readonly elapsedMs: number;
}

export interface Lock {
  readonly fence: Fence;
  /** Aborts when the lock is lost or its lease is nearly over. The reason is a LockLostError. */
  readonly signal: AbortSignal;
  /** How long the lease is still good for, by the holder's own clock. Negative when it is over. */
  remainingMs(): number;
  /** Never throws for a lock that is already lost or released: there is nothing left to give back. */
  release(): Promise<void>;
}

export type Acquisition = { readonly lock: Lock } | { readonly busy: Sighting };

export interface LockClient {
  /** Fails fast: a held lock answers `busy`, unless `seen` proves its holder dead, in which case it is taken over. */
  acquire(key: string, seen?: PastSighting): Promise<Acquisition>;
  /** Stops heartbeats and releases what is still held. */
  close(): Promise<void>;
}

/** Who holds a lock, as its row says. A dead holder's row says the same until somebody takes the lock over. */
export interface LockHolder {
  readonly ownerName: string;
  /** Null where the row does not say. */
  readonly since: Instant | null;
}

/** For people who want to know. Whoever works on a user acquires the lock instead. */
export interface LockWatch {
  /** Null: nobody holds it. */
  holderOf(key: string): Promise<LockHolder | null>;
}

export const subscriptionLockKey = (userId: string): string => `subscription-billing:user_id:${userId}`;
export const floatLockKey = (userId: string): string => `loan-processing:user_id:${userId}`;
export const recurringLockKey = (accountId: string): string => `recurring-processing:account_id:${accountId}`;
