import { firstPeriod } from '../../domain/plans/activation.ts';
import { isToCome } from '../../domain/plans/upcoming.ts';
import { compareInstants } from '../../domain/instant.ts';
import type { Term, UserId } from '../../domain/subscription.ts';
import { priceOf } from '../../domain/tiers.ts';
import type { StoredSubscription } from '../../ports/subscriptions.ts';
import type { AskedBy, DeskDependencies, MemberFile } from './desk.ts';
import { changeContext, withMember } from './desk.ts';
import { Refusal } from './refusal.ts';

export interface ActivationWish {
  readonly userId: UserId;
  /** Empty: the first of all tiers. */
  readonly tierName: string;
  readonly term: Term;
  readonly isFriday: boolean;
  readonly by: AskedBy;
}

/** A membership begins with its first period. Asked again, it has begun already, and that period is the answer. */
export async function activate(
  dependencies: DeskDependencies,
  wish: ActivationWish,
): Promise<StoredSubscription> {
  const amount = priceOf(dependencies.tiers, wish.tierName, wish.term);
  if (amount === null)
    throw new Refusal('unpriced-tier', `no ${wish.term} price for "${wish.tierName || 'Base:v0'}"`);
  await assertMayJoin(dependencies, wish.userId);
  return withMember(dependencies, wish.userId, async (member) => {
    const current = currentPeriod(member);
    if (current !== null) return current;
    if (member.partition.length > 0)
      throw new Refusal('membership-ended', 'the membership has ended: reactivate it');
    const context = changeContext(member, wish.by, 'plan-changed');
    const first = firstPeriod({ ...wish, amount }, member.now);
    return dependencies.subscriptions.add(member.lock.fence, first, context);
  });
}

async function assertMayJoin({ users }: DeskDependencies, userId: UserId): Promise<void> {
  const user = await users.get(userId);
  if (user === null) throw new Refusal('not-found', 'the user service has no such user');
  if (user.status === 'BANNED') throw new Refusal('user-not-eligible', 'the user is banned');
}

/** The soonest that is to come. */
function currentPeriod({ partition }: MemberFile): StoredSubscription | null {
  const toCome = partition.filter(isToCome).sort((a, b) => compareInstants(a.billingDate, b.billingDate));
  return toCome[0] ?? null;
}
