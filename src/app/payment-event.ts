import { z } from 'zod';
import { parseMoney } from '../domain/money.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import { MalformedEventError } from '../errors.ts';
import type { InboxEvent } from '../ports/inbox.ts';

/** What the payments service tells about a payment for a billing record. */
export interface PaymentEvent {
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
  readonly confirmationId: string;
  readonly outcome: PaymentOutcome;
}

const FLOAT_TYPES: ReadonlySet<string> = new Set([
  'FLOAT_DEBIT_COMPLETED',
  'FLOAT_DEBIT_RETURNED',
  'FLOAT_CREDIT_RETURNED',
]);

export const isFloatEvent = ({ type }: Pick<InboxEvent, 'type'>): boolean => FLOAT_TYPES.has(type);

/** Type and status say the same twice. Where they contradict each other nobody knows what happened to the money. */
const STATUS_OF_TYPE = {
  SUBSCRIPTION_COMPLETED: 'COMPLETED',
  SUBSCRIPTION_RETURNED: 'FAILED',
  SUBSCRIPTION_REFUNDED: 'REFUNDED',
  SUBSCRIPTION_CHARGED_BACK: 'CHARGED_BACK',
} as const;
type EventType = keyof typeof STATUS_OF_TYPE;

const optionalText = z
  .string()
  .nullish()
  .transform((text) => (text === undefined || text === '' ? null : text));

const data = z.object({
  confirmation_id: z.string().min(1),
  user_id: z.string().min(1),
  subscription_id: z.string().min(1),
  status: z.enum(['COMPLETED', 'FAILED', 'REFUNDED', 'CHARGED_BACK']),
  amount: z.string().refine((text) => parseMoney(text) !== null, 'not an amount'),
  return_code: optionalText,
  error_message: optionalText,
});

export function readPaymentEvent({ type, userId, data: received }: InboxEvent): PaymentEvent {
  if (!Object.hasOwn(STATUS_OF_TYPE, type)) throw new MalformedEventError(`there is no event ${type}`);
  const { success, data: read, error } = data.safeParse(received);
  if (!success) {
    const fields = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    throw new MalformedEventError(`${type} cannot be read: ${fields}`);
  }
  if (read.status !== STATUS_OF_TYPE[type as EventType])
    throw new MalformedEventError(`${type} says that the payment is ${read.status}`);
  if (read.user_id !== userId) throw new MalformedEventError(`${type} is in the inbox of another user`);
  return {
    userId,
    subscriptionId: read.subscription_id as SubscriptionId,
    confirmationId: read.confirmation_id,
    outcome: outcomeOf(read),
  };
}

function outcomeOf({
  status,
  return_code: code,
  error_message: message,
}: z.output<typeof data>): PaymentOutcome {
  switch (status) {
    case 'FAILED':
      return { result: 'RETURNED', returnCode: code, message };
    case 'CHARGED_BACK':
      return { result: 'CHARGED_BACK', code, message };
    case 'COMPLETED':
    case 'REFUNDED':
      return { result: status };
  }
}
