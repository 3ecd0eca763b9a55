import type { Timer } from '../ports/timer.ts';

/** Waits for `promise`, or rejects with the signal's reason as soon as it aborts. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Made once: without a reason of ours each `abort` would make an error of its own, which is never read. */
const ANSWERED = new Error('answered');

/** A request with a limit of elapsed time: one that hangs is told to stop, and is not waited for. */
export async function inTime<T>(
  timer: Timer,
  limitMs: number,
  send: (abortSignal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const answered = new AbortController();
  timer.sleep(limitMs, answered.signal).then(
    () => limit.abort(new NoAnswerInTime(`no answer within ${limitMs} ms`)),
    () => undefined,
  );
  try {
    return await orAborted(send(limit.signal), limit.signal);
  } finally {
    answered.abort(ANSWERED);
  }
}

/** Named as the SDK names its own, so that a caller that decides on errors need not know which of the two it was. */
class NoAnswerInTime extends Error {
  override readonly name = 'TimeoutError';
}
