import type { Instant } from '../instant.ts';
import type { GatewayName, Slot } from './subscription.ts';
import type { PaymentWord, StateWord } from './transitions.ts';

/** Everything that a gateway says about the whole subscription, at once: nothing of it depends on what came before. */
export interface StateReport {
  readonly kind: 'state';
  readonly word: StateWord;
  readonly at: Instant;
  readonly startedAt: Instant | null;
  readonly expiresAt: Instant | null;
  readonly quantity: number;
  /** By the gateway's name for it. */
  readonly productId: string | null;
}

export interface PaymentReport {
  readonly kind: 'payment';
  readonly word: PaymentWord;
  readonly at: Instant;
}

/** Known and of no consequence here, or not known at all. Kept all the same. */
export interface NoReport {
  readonly kind: 'none';
  readonly reason: 'no-change' | 'unknown-event';
}

export type Report = StateReport | PaymentReport | NoReport;

/** Whose subscription it is, as far as the event tells: what the checkout was given to carry along. */
export interface Claim {
  /** The subscription that was started for this checkout. */
  readonly subscriptionId: string | null;
  /** Null where the event does not tell all of it. */
  readonly slot: Slot | null;
}

/** An event as its gateway meant it. */
export interface GatewayEvent {
  readonly gateway: GatewayName;
  /** The same each time that the gateway delivers it, and no other event's. */
  readonly identity: string;
  /** As the gateway calls it. */
  readonly name: string;
  /** The gateway's id of the subscription. Null: it is about none. */
  readonly ref: string | null;
  readonly claim: Claim;
  readonly report: Report;
}

/** Parts of an event's name in the house: no dot, so that it can be taken apart again. */
const PART = /^[\w-]{1,128}$/;

export const canBePart = (text: string): boolean => PART.test(text);

export interface EventAddress {
  readonly gateway: GatewayName;
  readonly ref: string | null;
  readonly identity: string;
}

/** `lemonsqueezy.1042.subscription_created-9f86…`, `apple_iap.2000000123.2f1c…`. */
export const eventIdOf = ({ gateway, ref, identity }: EventAddress): string =>
  `${gateway}.${ref ?? ''}.${identity}`;

/** Null for what names no event. */
export function addressOf(eventId: string): EventAddress | null {
  const [gateway = '', ref = '', identity = '', ...more] = eventId.split('.');
  const isName = canBePart(gateway) && canBePart(identity) && (ref === '' || canBePart(ref));
  if (!isName || more.length > 0) return null;
  return { gateway: gateway as GatewayName, ref: ref === '' ? null : ref, identity };
}
