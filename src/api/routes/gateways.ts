import { z } from 'zod';
import type { OwnerDependencies } from '../../app/gateways/owner-subscriptions.ts';
import { entitledTo, subscriptionOf, subscriptionsOf } from '../../app/gateways/owner-subscriptions.ts';
import type { StartDependencies } from '../../app/gateways/start-subscription.ts';
import { startSubscription } from '../../app/gateways/start-subscription.ts';
import type {
  GatewaySubscription,
  GatewaySubscriptionId,
  Owner,
} from '../../domain/gateways/subscription.ts';
import { OWNER_TYPES } from '../../domain/gateways/subscription.ts';
import { formatIfSet } from '../../domain/instant.ts';
import type { Gateway, GatewayEvents } from '../../ports/gateways.ts';
import { name, timeText } from '../fields.ts';
import { Problem } from '../problems.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';
import { eventView, subscriptionView, viewOfEvent, viewOfSubscription } from './gateway-views.ts';

export interface GatewayRouteDependencies extends OwnerDependencies, StartDependencies {
  readonly gateways: readonly Gateway[];
  readonly gatewaySubscriptions: StartDependencies['gatewaySubscriptions'];
  readonly gatewayEvents: GatewayEvents;
}

const tag = 'Gateway subscriptions';
const OWNER = '/v1/apps/{app_id}/owners/{owner_type}/{owner_id}/subscriptions';

const owner = { app_id: name, owner_type: z.enum(OWNER_TYPES), owner_id: name };
const ofOwner = z.strictObject(owner);
const ofSubscription = z.strictObject({ ...owner, subscription_id: name });

const ownerIn = (params: z.output<typeof ofOwner>): Owner => ({
  appId: params.app_id,
  ownerType: params.owner_type,
  ownerId: params.owner_id,
});

const entitlement = z.strictObject({
  entitled: z.boolean(),
  until: timeText.nullable().meta({ description: 'Null: not entitled, or no end is known' }),
  seats: z.int(),
  subscription_id: z.string().nullable(),
});

const NOT_ENTITLED = { entitled: false, until: null, seats: 0, subscription_id: null };
const MOST_SEATS = 1_000_000;

export const gatewayRoutes = (dependencies: GatewayRouteDependencies): Route[] => [
  route({
    method: 'get',
    path: OWNER,
    tag,
    summary: 'What an owner has, or has had, by way of payment gateways',
    role: 'viewer',
    params: ofOwner,
    query: z.strictObject({ sku: name.optional() }),
    answers: { 200: z.strictObject({ subscriptions: z.array(subscriptionView) }) },
    async handle({ params, query }) {
      const found = await subscriptionsOf(dependencies, ownerIn(params), query.sku);
      return { status: 200, body: { subscriptions: found.map(viewOfSubscription) } };
    },
  }),
  route({
    method: 'post',
    path: OWNER,
    tag,
    summary: 'Start a subscription for a checkout to complete',
    description:
      'It is `pending` until the gateway says that it was bought. Let the checkout carry its id along: as `subscription_id` in the custom data of Lemon Squeezy, as `appAccountToken` of Apple. Started again, it is the same one.',
    role: 'operator',
    params: ofOwner,
    body: z.strictObject({
      sku: name,
      product_id: name.optional().meta({ description: 'The SKU where none is named' }),
      gateway: z.enum(dependencies.gateways.map((gateway) => gateway.name)),
      quantity: z
        .int('a number of seats')
        .min(1, 'at least 1')
        .max(MOST_SEATS, `at most ${MOST_SEATS}`)
        .default(1),
    }),
    answers: { 200: subscriptionView, 201: subscriptionView },
    problems: ['already-subscribed'],
    async handle({ params, body }) {
      const { sku, product_id: productId = sku, gateway, quantity } = body;
      const wish = { ...ownerIn(params), sku, productId, gateway, quantity };
      const start = await startSubscription(dependencies, wish);
      if (start.result === 'taken') {
        const { id, status } = start.subscription;
        throw new Problem('already-subscribed', `subscription ${id} is ${status}`);
      }
      return { status: start.isNew ? 201 : 200, body: viewOfSubscription(start.subscription) };
    },
  }),
  route({
    method: 'get',
    path: `${OWNER}/entitled`,
    tag,
    summary: 'May the owner use this SKU now, until when, and with how many seats?',
    role: 'viewer',
    params: ofOwner,
    query: z.strictObject({ sku: name }),
    answers: { 200: entitlement },
    async handle({ params, query }) {
      const found = await entitledTo(dependencies, ownerIn(params), query.sku);
      if (found === null) return { status: 200, body: NOT_ENTITLED };
      const { until, seats, subscription } = found;
      const body = { entitled: true, until: formatIfSet(until), seats, subscription_id: subscription.id };
      return { status: 200, body };
    },
  }),
  route({
    method: 'get',
    path: `${OWNER}/{subscription_id}`,
    tag,
    summary: 'One subscription',
    role: 'viewer',
    params: ofSubscription,
    answers: { 200: subscriptionView },
    problems: ['not-found'],
    async handle({ params }) {
      return { status: 200, body: viewOfSubscription(await theirs(dependencies, params)) };
    },
  }),
  route({
    method: 'get',
    path: `${OWNER}/{subscription_id}/events`,
    tag,
    summary: 'What its gateway has sent about it, and what each event did; the newest first',
    role: 'viewer',
    params: ofSubscription,
    answers: { 200: z.strictObject({ events: z.array(eventView) }) },
    problems: ['not-found'],
    async handle({ params }) {
      const { gateway, gatewayRef } = await theirs(dependencies, params);
      if (gatewayRef === null) return { status: 200, body: { events: [] } };
      const { events } = await dependencies.gatewayEvents.ofRef(gateway, gatewayRef);
      const newestFirst = events.toSorted((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1));
      return { status: 200, body: { events: newestFirst.map(viewOfEvent) } };
    },
  }),
];

async function theirs(
  dependencies: GatewayRouteDependencies,
  params: z.output<typeof ofSubscription>,
): Promise<GatewaySubscription> {
  const { subscription_id: id, ...rest } = params;
  const found = await subscriptionOf(dependencies, ownerIn(rest), id as GatewaySubscriptionId);
  if (found === null) throw new Problem('not-found', 'the owner has no such subscription');
  return found;
}
