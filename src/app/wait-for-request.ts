import type { CollectionRequest } from '../ports/requests.ts';
import type { Timer } from '../ports/timer.ts';
import type { FindDependencies } from './find-request.ts';
import { findRequest } from './find-request.ts';

export interface WaitDependencies extends FindDependencies {
  readonly timer: Timer;
}

/** A charge takes some tenths of a second; one that takes longer is looked after less often. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/** The request once it has ended; as it stands when the time is over, or the caller waits no more. */
export async function waitForRequest(
  dependencies: WaitDependencies,
  request: CollectionRequest,
  { forMs, gone }: { readonly forMs: number; readonly gone: AbortSignal },
): Promise<CollectionRequest> {
  const { timer } = dependencies;
  const deadlineMs = timer.elapsedMs() + forMs;
  let current = request;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const leftMs = deadlineMs - timer.elapsedMs();
    if (current.status !== 'accepted' || leftMs <= 0 || gone.aborted) return current;
    await timer.sleep(Math.min(pauseMs, leftMs), gone).catch(() => undefined);
    current = (await findRequest(dependencies, request.requestId)) ?? current;
  }
}
