import type { Clock } from '../../ports/clock.ts';
import type { GatewayEvents, StoredGatewayEvent } from '../../ports/gateways.ts';
import type { Log } from '../../ports/log.ts';
import { tellWorkers } from '../tell-workers.ts';

export interface ReplayEventDependencies {
  readonly gatewayEvents: GatewayEvents;
  readonly clock: Clock;
  readonly log: Log;
  readonly enqueueGatewayEvent: (event: StoredGatewayEvent) => Promise<unknown>;
}

export type EventReplay =
  /** It waits to be applied anyway: its job was called. */
  | { readonly result: 'waiting'; readonly handedOver: boolean }
  | { readonly result: 'replayed'; readonly handedOver: boolean }
  | { readonly result: 'unknown' };

/**
 * Has a stored event applied again, as if it had just come: its place in the order stays, so that it undoes nothing that
 * came after it. For when what stood against it is gone: an owner that was unknown, another subscription that was active.
 */
export async function replayEvent(
  dependencies: ReplayEventDependencies,
  eventId: string,
): Promise<EventReplay> {
  const { gatewayEvents, clock, log, enqueueGatewayEvent } = dependencies;
  const event = await gatewayEvents.get(eventId);
  if (event === null) return { result: 'unknown' };
  const reopened = event.outcome === null ? null : await gatewayEvents.reopen(event, clock.now());
  const call = () => enqueueGatewayEvent(reopened ?? event);
  const untold = 'the event has no job yet; the sweep gives it one';
  const handedOver = await tellWorkers(log, call, { eventId }, untold);
  return { result: reopened === null ? 'waiting' : 'replayed', handedOver };
}
