import { isAtBillingHour } from './billing-dates.ts';
import type { Instant } from './instant.ts';
import { compareInstants } from './instant.ts';
import { isLeaving } from './leaving.ts';
import type { Cents } from './money.ts';
import { ZERO, addMoney } from './money.ts';
import { isToCome } from './plans/upcoming.ts';
import type { Subscription } from './subscription.ts';

/**
 * `active`: a further period will be billed. `ending`: the member has cancelled, and the next period will not be billed.
 * `paused`: the next period is skipped. `ended`: there is no further period.
 */
export const MEMBERSHIPS = ['active', 'ending', 'paused', 'ended'] as const;
export type Membership = (typeof MEMBERSHIPS)[number];

/** Where a member stands, as far as the billing records tell. */
export interface CurrentSubscription<S extends Subscription> {
  readonly membership: Membership;
  /** The newest period whose day has come; before the first one has, that one. */
  readonly record: S;
  /** What will be charged next, which may be overdue. Null while paused, ending or ended. */
  readonly nextBilling: S | null;
  /** Periods that were tried in vain, and what they come to. */
  readonly owed: readonly S[];
  readonly owedAmount: Cents;
}

/** Null for somebody who never had a subscription. */
export function currentSubscription<S extends Subscription>(
  partition: readonly S[],
  now: Instant,
): CurrentSubscription<S> | null {
  const records = [...partition].sort((a, b) => compareInstants(a.billingDate, b.billingDate));
  const periods = records.some(isPeriod) ? records.filter(isPeriod) : records;
  const record = periods.findLast(({ billingDate }) => billingDate <= now) ?? periods[0];
  if (record === undefined) return null;
  const next = records.find(isToCome);
  const membership = membershipOf(next);
  const owed = records.filter(({ billingStatus }) => billingStatus === 'ERROR');
  return {
    membership,
    record,
    nextBilling: membership === 'active' ? (next ?? null) : null,
    owed,
    owedAmount: owed.reduce((sum, { billingAmount }) => addMoney(sum, billingAmount), ZERO),
  };
}

/**
 * Not what was paid beside the periods, a proration; nor a reactivation that was declined. What a collision moved off the
 * billing hour is still a period, and tells by what was done to it.
 */
function isPeriod({ billingDate, billingStatus, process }: Subscription): boolean {
  if (isAtBillingHour(billingDate)) return true;
  if (process === null || process === 'NOT_IDENTIFIED') return false;
  return process !== 'REACTIVATION' || billingStatus !== 'CANCELLED';
}

function membershipOf(next: Subscription | undefined): Membership {
  if (next === undefined) return 'ended';
  if (isLeaving(next)) return 'ending';
  return next.billingStatus === 'PAUSED' ? 'paused' : 'active';
}
