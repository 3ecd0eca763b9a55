import type { OwnedUsers } from '../domain/ownership.ts';
import { owns } from '../domain/ownership.ts';
import { requestIdOf } from '../domain/request-id.ts';
import type { SubscriptionId } from '../domain/subscription.ts';
import type { CollectionOrder, CollectionRequest } from '../ports/requests.ts';
import type { SubscriptionsRepository } from '../ports/subscriptions.ts';
import { aFewAtOnce } from './a-few-at-once.ts';
import type { RequestDependencies } from './accept-requests.ts';
import { acceptRequests } from './accept-requests.ts';

export interface BatchDependencies extends RequestDependencies {
  readonly subscriptions: Pick<SubscriptionsRepository, 'getByID'>;
  readonly owned: OwnedUsers;
}

export interface OrderedBatch {
  readonly accepted: readonly CollectionRequest[];
  /** Ids that no record has. */
  readonly unknown: readonly SubscriptionId[];
  /** Records of members whom the older service bills. */
  readonly notOwned: readonly SubscriptionId[];
}

/** What one process asks of the table at once. */
const LOOKED_UP_AT_ONCE = 8;

/** Asks for a list of records, whatever their date. Ordered again under the same id it is the same batch. */
export async function orderBatch(
  dependencies: BatchDependencies,
  { batchId, by }: { readonly batchId: string; readonly by: string },
  subscriptionIds: readonly SubscriptionId[],
): Promise<OrderedBatch> {
  const wanted = [...new Set(subscriptionIds)];
  const found = await aFewAtOnce(LOOKED_UP_AT_ONCE, wanted, async (subscriptionId) => ({
    subscriptionId,
    record: await dependencies.subscriptions.getByID(subscriptionId),
  }));
  const isOurs = ({ record }: (typeof found)[number]): boolean =>
    record !== null && owns(dependencies.owned, record.userId);
  const orders = found.filter(isOurs).flatMap(({ subscriptionId, record }): CollectionOrder[] =>
    record === null
      ? []
      : [
          {
            requestId: requestIdOf('batch', batchId, subscriptionId),
            path: 'BATCH',
            userId: record.userId,
            subscriptionId,
            by,
          },
        ],
  );
  return {
    accepted: await acceptRequests(dependencies, orders),
    unknown: found.filter(({ record }) => record === null).map(({ subscriptionId }) => subscriptionId),
    notOwned: found
      .filter((one) => one.record !== null && !isOurs(one))
      .map(({ subscriptionId }) => subscriptionId),
  };
}
