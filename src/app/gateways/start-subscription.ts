import type {
  GatewayName,
  GatewaySubscription,
  GatewaySubscriptionId,
  Slot,
} from '../../domain/gateways/subscription.ts';
import { unheardOf } from '../../domain/gateways/subscription.ts';
import { RecordChangedError } from '../../errors.ts';
import type { GatewaySubscriptions } from '../../ports/gateways.ts';

export interface StartDependencies {
  readonly gatewaySubscriptions: GatewaySubscriptions;
  /** Names subscriptions: UUIDs, which is what Apple lets a purchase carry along. */
  readonly ids: () => string;
}

export interface Checkout extends Slot {
  readonly gateway: GatewayName;
  readonly productId: string;
  readonly quantity: number;
}

export type Start =
  /** With `isNew` false it was begun before. */
  | { readonly result: 'pending'; readonly subscription: GatewaySubscription; readonly isNew: boolean }
  /** The owner has one that is active. */
  | { readonly result: 'taken'; readonly subscription: GatewaySubscription };

const MOST_TRIES = 10;

/** A subscription for a checkout to complete. A caller who begins the same again gets the same one. */
export async function startSubscription(dependencies: StartDependencies, checkout: Checkout): Promise<Start> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startOnce(dependencies, checkout);
    } catch (error) {
      if (!(error instanceof RecordChangedError) || tries >= MOST_TRIES) throw error;
    }
  }
}

async function startOnce(
  { gatewaySubscriptions, ids }: StartDependencies,
  checkout: Checkout,
): Promise<Start> {
  const { gateway, productId, quantity } = checkout;
  const holder = await gatewaySubscriptions.holderOf(checkout);
  const found = holder === null ? null : await gatewaySubscriptions.get(holder);
  if (found === null) {
    const begun = unheardOf({ ...checkout, id: ids() as GatewaySubscriptionId, gatewayRef: null });
    const subscription = await gatewaySubscriptions.save({ before: begun, after: begun, because: null });
    return { result: 'pending', subscription, isNew: true };
  }
  if (found.status !== 'pending') return { result: 'taken', subscription: found };
  const wanted = { ...found, gateway, productId, quantity };
  const isSame = found.gateway === gateway && found.productId === productId && found.quantity === quantity;
  // The gateway has spoken of it: what it is of is not the customer's choice any more.
  if (isSame || found.gatewayRef !== null) return { result: 'pending', subscription: found, isNew: false };
  const subscription = await gatewaySubscriptions.save({ before: found, after: wanted, because: null });
  return { result: 'pending', subscription, isNew: false };
}
