import type { Instant } from '../instant.ts';
import type { GatewayStatus } from './status.ts';
import type { GatewaySubscription } from './subscription.ts';

export interface Entitlement {
  readonly subscription: GatewaySubscription;
  /** Null: no end is known. */
  readonly until: Instant | null;
  readonly seats: number;
}

/** By status: whether what was paid for counts, and whether it does where the gateway gave no end date. */
const COUNTS: Readonly<Record<GatewayStatus, { readonly dated: boolean; readonly undated: boolean }>> = {
  pending: { dated: false, undated: false },
  trial: { dated: true, undated: true },
  active: { dated: true, undated: true },
  // The gateway still tries: what was paid, and its days of grace, count.
  past_due: { dated: true, undated: false },
  cancelled: { dated: true, undated: false },
  // Also when it was refunded in the middle of its time.
  expired: { dated: false, undated: false },
};

function isValid({ status, expiresAt }: GatewaySubscription, now: Instant): boolean {
  const { dated, undated } = COUNTS[status];
  return expiresAt === null ? undated : dated && now < expiresAt;
}

/** Of an owner's subscriptions of one SKU, the one that entitles for longest. Null: none does. */
export function entitlementOf(
  subscriptions: readonly GatewaySubscription[],
  now: Instant,
): Entitlement | null {
  const valid = subscriptions.filter((subscription) => isValid(subscription, now));
  const [longest] = valid.toSorted((a, b) => compareEnds(b.expiresAt, a.expiresAt));
  if (longest === undefined) return null;
  return { subscription: longest, until: longest.expiresAt, seats: longest.quantity };
}

/** No end is later than any. */
function compareEnds(a: Instant | null, b: Instant | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}
