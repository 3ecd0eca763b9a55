import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  readonly timeoutMs: number;
  readonly everyMs?: number;
}

/** Asks again and again until the answer is yes, and says whether it was before the time ran out. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  patience: Patience,
): Promise<boolean> {
  const deadline = performance.now() + patience.timeoutMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() >= deadline) return false;
    await pause(patience.everyMs ?? 25);
  }
}
