import type { Instant } from './instant.ts';
import { plusMs } from './instant.ts';
import type { BillingStatus } from './subscription.ts';

const HOUR_MS = 3_600_000;

/**
 * Where a new or moved row goes when its instant is taken in the user's partition: the sort key must be unique. A
 * SCHEDULED row may not move, its date is the member's; null then says that the period is taken. Others (prorations,
 * cancelled periods) move by whole hours to the next free instant.
 */
export function freeInstant(
  wanted: Instant,
  status: BillingStatus,
  taken: ReadonlySet<Instant>,
): Instant | null {
  if (!taken.has(wanted)) return wanted;
  if (status === 'SCHEDULED') return null;
  let instant = wanted;
  while (taken.has(instant)) instant = plusMs(instant, HOUR_MS);
  return instant;
}
