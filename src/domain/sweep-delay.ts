import type { Instant } from './instant.ts';
import { plusMs } from './instant.ts';

/** A job that Redis still has is done by then on any ordinary day, and a member who waits for an answer is still there. */
const FIRST_DELAY_MS = 60_000;
/** While a service is down jobs wait in their queue. Handing over anew every minute would only pile up more of them. */
const LONGEST_DELAY_MS = 3_600_000;

/** When to look whether an accepted request was forgotten, after it was handed to the workers for the n-th time. */
export function sweepAt(handedOverAt: Instant, generation: number): Instant {
  return plusMs(handedOverAt, Math.min(FIRST_DELAY_MS * 2 ** generation, LONGEST_DELAY_MS));
}
