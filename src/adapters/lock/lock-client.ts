import type { Acquisition, LockClient, PastSighting } from '../../ports/lock.ts';
import { claimRow, type Claim } from './claim.ts';
import { HeldLock } from './held-lock.ts';
import { lockContext, type LockContext } from './lock-context.ts';
import type { LockClientOptions } from './lock-options.ts';

/**
 * A lock client on a DynamoDB table, wire-compatible with `cirello.io/dynamolock/v2`. See README.md beside this file
 * for what it does differently without touching the wire.
 */
export const createLockClient = (options: LockClientOptions): LockClient =>
  new DynamoLockClient(lockContext(options));

class DynamoLockClient implements LockClient {
  readonly #context: LockContext;
  readonly #acquiring = new Set<Promise<unknown>>();
  readonly #held = new Set<HeldLock>();
  #closing: Promise<void> | null = null;

  constructor(context: LockContext) {
    this.#context = context;
  }

  async acquire(key: string, seen?: PastSighting): Promise<Acquisition> {
    if (this.#closing !== null) throw closedError(key);
    const acquiring = this.#acquire(key, seen);
    this.#acquiring.add(acquiring);
    try {
      return await acquiring;
    } finally {
      this.#acquiring.delete(acquiring);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #acquire(key: string, seen: PastSighting | undefined): Promise<Acquisition> {
    const outcome = await claimRow(this.#context, key, seen);
    if ('busy' in outcome) {
      this.#context.report({ type: 'contended', key });
      return outcome;
    }
    const lock = this.#hold(outcome.claim);
    if (this.#closing === null) return { lock };
    await lock.release();
    throw closedError(key);
  }

  #hold(claim: Claim): HeldLock {
    const lock = new HeldLock(this.#context, claim, (ended) => this.#held.delete(ended));
    this.#held.add(lock);
    const type = claim.tookOver ? 'taken-over' : 'acquired';
    this.#context.report({ type, key: claim.key, ownerName: claim.ownerName });
    return lock;
  }

  async #shutDown(): Promise<void> {
    await Promise.allSettled(this.#acquiring);
    await Promise.all([...this.#held].map((lock) => lock.close()));
  }
}

const closedError = (key: string): Error =>
  new Error(`the lock ${key} was asked for after the lock client was closed`);
