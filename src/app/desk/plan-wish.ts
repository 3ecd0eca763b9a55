import { isLeaving } from '../../domain/leaving.ts';
import type { Cents } from '../../domain/money.ts';
import { isToCome, upcomingPeriod } from '../../domain/plans/upcoming.ts';
import type { Term } from '../../domain/subscription.ts';
import type { Tiers } from '../../domain/tiers.ts';
import { priceOf } from '../../domain/tiers.ts';
import type { StoredSubscription } from '../../ports/subscriptions.ts';
import type { MemberFile } from './desk.ts';
import { Refusal } from './refusal.ts';

/** The period whose price a change of plan is about. */
export function upcomingOf({ partition }: MemberFile): StoredSubscription {
  const upcoming = upcomingPeriod(partition);
  if (upcoming !== null) return upcoming;
  if (partition.some((record) => isToCome(record) && isLeaving(record)))
    throw new Refusal(
      'pending-cancellation',
      'the member has cancelled: the next period will not be charged',
    );
  throw new Refusal('no-upcoming-period', 'no period is scheduled that nobody was asked to pay yet');
}

export function priceIn({ tiers }: { readonly tiers: Tiers }, tierName: string, term: Term): Cents {
  const amount = priceOf(tiers, tierName, term);
  if (amount === null) throw new Refusal('unpriced-tier', `no ${term} price for "${tierName}"`);
  return amount;
}
