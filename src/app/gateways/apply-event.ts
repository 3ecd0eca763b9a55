import type { GatewayEvent } from '../../domain/gateways/gateway-event.ts';
import { hear, isTelling } from '../../domain/gateways/hear.ts';
import type { TellingEvent } from '../../domain/gateways/hear.ts';
import { MalformedEventError, RecordChangedError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type {
  Gateway,
  GatewayEvents,
  GatewayOutcome,
  GatewaySubscriptions,
  StoredGatewayEvent,
} from '../../ports/gateways.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { findSubscription } from './find-subscription.ts';

export interface ApplyEventDependencies {
  readonly gateways: readonly Gateway[];
  readonly gatewayEvents: GatewayEvents;
  readonly gatewaySubscriptions: GatewaySubscriptions;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'gatewayEvent'>;
}

/** Optimistic retries: of the concurrent writers one succeeds per round, so 25 tries outlast 25 writers. */
const MOST_TRIES = 25;

/**
 * Applies a stored event, once: what it changes and that it was applied is one transaction. If something changed since
 * it was read, it is decided again. Null: there is no such event.
 */
export async function applyEvent(
  dependencies: ApplyEventDependencies,
  eventId: string,
): Promise<GatewayOutcome | null> {
  for (let tries = 1; ; tries += 1) {
    const event = await dependencies.gatewayEvents.get(eventId);
    if (event === null) return null;
    if (event.outcome !== null) return event.outcome;
    try {
      const outcome = await applyOnce(dependencies, event);
      if (outcome !== null) return told(dependencies, event, outcome);
    } catch (error) {
      if (!(error instanceof RecordChangedError) || tries >= MOST_TRIES) throw error;
    }
  }
}

/** Its job gave up. It is not tried again until an operator replays it. */
export async function giveUp(
  dependencies: ApplyEventDependencies,
  eventId: string,
  reason: string,
): Promise<void> {
  const event = await dependencies.gatewayEvents.get(eventId);
  if (event === null || event.outcome !== null) return;
  const outcome = { ...NOTHING, result: 'failed', reason, at: dependencies.clock.now() } as const;
  if (await dependencies.gatewayEvents.close(event, outcome)) told(dependencies, event, outcome);
}

const NOTHING = { subscriptionId: null, from: null, to: null } as const;

/** Null: another worker has recorded its outcome meanwhile. */
async function applyOnce(
  dependencies: ApplyEventDependencies,
  stored: StoredGatewayEvent,
): Promise<GatewayOutcome | null> {
  const { gatewayEvents, clock } = dependencies;
  const close = async (
    outcome: Pick<GatewayOutcome, 'result' | 'reason'> & Partial<GatewayOutcome>,
  ): Promise<GatewayOutcome | null> => {
    const whole = { ...NOTHING, at: clock.now(), ...outcome };
    return (await gatewayEvents.close(stored, whole)) ? whole : null;
  };
  const event = readAgain(dependencies, stored);
  if ('unreadable' in event) return close({ result: 'unreadable', reason: event.unreadable });
  if (!isTelling(event)) {
    const reason = event.report.kind === 'none' ? event.report.reason : '';
    return close({ result: 'recorded', reason });
  }
  return change(dependencies, stored, event, close);
}

/** As it is read now: what could not be read when it came may have been mended. */
function readAgain(
  { gateways }: ApplyEventDependencies,
  { gateway: name, body }: StoredGatewayEvent,
): GatewayEvent | { readonly unreadable: string } {
  const gateway = gateways.find((one) => one.name === name);
  if (gateway === undefined) return { unreadable: `no gateway is called ${name}` };
  try {
    return gateway.read(body);
  } catch (error) {
    if (error instanceof MalformedEventError) return { unreadable: error.message };
    throw error;
  }
}

async function change(
  { gatewaySubscriptions, clock }: ApplyEventDependencies,
  stored: StoredGatewayEvent,
  event: TellingEvent,
  close: (
    outcome: Pick<GatewayOutcome, 'result' | 'reason'> & Partial<GatewayOutcome>,
  ) => Promise<GatewayOutcome | null>,
): Promise<GatewayOutcome | null> {
  const matched = await findSubscription(gatewaySubscriptions, event);
  if (matched === null) return close({ result: 'unmatched', reason: 'no-owner' });
  const now = clock.now();
  const { subscription, holder } = matched;
  const { id: subscriptionId, status: from } = subscription;
  const hearing = hear(subscription, event, { holder, now });
  if (hearing.result === 'stale')
    return close({ result: 'stale', reason: 'older-than-applied', subscriptionId, from, to: from });
  const { subscription: after, collided } = hearing;
  const outcome: GatewayOutcome = {
    result: collided ? 'held' : 'applied',
    reason: collided ? 'second-subscription' : event.report.word,
    subscriptionId,
    from,
    to: after.status,
    at: now,
  };
  await gatewaySubscriptions.save({ before: matched.stored, after, because: { event: stored, outcome } });
  return outcome;
}

function told(
  { log, metrics }: ApplyEventDependencies,
  { eventId, gateway, name }: StoredGatewayEvent,
  outcome: GatewayOutcome,
): GatewayOutcome {
  const { result, reason, subscriptionId, from, to } = outcome;
  const fields = { eventId, event: name, result, reason, subscriptionId, from, to };
  metrics.gatewayEvent(gateway, result);
  if (result === 'held')
    log.error(
      { alarm: 'gateway-collision', ...fields },
      'two subscriptions of one owner and SKU are paid: one is kept past due until somebody decides',
    );
  else if (result === 'unmatched' || result === 'unreadable' || result === 'failed')
    log.error({ alarm: 'gateway-event', ...fields }, 'an event of a gateway waits for somebody');
  else log.info(fields, 'gateway event');
  return outcome;
}
