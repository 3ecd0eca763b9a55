import type { Timer } from '../src/ports/timer.ts';

const FIRST_PAUSE_MS = 15;
const LONGEST_PAUSE_MS = 50;
/** Far longer than anything here takes on a machine that is busy with something else. */
const PATIENCE_MS = 180_000;

/** Waits for what must come; gives what the look found. */
export async function until<T>(
  timer: Timer,
  signal: AbortSignal,
  what: string,
  look: () => Promise<T | null>,
): Promise<T> {
  const beganMs = timer.elapsedMs();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.2)) {
    signal.throwIfAborted();
    const found = await look();
    if (found !== null) return found;
    if (timer.elapsedMs() - beganMs > PATIENCE_MS) throw new Error(`waited too long: ${what}`);
    await timer.sleep(pauseMs, signal).catch(() => undefined);
  }
}
