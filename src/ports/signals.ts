import type { Instant } from '../domain/instant.ts';
import type { Signal } from '../domain/signals.ts';

export interface SignalStore {
  /**
   * What this signal counts as: itself, or the one of the same user and kind that was taken less than `withinMs` before.
   * Of several at once one is taken. Sent again, it counts as it did before, for some days.
   */
  take(
    signal: Pick<Signal, 'signalId' | 'userId' | 'kind'>,
    at: Instant,
    withinMs: number,
  ): Promise<{ readonly signalId: string }>;
}
