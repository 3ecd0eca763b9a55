import { inPlan } from '../../domain/plans/change-plan.ts';
import { sayMoney } from '../../domain/money.ts';
import type { UserId } from '../../domain/subscription.ts';
import type { StoredSubscription } from '../../ports/subscriptions.ts';
import type { AskedBy, DeskDependencies } from './desk.ts';
import { assertUntouched, changeContext, withMember } from './desk.ts';
import { priceIn, upcomingOf } from './plan-wish.ts';
import { Refusal } from './refusal.ts';

export interface DowngradeWish {
  readonly userId: UserId;
  readonly tierName: string;
  readonly by: AskedBy;
}

/** From the next period on the member pays less. Nothing is given back for the one that is paid. */
export function downgrade(dependencies: DeskDependencies, wish: DowngradeWish): Promise<StoredSubscription> {
  return withMember(dependencies, wish.userId, async (member) => {
    const upcoming = upcomingOf(member);
    const amount = priceIn(dependencies, wish.tierName, upcoming.term);
    if (isDone(upcoming, wish.tierName)) return upcoming;
    if (amount >= upcoming.billingAmount) {
      const prices = `${sayMoney(amount)} after ${sayMoney(upcoming.billingAmount)}`;
      throw new Refusal('not-a-downgrade', `the member would not pay less: ${prices}`);
    }
    await assertUntouched(dependencies, upcoming);
    const change = inPlan(upcoming, { tierName: wish.tierName, amount }, true);
    const context = changeContext(member, wish.by, 'plan-changed');
    return dependencies.subscriptions.add(member.lock.fence, change, context);
  });
}

const isDone = ({ receiptTierName, isPendingDowngrade }: StoredSubscription, tierName: string): boolean =>
  isPendingDowngrade && receiptTierName === tierName;
