import { createHash } from 'node:crypto';
import { z } from 'zod';
import { positiveMoney, returnCode, userId } from '../users/user-script.ts';
import { KINDS, METHODS, PROVIDERS, type Provider } from './payment.ts';

const referenceId = z.string().regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible ASCII characters');

export const paymentRequest = z.strictObject({
  user_id: userId,
  kind: z.enum(KINDS),
  reference_id: referenceId,
  method: z.enum(METHODS),
  amount: positiveMoney,
  provider: z.enum(PROVIDERS).optional(),
  description: z.string().max(200).optional(),
});

export type PaymentRequest = z.infer<typeof paymentRequest>;

/** An advance that the member's bank sent back. Paying it out was no payment here, so nothing else is known of it. */
export const creditReturn = z.strictObject({
  user_id: userId,
  float_id: referenceId,
  amount: positiveMoney,
  code: returnCode.default('R03'),
});
export type CreditReturn = z.infer<typeof creditReturn>;

export const refundRequest = z.strictObject({ reason: z.string().max(500).optional() });
export type RefundRequest = z.infer<typeof refundRequest>;

export const idempotencyKey = z
  .string({ error: 'is required' })
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters');

/** Two requests with the same fingerprint ask for the same thing, however their JSON was spelled. */
export function fingerprintOf(request: PaymentRequest | (RefundRequest & { refund_of: string })): string {
  const fields = Object.entries(request).filter(([, value]) => value !== undefined);
  const spelled = JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(spelled).digest('hex').slice(0, 32);
}

/** Usio takes every pinless charge, and an ACH entry only when asked to. */
export function providerOf(request: PaymentRequest): Provider {
  return request.method === 'PINLESS' ? 'USIO' : (request.provider ?? 'JPM');
}

/** From the key, so that the same run gives the same ids; keys are never used twice. */
export function confirmationIdOf(provider: Provider, key: string): string {
  return `${provider}-${createHash('sha256').update(key).digest('hex').slice(0, 20)}`;
}
