import type { Acquisition, LockClient, PastSighting } from '../../ports/lock.ts';
import type { Timer } from '../../ports/timer.ts';

interface Remembered {
  readonly version: string;
  readonly atMs: number;
}

/** Cap on remembered locks. When it is reached all are forgotten, and a dead holder is recognised later. */
const MOST_REMEMBERED = 10_000;

/**
 * For callers that come by again and again and have nowhere to keep what they saw (the janitor, the API): remembers the
 * version of a busy lock, so that a dead holder is recognised at a later visit and does not keep the user locked.
 */
export class RememberingLocks implements LockClient {
  private readonly locks: LockClient;
  private readonly timer: Timer;
  private readonly seen = new Map<string, Remembered>();

  constructor(locks: LockClient, timer: Timer) {
    this.locks = locks;
    this.timer = timer;
  }

  async acquire(key: string, seen: PastSighting | undefined = this.sightingOf(key)): Promise<Acquisition> {
    const acquired = await this.locks.acquire(key, seen);
    if ('lock' in acquired) this.seen.delete(key);
    else this.remember(key, acquired.busy.version);
    return acquired;
  }

  close(): Promise<void> {
    return this.locks.close();
  }

  private sightingOf(key: string): PastSighting | undefined {
    const remembered = this.seen.get(key);
    if (remembered === undefined) return undefined;
    return { version: remembered.version, elapsedMs: this.timer.elapsedMs() - remembered.atMs };
  }

  private remember(key: string, version: string): void {
    if (this.seen.get(key)?.version === version) return;
    if (this.seen.size >= MOST_REMEMBERED) this.seen.clear();
    this.seen.set(key, { version, atMs: this.timer.elapsedMs() });
  }
}
