import type { CalendarDate } from '../domain/calendar-date.ts';
import type { EventAddress, GatewayEvent } from '../domain/gateways/gateway-event.ts';
import type { GatewayStatus } from '../domain/gateways/status.ts';
import type {
  GatewayName,
  GatewaySubscription,
  GatewaySubscriptionId,
  Slot,
} from '../domain/gateways/subscription.ts';
import type { Instant } from '../domain/instant.ts';
import type { PageKey } from './subscriptions.ts';

/** What a webhook brought, byte for byte: the signature is over these bytes and no others. */
export interface Delivery {
  readonly body: Uint8Array;
  readonly header: (name: string) => string | undefined;
}

/** Whether the gateway itself sent this, and to us. False for whatever else comes; it never throws for that. */
export type Verify = (delivery: Delivery) => Promise<boolean>;

/** A payment gateway: how its events are read. Everything about one gateway is behind this. */
export interface Gateway {
  readonly name: GatewayName;
  /** Where it posts: `POST /webhooks/{path}`. */
  readonly path: string;
  /**
   * What a body that was verified says. The same each time, so that a stored one can be applied again; it needs no
   * secret. Throws a MalformedEventError.
   */
  read(body: Uint8Array): GatewayEvent;
  /** The same for people, without what nobody needs to see. Throws a MalformedEventError. */
  show(body: Uint8Array): object;
}

/**
 * `applied`; `held`, because another subscription is active: it waits for somebody; `stale`, older than what was applied
 * last; `recorded`, nothing follows from it; `unmatched`, nobody can tell whose it is; `unreadable`; `failed`, its job
 * gave up.
 */
export const GATEWAY_RESULTS = [
  'applied',
  'held',
  'stale',
  'recorded',
  'unmatched',
  'unreadable',
  'failed',
] as const;
export type GatewayResult = (typeof GATEWAY_RESULTS)[number];

/** With these somebody has to look at the event itself. */
export const TROUBLED: ReadonlySet<GatewayResult> = new Set<GatewayResult>([
  'unmatched',
  'unreadable',
  'failed',
]);

/** What an event did. */
export interface GatewayOutcome {
  readonly result: GatewayResult;
  readonly reason: string;
  readonly subscriptionId: GatewaySubscriptionId | null;
  readonly from: GatewayStatus | null;
  readonly to: GatewayStatus | null;
  readonly at: Instant;
}

/** An event as it came, and what it did. */
export interface StoredGatewayEvent extends EventAddress {
  readonly eventId: string;
  /** As the gateway calls it; `unreadable` where that cannot be told. */
  readonly name: string;
  readonly body: Uint8Array;
  readonly receivedAt: Instant;
  /** Null: it waits to be applied. */
  readonly outcome: GatewayOutcome | null;
  /** How often somebody had it applied again. */
  readonly replays: number;
}

export interface GatewayEventPage {
  readonly events: readonly StoredGatewayEvent[];
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

/** Every event that a gateway has sent, for as long as anybody may ask about it. */
export interface GatewayEvents {
  /** False when it is there already: it was delivered again. */
  add(event: StoredGatewayEvent): Promise<boolean>;
  /** Consistent. */
  get(eventId: string): Promise<StoredGatewayEvent | null>;
  /** What it did, where no subscription changes. False: somebody else has said so meanwhile. */
  close(event: StoredGatewayEvent, outcome: GatewayOutcome): Promise<boolean>;
  /** It waits again. Null: it does already, or somebody was faster. */
  reopen(event: StoredGatewayEvent, at: Instant): Promise<StoredGatewayEvent | null>;
  /** All about one subscription of a gateway, consistent, in no order. */
  ofRef(gateway: GatewayName, ref: string): Promise<Omit<GatewayEventPage, 'nextKey'>>;
  /** Those that wait since then or longer: their jobs may be lost. */
  waiting(before: Instant, key: PageKey | null): Promise<GatewayEventPage>;
  /** Those that somebody has to look at. */
  troubled(key: PageKey | null): Promise<GatewayEventPage>;
  /** What came on a day and was dealt with, the newest first. */
  ofDay(day: CalendarDate, key: PageKey | null): Promise<GatewayEventPage>;
}

export interface GatewaySubscriptionPage {
  readonly subscriptions: readonly GatewaySubscription[];
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

/** One change, written whole or not at all. */
export interface SubscriptionChange {
  /** As it was read; `lockVersion` 0 for a new one. */
  readonly before: GatewaySubscription;
  readonly after: GatewaySubscription;
  /** The event because of which it changes, and what it did. Null: none is. */
  readonly because: { readonly event: StoredGatewayEvent; readonly outcome: GatewayOutcome } | null;
}

/** What owners have of each SKU. Every write is conditional on `lock_version`, and keeps one active per slot. */
export interface GatewaySubscriptions {
  /** Consistent. */
  get(id: GatewaySubscriptionId): Promise<GatewaySubscription | null>;
  /** By the gateway's own id. Consistent. */
  byRef(gateway: GatewayName, ref: string): Promise<GatewaySubscriptionId | null>;
  /** Who has the owner's one active place. Consistent. */
  holderOf(slot: Slot): Promise<GatewaySubscriptionId | null>;
  /** From the index: one made just now may be missing. */
  listByOwner(ownerId: string, sku?: string): Promise<Omit<GatewaySubscriptionPage, 'nextKey'>>;
  /**
   * One transaction: the row, the slot that it takes or leaves, the link from the gateway's id, and what the event did.
   * A RecordChangedError says that something is no longer as it was read: read again and decide again.
   */
  save(change: SubscriptionChange): Promise<GatewaySubscription>;
  /** Cancelled ones whose time is over. */
  lapsed(asOf: Instant, key: PageKey | null): Promise<GatewaySubscriptionPage>;
  /** Those that collided with another, oldest first within each part of the list. */
  collisions(key: PageKey | null): Promise<GatewaySubscriptionPage>;
}
