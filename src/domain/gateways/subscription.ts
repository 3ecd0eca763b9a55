import { v5 as uuidV5 } from 'uuid';
import type { Instant } from '../instant.ts';
import type { Mark } from './mark.ts';
import type { GatewayStatus } from './status.ts';
import type { PaymentWord, StateWord } from './transitions.ts';

export type GatewaySubscriptionId = string & { readonly __brand: 'GatewaySubscriptionId' };

/** `lemonsqueezy`, `apple_iap`. Which there are is known where the adapters are listed, and nowhere else. */
export type GatewayName = string & { readonly __brand: 'GatewayName' };

export const OWNER_TYPES = ['user', 'org'] as const;
export type OwnerType = (typeof OWNER_TYPES)[number];

export interface Owner {
  readonly appId: string;
  readonly ownerType: OwnerType;
  readonly ownerId: string;
}

/** What an owner has one active subscription of: the one that holds it keeps others out. */
export interface Slot extends Owner {
  readonly sku: string;
}

/** The newest word of the gateway about the whole subscription. */
export interface Told {
  readonly word: StateWord;
  readonly mark: Mark;
}

/** The newest word about a payment, as long as it is newer than that about the whole. */
export interface PaymentTold {
  readonly word: PaymentWord;
  readonly mark: Mark;
}

/** The gateway calls it active, and another one of the same owner and SKU is: an operator has to decide. */
export interface Collision {
  readonly wanted: GatewayStatus;
  readonly heldBy: GatewaySubscriptionId;
  readonly eventId: string;
  readonly since: Instant;
}

/** What an owner has of a SKU, as the gateway tells it. */
export interface GatewaySubscription extends Slot {
  readonly id: GatewaySubscriptionId;
  readonly productId: string;
  readonly status: GatewayStatus;
  readonly gateway: GatewayName;
  /** The gateway's own id. Null until its first word: a checkout was begun. */
  readonly gatewayRef: string | null;
  readonly startedAt: Instant | null;
  readonly expiresAt: Instant | null;
  /** Seats. */
  readonly quantity: number;
  /** One more with every write. 0: it was never written. */
  readonly lockVersion: number;
  readonly told: Told | null;
  readonly payment: PaymentTold | null;
  readonly collision: Collision | null;
}

export type NewSubscription = Slot &
  Pick<GatewaySubscription, 'id' | 'productId' | 'gateway' | 'gatewayRef' | 'quantity'>;

/** Before the gateway said anything about it. */
export const unheardOf = (subscription: NewSubscription): GatewaySubscription => ({
  ...subscription,
  status: 'pending',
  startedAt: null,
  expiresAt: null,
  lockVersion: 0,
  told: null,
  payment: null,
  collision: null,
});

/** Our own name space, so that the id cannot meet one made elsewhere. */
const NAMESPACE = '0c1a86a4-2f0b-5a0f-8d1e-5a3d6f1c7b42';

/** Of a subscription that was not started here: every event about it gives the same id. */
export const idOfRef = (gateway: GatewayName, ref: string): GatewaySubscriptionId =>
  uuidV5(`${gateway}.${ref}`, NAMESPACE) as GatewaySubscriptionId;
