import type { z } from 'zod';
import type * as sections from '../src/config/sections.ts';
import { collectionProcessor } from './collection-processor.ts';
import { applyMembership } from '../src/app/apply-membership.ts';
import { applyPaymentEvent } from '../src/app/apply-payment-event.ts';
import type { WorkerContext } from './context.ts';
import type { ApplyEvent } from './event-processor.ts';
import { eventProcessor } from './event-processor.ts';
import { gatewayProcessor } from './gateway-processor.ts';
import { janitorProcessor } from './janitor-processor.ts';
import { notificationProcessor } from './notification-processor.ts';
import { pageProcessor } from './page-processor.ts';
import { Registry } from './registry.ts';
import { reminderProcessor } from './reminder-processor.ts';
import { requestProcessor } from './request-processor.ts';
import { Turns } from './turns.ts';

/** Pages of different runs; those of one run follow each other. */
const PAGES_AT_ONCE = 4;
/** A notice is not urgent: enough to be through in an hour, too few to press on the services. */
const NOTICES_AT_ONCE = 10;

/** A gateway sends a few at a time; those of one subscription take turns anyway. */
const GATEWAY_EVENTS_AT_ONCE = 20;

/** Which processor serves which queue, and how many jobs at once. */
export function registryOf(
  context: WorkerContext,
  { COLLECTION_CONCURRENCY }: z.output<typeof sections.workers>,
): Registry {
  const concurrency = COLLECTION_CONCURRENCY;
  const collection = { concurrency, processor: collectionProcessor(context) };
  const request = { concurrency, processor: requestProcessor(context) };
  // Both work under the locks of accounts.
  const accounts = new Turns();
  const { collect, inbox, users, tiers, log, metrics } = context;
  const membership: ApplyEvent = (event, seen) =>
    applyMembership({ ...collect, inbox, tiers, log, metrics }, event, seen);
  const payment: ApplyEvent = (event, seen) => applyPaymentEvent({ ...collect, inbox, users }, event, seen);
  return new Registry()
    .add({ queue: 'collection-pages', processor: pageProcessor(context), concurrency: PAGES_AT_ONCE })
    .add({ queue: 'float-pages', processor: pageProcessor(context), concurrency: PAGES_AT_ONCE })
    .add({ queue: 'float-collections', concurrency, processor: collectionProcessor(context) })
    .add({ queue: 'recurring-pages', processor: pageProcessor(context), concurrency: PAGES_AT_ONCE })
    .add({ queue: 'recurring-payments', concurrency, processor: collectionProcessor(context, accounts) })
    .add({
      queue: 'recurring-reminders',
      processor: reminderProcessor(context, accounts),
      concurrency: NOTICES_AT_ONCE,
    })
    .add({ queue: 'collections-scheduled', ...collection })
    .add({ queue: 'collections-retry', ...collection })
    .add({ queue: 'collections-pause', ...collection })
    .add({ queue: 'collections-webhook', ...request })
    .add({ queue: 'collections-webhook-balance', ...request })
    .add({ queue: 'collections-batch', ...request })
    .add({ queue: 'manual-repayments', ...request })
    .add({ queue: 'membership-events', concurrency, processor: eventProcessor(context, membership) })
    .add({ queue: 'ach-events', concurrency, processor: eventProcessor(context, payment) })
    .add({
      queue: 'notifications',
      processor: notificationProcessor(context),
      concurrency: NOTICES_AT_ONCE,
    })
    .add({
      queue: 'gateway-events',
      processor: gatewayProcessor(context),
      concurrency: GATEWAY_EVENTS_AT_ONCE,
    })
    .add({ queue: 'janitor', processor: janitorProcessor(context), concurrency: 1 });
}
