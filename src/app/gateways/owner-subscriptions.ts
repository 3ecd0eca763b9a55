import type { Entitlement } from '../../domain/gateways/entitlement.ts';
import { entitlementOf } from '../../domain/gateways/entitlement.ts';
import type {
  GatewaySubscription,
  GatewaySubscriptionId,
  Owner,
} from '../../domain/gateways/subscription.ts';
import type { Clock } from '../../ports/clock.ts';
import type { GatewaySubscriptions } from '../../ports/gateways.ts';
import type { Log } from '../../ports/log.ts';

export interface OwnerDependencies {
  readonly gatewaySubscriptions: Pick<GatewaySubscriptions, 'get' | 'listByOwner'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What an owner has, or has had, of any SKU or of one. */
export async function subscriptionsOf(
  { gatewaySubscriptions, log }: OwnerDependencies,
  owner: Owner,
  sku?: string,
): Promise<readonly GatewaySubscription[]> {
  const { subscriptions, unreadable } = await gatewaySubscriptions.listByOwner(owner.ownerId, sku);
  for (const error of unreadable) log.error({ err: error }, 'a gateway subscription cannot be read');
  return subscriptions.filter((one) => isOf(owner, one));
}

/** Null: the owner has no such subscription. */
export async function subscriptionOf(
  { gatewaySubscriptions }: OwnerDependencies,
  owner: Owner,
  id: GatewaySubscriptionId,
): Promise<GatewaySubscription | null> {
  const found = await gatewaySubscriptions.get(id);
  return found !== null && isOf(owner, found) ? found : null;
}

/** Whether an owner may use a SKU now. Null: not. */
export async function entitledTo(
  dependencies: OwnerDependencies,
  owner: Owner,
  sku: string,
): Promise<Entitlement | null> {
  return entitlementOf(await subscriptionsOf(dependencies, owner, sku), dependencies.clock.now());
}

const isOf = ({ appId, ownerType, ownerId }: Owner, subscription: GatewaySubscription): boolean =>
  subscription.appId === appId && subscription.ownerType === ownerType && subscription.ownerId === ownerId;
