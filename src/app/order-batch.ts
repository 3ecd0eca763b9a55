import type { OwnedUsers } from '../domain/ownership.ts';
import { owns } from '../domain/ownership.ts';
import { requestIdOf } from '../domain/request-id.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import { MalformedRowError } from '../errors.ts';
import type { CollectionOrder, CollectionRequest } from '../ports/requests.ts';
import type { SubscriptionsRepository } from '../ports/subscriptions.ts';
import { aFewAtOnce } from './a-few-at-once.ts';
import type { RequestDependencies } from './accept-requests.ts';
import { acceptRequests } from './accept-requests.ts';

export interface BatchDependencies extends RequestDependencies {
  readonly subscriptions: Pick<SubscriptionsRepository, 'getByID'>;
  readonly owned: OwnedUsers;
}

/** Why an id of a batch is not asked for. */
interface LeftOut {
  /** Ids that no record has. */
  readonly unknown: readonly SubscriptionId[];
  /** Records of members whom the older service bills. */
  readonly notOwned: readonly SubscriptionId[];
  /** Records whose rows cannot be read: an operator has to mend them. */
  readonly unreadable: readonly SubscriptionId[];
}

export interface OrderedBatch extends LeftOut {
  readonly accepted: readonly CollectionRequest[];
}

/** What one process asks of the table at once. */
const LOOKED_UP_AT_ONCE = 8;

/** Asks for those of a list of records that are due, on any day of the week. Ordered again under the same id it is the same batch. */
export async function orderBatch(
  dependencies: BatchDependencies,
  { batchId, by }: { readonly batchId: string; readonly by: string },
  subscriptionIds: readonly SubscriptionId[],
): Promise<OrderedBatch> {
  const wanted = [...new Set(subscriptionIds)];
  const found = await aFewAtOnce(LOOKED_UP_AT_ONCE, wanted, async (subscriptionId) => ({
    subscriptionId,
    ...(await lookUp(dependencies, subscriptionId)),
  }));
  const orders = found.flatMap((one): CollectionOrder[] =>
    'leftOut' in one ? [] : [orderOf(one, { batchId, by })],
  );
  const idsThatAre = (why: keyof LeftOut): SubscriptionId[] =>
    found.flatMap((one) => ('leftOut' in one && one.leftOut === why ? [one.subscriptionId] : []));
  return {
    accepted: await acceptRequests(dependencies, orders),
    unknown: idsThatAre('unknown'),
    notOwned: idsThatAre('notOwned'),
    unreadable: idsThatAre('unreadable'),
  };
}

/** Whose the record is. One that is left out keeps no other from being asked for. */
async function lookUp(
  { subscriptions, owned }: BatchDependencies,
  subscriptionId: SubscriptionId,
): Promise<{ readonly userId: UserId } | { readonly leftOut: keyof LeftOut }> {
  try {
    const record = await subscriptions.getByID(subscriptionId);
    if (record === null) return { leftOut: 'unknown' };
    return owns(owned, record.userId) ? { userId: record.userId } : { leftOut: 'notOwned' };
  } catch (error) {
    if (error instanceof MalformedRowError) return { leftOut: 'unreadable' };
    throw error;
  }
}

const orderOf = (
  { userId, subscriptionId }: Pick<CollectionOrder, 'userId' | 'subscriptionId'>,
  { batchId, by }: { readonly batchId: string; readonly by: string },
): CollectionOrder => ({
  requestId: requestIdOf('batch', batchId, subscriptionId),
  path: 'BATCH',
  userId,
  subscriptionId,
  by,
});
