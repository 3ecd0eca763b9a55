import type { GatewayEvent } from '../../domain/gateways/gateway-event.ts';
import type { GatewaySubscription, GatewaySubscriptionId, Slot } from '../../domain/gateways/subscription.ts';
import { idOfRef, unheardOf } from '../../domain/gateways/subscription.ts';
import type { GatewaySubscriptions } from '../../ports/gateways.ts';

/** The subscription that an event is about, and which one has the active place that it may want. */
export interface Matched {
  /** As it is stored. One that is new here is not in the store yet. */
  readonly stored: GatewaySubscription;
  /** The same, now that the gateway has given it its own id. */
  readonly subscription: GatewaySubscription;
  readonly holder: GatewaySubscriptionId | null;
}

/** Null: it cannot be told whose it is. */
export async function findSubscription(
  subscriptions: GatewaySubscriptions,
  event: GatewayEvent,
): Promise<Matched | null> {
  const { gateway, ref } = event;
  if (ref === null) return null;
  const stored = (await linked(subscriptions, event, ref)) ?? (await claimed(subscriptions, event, ref));
  if (stored === null) return null;
  const holder = await subscriptions.holderOf(stored);
  return { stored, subscription: { ...stored, gateway, gatewayRef: ref }, holder };
}

async function linked(
  subscriptions: GatewaySubscriptions,
  { gateway }: GatewayEvent,
  ref: string,
): Promise<GatewaySubscription | null> {
  const id = await subscriptions.byRef(gateway, ref);
  if (id === null) return null;
  const subscription = await subscriptions.get(id);
  if (subscription === null) throw new Error(`${gateway} ${ref} is linked to ${id}, which is not there`);
  return subscription;
}

/**
 * The first time that the gateway speaks of it: the checkout that it names, or any other that its owner has begun for
 * the SKU, becomes this subscription; else it is a new one.
 */
async function claimed(
  subscriptions: GatewaySubscriptions,
  { gateway, claim }: GatewayEvent,
  ref: string,
): Promise<GatewaySubscription | null> {
  const named =
    claim.subscriptionId === null
      ? null
      : await subscriptions.get(claim.subscriptionId as GatewaySubscriptionId);
  if (named !== null && isUnclaimed(named)) return named;
  // A checkout that was used before: the customer has bought the same again.
  const slot: Slot | null = named ?? claim.slot;
  if (slot === null) return null;
  const begun = await checkoutOf(subscriptions, slot);
  if (begun !== null) return begun;
  const { appId, ownerType, ownerId, sku } = slot;
  return unheardOf({
    id: idOfRef(gateway, ref),
    appId,
    ownerType,
    ownerId,
    sku,
    productId: named?.productId ?? sku,
    gateway,
    gatewayRef: ref,
    quantity: 1,
  });
}

async function checkoutOf(
  subscriptions: GatewaySubscriptions,
  slot: Slot,
): Promise<GatewaySubscription | null> {
  const holder = await subscriptions.holderOf(slot);
  const found = holder === null ? null : await subscriptions.get(holder);
  return found !== null && isUnclaimed(found) ? found : null;
}

const isUnclaimed = ({ status, gatewayRef }: GatewaySubscription): boolean =>
  status === 'pending' && gatewayRef === null;
