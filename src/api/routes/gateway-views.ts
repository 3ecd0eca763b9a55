import { z } from 'zod';
import { GATEWAY_STATUSES } from '../../domain/gateways/status.ts';
import type { GatewaySubscription } from '../../domain/gateways/subscription.ts';
import { OWNER_TYPES } from '../../domain/gateways/subscription.ts';
import { formatIfSet, formatInstant } from '../../domain/instant.ts';
import type { StoredGatewayEvent } from '../../ports/gateways.ts';
import { GATEWAY_RESULTS } from '../../ports/gateways.ts';
import { timeText } from '../fields.ts';

const status = z.enum(GATEWAY_STATUSES);

export const subscriptionView = z.strictObject({
  id: z.string(),
  app_id: z.string(),
  owner_type: z.enum(OWNER_TYPES),
  owner_id: z.string(),
  product_id: z.string(),
  sku: z.string(),
  status,
  gateway: z.string(),
  gateway_ref: z.string().nullable().meta({ description: 'Null until the gateway has spoken of it' }),
  started_at: timeText.nullable(),
  expires_at: timeText.nullable(),
  quantity: z.int().meta({ description: 'Seats' }),
  lock_version: z.int(),
  collision: z
    .strictObject({ wanted: status, held_by: z.string(), event_id: z.string(), since: timeText })
    .nullable()
    .meta({ description: 'The gateway calls it active, and another one of this owner and SKU is' }),
});

export const viewOfSubscription = ({
  collision,
  ...subscription
}: GatewaySubscription): z.output<typeof subscriptionView> => ({
  id: subscription.id,
  app_id: subscription.appId,
  owner_type: subscription.ownerType,
  owner_id: subscription.ownerId,
  product_id: subscription.productId,
  sku: subscription.sku,
  status: subscription.status,
  gateway: subscription.gateway,
  gateway_ref: subscription.gatewayRef,
  started_at: formatIfSet(subscription.startedAt),
  expires_at: formatIfSet(subscription.expiresAt),
  quantity: subscription.quantity,
  lock_version: subscription.lockVersion,
  collision:
    collision === null
      ? null
      : {
          wanted: collision.wanted,
          held_by: collision.heldBy,
          event_id: collision.eventId,
          since: formatInstant(collision.since),
        },
});

export const eventView = z.strictObject({
  event_id: z.string(),
  gateway: z.string(),
  gateway_ref: z.string().nullable(),
  name: z.string(),
  received_at: timeText,
  replays: z.int(),
  outcome: z
    .strictObject({
      result: z.enum(GATEWAY_RESULTS),
      reason: z.string(),
      subscription_id: z.string().nullable(),
      from: status.nullable(),
      to: status.nullable(),
      at: timeText,
    })
    .nullable()
    .meta({ description: 'What it did; null while it waits to be applied' }),
});

export const viewOfEvent = ({ outcome, ...event }: StoredGatewayEvent): z.output<typeof eventView> => ({
  event_id: event.eventId,
  gateway: event.gateway,
  gateway_ref: event.ref,
  name: event.name,
  received_at: formatInstant(event.receivedAt),
  replays: event.replays,
  outcome:
    outcome === null
      ? null
      : {
          result: outcome.result,
          reason: outcome.reason,
          subscription_id: outcome.subscriptionId,
          from: outcome.from,
          to: outcome.to,
          at: formatInstant(outcome.at),
        },
});
