import { createHash } from 'node:crypto';
import type { EventAddress } from '../../domain/gateways/gateway-event.ts';
import { eventIdOf } from '../../domain/gateways/gateway-event.ts';
import { MalformedEventError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Delivery, Gateway, GatewayEvents, StoredGatewayEvent, Verify } from '../../ports/gateways.ts';
import type { Log } from '../../ports/log.ts';

export interface WebhookDependencies {
  readonly gatewayEvents: Pick<GatewayEvents, 'add'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Gives the event's job to the workers. */
  readonly enqueueGatewayEvent: (event: StoredGatewayEvent) => Promise<unknown>;
}

export type Taken =
  /** Not by the gateway, or not for us. Nothing was kept. */
  | { readonly result: 'forged' }
  | { readonly result: 'received'; readonly eventId: string; readonly duplicate: boolean };

/** Verified, kept once, and answered; what it means is found out by a job. */
export async function takeWebhook(
  { gatewayEvents, clock, log, enqueueGatewayEvent }: WebhookDependencies,
  { gateway, verify }: { readonly gateway: Gateway; readonly verify: Verify },
  delivery: Delivery,
): Promise<Taken> {
  if (!(await verify(delivery))) return { result: 'forged' };
  const { address, name } = headingOf(gateway, delivery.body);
  const event: StoredGatewayEvent = {
    ...address,
    eventId: eventIdOf(address),
    name,
    body: delivery.body,
    receivedAt: clock.now(),
    outcome: null,
    replays: 0,
  };
  const { eventId } = event;
  const isNew = await gatewayEvents.add(event);
  // Also for one that is here already: the process that took it first may have ended before it had a job.
  await enqueueGatewayEvent(event).catch((error: unknown) =>
    log.warn({ eventId, err: error }, 'the event has no job yet; the sweep gives it one'),
  );
  return { result: 'received', eventId, duplicate: !isNew };
}

/** A body that is signed and makes no sense is kept under its own digest: an operator has to look at it. */
function headingOf(
  gateway: Gateway,
  body: Uint8Array,
): { readonly address: EventAddress; readonly name: string } {
  try {
    const { ref, identity, name } = gateway.read(body);
    return { address: { gateway: gateway.name, ref, identity }, name };
  } catch (error) {
    if (!(error instanceof MalformedEventError)) throw error;
    const identity = `unreadable-${createHash('sha256').update(body).digest('hex')}`;
    return { address: { gateway: gateway.name, ref: null, identity }, name: 'unreadable' };
  }
}
