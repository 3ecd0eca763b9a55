import { performance } from 'node:perf_hooks';
import type { Timer } from '../ports/timer.ts';

/**
 * Real elapsed time. Monotonic: it counts a stopped process (SIGSTOP) but, on Linux, not a suspended machine. What must
 * also hold after a suspended machine wakes up is held by the fence in the store, not by a clock.
 *
 * A pending sleep keeps the process alive: work is under way. Abort the sleep to let the process end.
 */
export const systemTimer: Timer = {
  elapsedMs: () => performance.now(),
  sleep,
};

/** Longer than this, `setTimeout` fires at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const wakeAtMs = performance.now() + ms;
  do {
    await timeout(Math.min(wakeAtMs - performance.now(), LONGEST_TIMEOUT_MS), signal);
  } while (performance.now() < wakeAtMs);
}

function timeout(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(reasonOf(signal));
    const onAbort = (): void => {
      clearTimeout(handle);
      reject(reasonOf(signal));
    };
    const handle = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      Math.max(0, ms),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('the sleep was aborted', { cause: reason });
}
