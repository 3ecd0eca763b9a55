import { gatewayEventJob } from '../queues/jobs.ts';
import { applyEvent, giveUp } from '../src/app/gateways/apply-event.ts';
import { addressOf } from '../src/domain/gateways/gateway-event.ts';
import type { GatewayOutcome } from '../src/ports/gateways.ts';
import type { WorkerContext } from './context.ts';
import type { Processor } from './job.ts';
import { dataOf } from './job.ts';
import { isLastTry, putOff, reasonOf } from './put-off.ts';
import { Turns } from './turns.ts';

export type GatewayContext = Pick<WorkerContext, 'gatewayEvents' | 'queues' | 'redis' | 'log'>;

/** One event of a payment gateway. */
export function gatewayProcessor(context: GatewayContext): Processor {
  const { gatewayEvents } = context;
  // Those about one subscription would only make each other decide again.
  const turns = new Turns();
  return async (taken) => {
    const { eventId } = dataOf(gatewayEventJob, taken.job);
    const { gateway, ref } = addressOf(eventId) ?? {};
    try {
      return shown(
        await turns.take(`${gateway}.${ref ?? eventId}`, () => applyEvent(gatewayEvents, eventId)),
      );
    } catch (error) {
      // A store that is away, and other workers that were faster, are not the event's fault, however long it takes.
      await putOff(context, taken, error, Number.POSITIVE_INFINITY);
      // Without it the sweep would hand it over for ever.
      if (isLastTry(taken)) await giveUp(gatewayEvents, eventId, reasonOf(error));
      throw error;
    }
  };
}

/** For Bull Board, which writes it as JSON. */
const shown = (outcome: GatewayOutcome | null) => {
  if (outcome === null) return { result: 'unknown-event' };
  const { result, reason, subscriptionId, from, to } = outcome;
  return { result, reason, subscriptionId, from, to };
};
