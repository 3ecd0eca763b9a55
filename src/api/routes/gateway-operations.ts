import { z } from 'zod';
import type { ReplayEventDependencies } from '../../app/gateways/replay-event.ts';
import { replayEvent } from '../../app/gateways/replay-event.ts';
import { whatItSays } from '../../app/gateways/what-it-says.ts';
import { dateOf } from '../../domain/calendar-date.ts';
import type { Gateway, GatewaySubscriptions } from '../../ports/gateways.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import { cursor, date } from '../fields.ts';
import { Problem } from '../problems.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';
import { eventView, subscriptionView, viewOfEvent, viewOfSubscription } from './gateway-views.ts';

export interface GatewayOperationDependencies extends ReplayEventDependencies {
  readonly gateways: readonly Gateway[];
  readonly gatewaySubscriptions: Pick<GatewaySubscriptions, 'collisions'>;
}

const tag = 'Operations';
/** Longer than other ids: the gateway, its id of the subscription, and a digest. */
const eventId = z.string().min(1, 'an event').max(400, 'an event');
const ofEvent = z.strictObject({ event_id: eventId });
const next = z.string().nullable().meta({ description: 'For `after`; null on the last page' });

export const gatewayOperationRoutes = (dependencies: GatewayOperationDependencies): Route[] => [
  route({
    method: 'get',
    path: '/ops/gateway-collisions',
    tag,
    summary: 'Subscriptions that their gateway calls active while another of the same owner and SKU is',
    description:
      'Each is kept `past_due`. End one of the two at its gateway; then replay the event that it waits with.',
    role: 'viewer',
    query: z.strictObject({ after: cursor.optional() }),
    answers: { 200: z.strictObject({ collisions: z.array(subscriptionView), next }) },
    async handle({ query }) {
      const { subscriptions, unreadable, nextKey } = await dependencies.gatewaySubscriptions.collisions(
        (query.after ?? null) as PageKey | null,
      );
      for (const error of unreadable)
        dependencies.log.error({ err: error }, 'a gateway subscription cannot be read');
      return { status: 200, body: { collisions: subscriptions.map(viewOfSubscription), next: nextKey } };
    },
  }),
  route({
    method: 'get',
    path: '/ops/gateway-events',
    tag,
    summary: 'What gateways have sent on a day, the newest first, or what somebody has to look at',
    role: 'viewer',
    query: z.strictObject({
      day: date.optional(),
      troubled: z
        .enum(['true', 'false'], 'true or false')
        .default('false')
        .meta({ description: 'Those that could not be read, matched to an owner, or applied, of any day' }),
      after: cursor.optional(),
    }),
    answers: { 200: z.strictObject({ events: z.array(eventView), next }) },
    async handle({ query }) {
      const { gatewayEvents, clock, log } = dependencies;
      const after = (query.after ?? null) as PageKey | null;
      const page =
        query.troubled === 'true'
          ? await gatewayEvents.troubled(after)
          : await gatewayEvents.ofDay(query.day ?? dateOf(clock.now()), after);
      for (const error of page.unreadable) log.error({ err: error }, 'an event of a gateway cannot be read');
      return { status: 200, body: { events: page.events.map(viewOfEvent), next: page.nextKey } };
    },
  }),
  route({
    method: 'get',
    path: '/ops/gateway-events/{event_id}',
    tag,
    summary: 'One event: what it said and what it did',
    role: 'viewer',
    params: ofEvent,
    answers: {
      200: z.strictObject({
        ...eventView.shape,
        data: z
          .unknown()
          .meta({ description: 'What it says, without who the customer is; null where it cannot be read' }),
      }),
    },
    problems: ['not-found'],
    async handle({ params }) {
      const event = await dependencies.gatewayEvents.get(params.event_id);
      if (event === null) throw notThere();
      return { status: 200, body: { ...viewOfEvent(event), data: whatItSays(dependencies.gateways, event) } };
    },
  }),
  route({
    method: 'post',
    path: '/ops/gateway-events/{event_id}/replay',
    tag,
    summary: 'Have a stored event applied again',
    description:
      'After what stood against it is gone. It keeps its place in the order: it undoes nothing that came after it.',
    role: 'operator',
    params: ofEvent,
    answers: { 202: z.strictObject({ replayed: z.string(), handed_over: z.boolean() }) },
    problems: ['not-found'],
    async handle({ params }) {
      const replay = await replayEvent(dependencies, params.event_id);
      if (replay.result === 'unknown') throw notThere();
      return { status: 202, body: { replayed: params.event_id, handed_over: replay.handedOver } };
    },
  }),
];

const notThere = (): Problem => new Problem('not-found', 'no event of that name has come');
