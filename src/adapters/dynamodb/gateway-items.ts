import { createHash } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { CalendarDate } from '../../domain/calendar-date.ts';
import { dateOf } from '../../domain/calendar-date.ts';
import type { EventAddress } from '../../domain/gateways/gateway-event.ts';
import { addressOf } from '../../domain/gateways/gateway-event.ts';
import { GATEWAY_STATUSES } from '../../domain/gateways/status.ts';
import type {
  GatewayName,
  GatewaySubscription,
  GatewaySubscriptionId,
  Slot,
} from '../../domain/gateways/subscription.ts';
import { OWNER_TYPES } from '../../domain/gateways/subscription.ts';
import { PAYMENT_WORDS, STATE_WORDS } from '../../domain/gateways/transitions.ts';
import { plusDays, sortableText } from '../../domain/instant.ts';
import type { StoredGatewayEvent } from '../../ports/gateways.ts';
import { GATEWAY_RESULTS, TROUBLED } from '../../ports/gateways.ts';
import { instant } from '../codecs.ts';
import type { PipelineKey } from './item-codec.ts';
import { dueAttributes, read, ttlSeconds, write } from './item-codec.ts';
import type { RawItem } from './raw-item.ts';
import { keyText } from './raw-item.ts';
import { readRow } from './read-rows.ts';

/*
 * In the table of gateway subscriptions: one row per subscription, by its id.
 * In the pipeline table:
 *
 *   GATEWAYREF#gateway#ref           LINK            which subscription the gateway means by this id
 *   GATEWAYREF#gateway#ref           EVENT#identity  an event about it, as it came, and what it did
 *   GATEWAYEVENT#gateway#identity    EVENT#identity  the same of an event that is about no subscription
 *   GATEWAYSLOT#digest               SLOT            which subscription is the owner's active one of a SKU
 */

/** Lists, by what is to be done. A row or event is in one of them at most. */
export const LAPSING = 'gateway-lapsing';
export const COLLISIONS = 'gateway-collisions';
export const WAITING = 'gateway-events';
export const TROUBLED_EVENTS = 'gateway-troubled';
export const eventsOfDay = (day: CalendarDate): string => `gateway-events-of#${day}`;

/** Longer than a yearly period: what a renewal did can still be looked at when the next one comes. */
const EVENT_DAYS = 400;

export const refPartition = (gateway: GatewayName, ref: string): string => `GATEWAYREF#${gateway}#${ref}`;

/** Owners and SKUs are named by other systems, at any length and with any character. */
const digestOf = ({ appId, ownerType, ownerId, sku }: Slot): string =>
  createHash('sha256')
    .update(JSON.stringify([appId, ownerType, ownerId, sku]))
    .digest('hex');

export const gatewayKeys = {
  link: (gateway: GatewayName, ref: string): PipelineKey => ({ pk: refPartition(gateway, ref), sk: 'LINK' }),
  event: ({ gateway, ref, identity }: EventAddress): PipelineKey => ({
    pk: ref === null ? `GATEWAYEVENT#${gateway}#${identity}` : refPartition(gateway, ref),
    sk: `EVENT#${identity}`,
  }),
  slot: (slot: Slot): PipelineKey => ({ pk: `GATEWAYSLOT#${digestOf(slot)}`, sk: 'SLOT' }),
} as const;

const id = z.custom<GatewaySubscriptionId>((value) => typeof value === 'string' && value !== '');
const gatewayName = z.custom<GatewayName>((value) => typeof value === 'string' && value !== '');
const status = z.enum(GATEWAY_STATUSES);
const mark = z.object({ at: instant, status, by: z.string() });

const row = z.object({
  id,
  app_id: z.string(),
  owner_type: z.enum(OWNER_TYPES),
  owner_id: z.string(),
  product_id: z.string(),
  sku: z.string(),
  status,
  gateway: gatewayName,
  gateway_ref: z.string().nullable(),
  started_at: instant.nullable(),
  expires_at: instant.nullable(),
  quantity: z.int(),
  lock_version: z.int(),
  told: z.object({ word: z.enum(STATE_WORDS), mark }).nullable(),
  payment: z.object({ word: z.enum(PAYMENT_WORDS), mark }).nullable(),
  collision: z.object({ wanted: status, heldBy: id, eventId: z.string(), since: instant }).nullable(),
});

export function readGatewaySubscription(item: RawItem): GatewaySubscription {
  const key = keyText(item, 'id');
  const {
    told,
    payment,
    collision,
    id: itsId,
    sku,
    gateway,
    quantity,
    ...columns
  } = readRow(row, item, {
    name: `gateway subscription ${key}`,
    userId: item['owner_id']?.S ?? '?',
    subscriptionId: key,
  });
  return {
    id: itsId,
    appId: columns.app_id,
    ownerType: columns.owner_type,
    ownerId: columns.owner_id,
    productId: columns.product_id,
    sku,
    status: columns.status,
    gateway,
    gatewayRef: columns.gateway_ref,
    startedAt: columns.started_at,
    expiresAt: columns.expires_at,
    quantity,
    lockVersion: columns.lock_version,
    told,
    payment,
    collision,
  };
}

/** `changeId` names the transaction that wrote it. */
export function writeGatewaySubscription(content: GatewaySubscription, changeId: string): RawItem {
  const { told, payment, collision } = content;
  const columns = z.encode(row, {
    id: content.id,
    app_id: content.appId,
    owner_type: content.ownerType,
    owner_id: content.ownerId,
    product_id: content.productId,
    sku: content.sku,
    status: content.status,
    gateway: content.gateway,
    gateway_ref: content.gatewayRef,
    started_at: content.startedAt,
    expires_at: content.expiresAt,
    quantity: content.quantity,
    lock_version: content.lockVersion,
    told,
    payment,
    collision,
  });
  return marshall({ ...columns, change_id: changeId, ...listOf(content) });
}

/** Two of these cannot be: what collided is past due. */
function listOf({ id: itsId, status: stands, expiresAt, collision }: GatewaySubscription): object {
  if (collision !== null) return { dueList: COLLISIONS, dueAt: sortableText(collision.since) };
  if (stands !== 'cancelled' || expiresAt === null) return {};
  return dueAttributes(itsId, { list: LAPSING, at: expiresAt });
}

const link = z.object({ subscriptionId: id });

export const readSubscriptionId = (item: RawItem): GatewaySubscriptionId => read(link, item).subscriptionId;

export const writeLink = (key: PipelineKey, subscriptionId: GatewaySubscriptionId): RawItem =>
  write(link, { subscriptionId }, key);

const outcome = z.object({
  result: z.enum(GATEWAY_RESULTS),
  reason: z.string(),
  subscriptionId: id.nullable(),
  from: status.nullable(),
  to: status.nullable(),
  at: instant,
});

const event = z.object({
  eventId: z.string(),
  gateway: gatewayName,
  ref: z.string().nullable(),
  identity: z.string(),
  name: z.string(),
  body: z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'bytes'),
  receivedAt: instant,
  outcome: outcome.nullable(),
  replays: z.int(),
}) satisfies z.ZodType<StoredGatewayEvent>;

export const readGatewayEvent = (item: RawItem): StoredGatewayEvent => read(event, item);

/** In the list of what is to be applied until it was. `waitsSince` is later than its coming where it was replayed. */
export const writeWaiting = (content: StoredGatewayEvent, waitsSince = content.receivedAt): RawItem =>
  write(event, content, {
    ...gatewayKeys.event(content),
    ...dueAttributes(content.eventId, { list: WAITING, at: waitsSince }),
  });

export function writeDone(
  content: StoredGatewayEvent & { readonly outcome: NonNullable<StoredGatewayEvent['outcome']> },
): RawItem {
  const { outcome: did, receivedAt } = content;
  const list = TROUBLED.has(did.result)
    ? { dueList: TROUBLED_EVENTS, dueAt: sortableText(did.at) }
    : { dueList: eventsOfDay(dateOf(receivedAt)), dueAt: sortableText(receivedAt) };
  return write(event, content, {
    ...gatewayKeys.event(content),
    ...list,
    expires_at: ttlSeconds(plusDays(receivedAt, EVENT_DAYS)),
  });
}

/** Null for what cannot be an event's id. */
export function eventKey(eventId: string): PipelineKey | null {
  const address = addressOf(eventId);
  return address === null ? null : gatewayKeys.event(address);
}
