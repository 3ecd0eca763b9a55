import { z } from 'zod';
import type { WebhookDependencies } from '../../app/gateways/take-webhook.ts';
import { takeWebhook } from '../../app/gateways/take-webhook.ts';
import type { Gateway, Verify } from '../../ports/gateways.ts';
import { Problem } from '../problems.ts';
import type { Webhook } from '../webhook.ts';

/** A gateway, and how its webhooks are told from forged ones; null while it is not configured. */
export interface OpenGateway {
  readonly gateway: Gateway;
  readonly verify: Verify | null;
}

const received = z.strictObject({
  received: z.literal(true),
  event_id: z.string(),
  duplicate: z.boolean().meta({ description: 'It came before: it is applied once' }),
});

export const gatewayWebhooks = (
  dependencies: WebhookDependencies,
  gateways: readonly OpenGateway[],
): Webhook[] =>
  gateways.map(({ gateway, verify }) => ({
    path: `/webhooks/${gateway.path}`,
    summary: `What ${gateway.name} has to tell`,
    description:
      'The signature over the body is the only credential. The event is kept before it is answered, and applied after.',
    answers: { 200: received },
    problems: ['bad-signature', 'gateway-off'],
    async answer(delivery) {
      if (verify === null) throw new Problem('gateway-off', `${gateway.name} is not configured here`);
      const taken = await takeWebhook(dependencies, { gateway, verify }, delivery);
      if (taken.result === 'forged')
        throw new Problem('bad-signature', `this was not signed by ${gateway.name} for us`);
      const { eventId, duplicate } = taken;
      return { status: 200, body: { received: true, event_id: eventId, duplicate } };
    },
  }));
