import type { Timer } from '../../ports/timer.ts';

/**
 * The part of a lease that is kept for winding up. The holder is told to stop this early, so that it has stopped by the
 * time another client may believe it dead.
 */
const MARGIN_OF_LEASE = 0.1;

/** The holder's view of its lease: counted from before the write that began it was sent, so never too long. */
export class Lease {
  readonly #timer: Timer;
  readonly #leaseMs: number;
  #startedMs: number;

  constructor(timer: Timer, leaseMs: number, startedMs: number) {
    this.#timer = timer;
    this.#leaseMs = leaseMs;
    this.#startedMs = startedMs;
  }

  /** `sentMs`: when the write that renewed it was sent, by the same timer. Never shortens the lease. */
  renew(sentMs: number): void {
    this.#startedMs = Math.max(this.#startedMs, sentMs);
  }

  remainingMs(): number {
    return this.#startedMs + this.#leaseMs - this.#timer.elapsedMs();
  }

  /** How long work may go on if no renewal comes. Zero or less: stop now. */
  workingMs(): number {
    return this.remainingMs() - this.#leaseMs * MARGIN_OF_LEASE;
  }
}
