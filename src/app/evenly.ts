import type { Timer } from '../ports/timer.ts';

/**
 * Hands out turns, so many a second and evenly apart: each call resolves when its turn has come. Turns that no caller
 * took are not saved up, so that a pause is not followed by a burst.
 */
export function evenly(timer: Timer, perSecond: number): () => Promise<void> {
  const gapMs = 1_000 / perSecond;
  let nextMs = timer.elapsedMs();
  return async () => {
    const nowMs = timer.elapsedMs();
    const turnMs = Math.max(nowMs, nextMs);
    nextMs = turnMs + gapMs;
    if (turnMs > nowMs) await timer.sleep(turnMs - nowMs);
  };
}
