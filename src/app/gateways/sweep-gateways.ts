import { lapse } from '../../domain/gateways/hear.ts';
import type { GatewaySubscription } from '../../domain/gateways/subscription.ts';
import type { Instant } from '../../domain/instant.ts';
import { plusMs } from '../../domain/instant.ts';
import { RecordChangedError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { GatewayEvents, GatewaySubscriptions, StoredGatewayEvent } from '../../ports/gateways.ts';
import type { Log } from '../../ports/log.ts';
import { pagesOf } from '../pages-of.ts';

export interface GatewaySweepDependencies {
  readonly gatewayEvents: Pick<GatewayEvents, 'waiting'>;
  readonly gatewaySubscriptions: Pick<GatewaySubscriptions, 'lapsed' | 'get' | 'save'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes sure that the event has a job. Harmless where it has one. */
  readonly enqueueGatewayEvent: (event: StoredGatewayEvent) => Promise<unknown>;
}

/** What came within this time has its job for sure, or is about to get it. */
const YOUNG_MS = 60_000;

export interface GatewaySweepCounts {
  readonly handedOver: number;
  readonly expired: number;
}

/**
 * Gives a job to every stored event that may have lost its own, and expires what was cancelled and has run out: the one
 * step that no gateway has to tell.
 */
export async function sweepGateways(dependencies: GatewaySweepDependencies): Promise<GatewaySweepCounts> {
  const now = dependencies.clock.now();
  const handedOver = await sweepEvents(dependencies, plusMs(now, -YOUNG_MS));
  const expired = await sweepLapsed(dependencies, now);
  return { handedOver, expired };
}

async function sweepEvents(
  { gatewayEvents, log, enqueueGatewayEvent }: GatewaySweepDependencies,
  before: Instant,
): Promise<number> {
  let found = 0;
  for await (const page of pagesOf((key) => gatewayEvents.waiting(before, key))) {
    for (const error of page.unreadable) log.error({ err: error }, 'an event of a gateway cannot be read');
    for (const event of page.events) await enqueueGatewayEvent(event);
    found += page.events.length;
  }
  return found;
}

async function sweepLapsed(dependencies: GatewaySweepDependencies, now: Instant): Promise<number> {
  const { gatewaySubscriptions, log } = dependencies;
  let expired = 0;
  for await (const page of pagesOf((key) => gatewaySubscriptions.lapsed(now, key))) {
    for (const error of page.unreadable) log.error({ err: error }, 'a gateway subscription cannot be read');
    for (const { id } of page.subscriptions) if (await expire(dependencies, id, now)) expired += 1;
  }
  return expired;
}

/** The list may be behind: what counts is how it stands now. */
async function expire(
  { gatewaySubscriptions, log }: GatewaySweepDependencies,
  id: GatewaySubscription['id'],
  now: Instant,
): Promise<boolean> {
  const before = await gatewaySubscriptions.get(id);
  const after = before === null ? null : lapse(before, now);
  if (before === null || after === null) return false;
  try {
    await gatewaySubscriptions.save({ before, after, because: null });
  } catch (error) {
    // The gateway spoke of it in this moment. The next round looks again.
    if (error instanceof RecordChangedError) return false;
    throw error;
  }
  log.info({ subscriptionId: id, from: before.status, to: after.status }, 'gateway subscription expired');
  return true;
}
