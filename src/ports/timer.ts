/**
 * Elapsed time: leases, heartbeats, back-off and HTTP limits. Never billing dates (see Clock). It only grows,
 * whatever happens to the wall clock, and a simulation hands in its own.
 */
export interface Timer {
  elapsedMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
