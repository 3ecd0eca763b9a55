import type { Request, Response, Router } from 'express';
import express from 'express';
import { whatItSays } from '../src/app/gateways/what-it-says.ts';
import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { dateOf, parseDate } from '../src/domain/calendar-date.ts';
import type { GatewaySubscription, GatewaySubscriptionId } from '../src/domain/gateways/subscription.ts';
import type { StoredGatewayEvent } from '../src/ports/gateways.ts';
import type { ConsoleContext } from './console-context.ts';
import { mayAct, queryText, show } from './console-context.ts';
import { noticeOf } from './notices.ts';
import { PageError, notThere } from './page-error.ts';
import { gatewayEventPage, gatewaySubscriptionPage, gatewaysPage } from './pages/gateways.ts';
import type { Answer } from './patience.ts';

const SECTION = '/gateways';

/** Pages about what payment gateways tell. */
export function gatewayPages(context: ConsoleContext): Router {
  const router = express.Router();
  router.get('/gateways', (request, response) => overview(context, request, response));
  router.get('/gateways/subscriptions/:id', (request, response) => subscription(context, request, response));
  router.get('/gateways/events/:eventId', (request, response) => event(context, request, response));
  return router;
}

async function overview(context: ConsoleContext, request: Request, response: Response): Promise<void> {
  const { stores, patience, clock } = context;
  const { gatewayEvents, gatewaySubscriptions } = stores;
  const ownerId = queryText(request, 'owner')?.trim() ?? '';
  const sku = queryText(request, 'sku')?.trim() ?? '';
  const today = dateOf(clock.now());
  const day = dayIn(request) ?? today;
  const [found, collisions, troubled, events] = await Promise.all([
    patience.ask(() => ofOwner(context, ownerId, sku)),
    patience.ask(() => gatewaySubscriptions.collisions(null)),
    patience.ask(() => gatewayEvents.troubled(null)),
    patience.ask(() => gatewayEvents.ofDay(day, null)),
  ]);
  const search = ownerId === '' ? null : { ownerId, sku };
  const page = gatewaysPage({ search, found, collisions, troubled, day, today, events });
  await show(context, response, { title: 'Gateways', section: SECTION, notice: noticeOf(request) }, page);
}

function dayIn(request: Request): CalendarDate | null {
  const text = queryText(request, 'day');
  if (text === null) return null;
  const day = parseDate(text);
  if (day === null) throw new PageError(400, 'Not understood', 'There is no such day.', SECTION);
  return day;
}

async function ofOwner(
  { stores }: ConsoleContext,
  ownerId: string,
  sku: string,
): Promise<readonly GatewaySubscription[]> {
  if (ownerId === '' || ownerId.length > 256 || sku.length > 256) return [];
  const { subscriptions } = await stores.gatewaySubscriptions.listByOwner(
    ownerId,
    sku === '' ? undefined : sku,
  );
  return subscriptions;
}

async function subscription(context: ConsoleContext, request: Request, response: Response): Promise<void> {
  const { stores, patience } = context;
  const id = String(request.params['id']) as GatewaySubscriptionId;
  const found = id.length > 256 ? null : await patience.inTime(() => stores.gatewaySubscriptions.get(id));
  if (found === null) throw notThere('There is no such subscription.', SECTION);
  const { gateway, gatewayRef } = found;
  const events: Answer<readonly StoredGatewayEvent[]> =
    gatewayRef === null
      ? { value: [] }
      : await patience.ask(async () =>
          newestFirst((await stores.gatewayEvents.ofRef(gateway, gatewayRef)).events),
        );
  const page = gatewaySubscriptionPage({ subscription: found, events });
  await show(context, response, { title: `Subscription ${id}`, section: SECTION }, page);
}

const newestFirst = (events: readonly StoredGatewayEvent[]): StoredGatewayEvent[] =>
  events.toSorted((a, b) => (a.receivedAt < b.receivedAt ? 1 : -1));

async function event(context: ConsoleContext, request: Request, response: Response): Promise<void> {
  const { stores, patience } = context;
  const eventId = String(request.params['eventId']);
  const found = await patience.inTime(() => stores.gatewayEvents.get(eventId));
  if (found === null) throw notThere('There is no such event.', SECTION);
  const view = { event: found, said: whatItSays(context.gateways, found), mayAct: mayAct(response) };
  const frame = { title: `Event ${found.name}`, section: SECTION, notice: noticeOf(request) } as const;
  await show(context, response, frame, gatewayEventPage(view));
}
