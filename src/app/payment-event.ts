import { z } from 'zod';
import type { FloatId } from '../domain/floats/float.ts';
import type { FloatWord } from '../domain/floats/outcomes.ts';
import { parseMoney } from '../domain/money.ts';
import type { PaymentOutcome } from '../domain/payment-outcome.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import { MalformedEventError } from '../errors.ts';
import { readBy } from '../in-words.ts';
import type { InboxEvent } from '../ports/inbox.ts';
import { EVENT_LIMITS } from '../ports/inbox.ts';
import { floatLockKey, subscriptionLockKey } from '../ports/lock.ts';

/** What the payments service tells about a payment for a billing record. */
export interface PaymentEvent {
  readonly userId: UserId;
  readonly subscriptionId: SubscriptionId;
  readonly confirmationId: string;
  readonly outcome: PaymentOutcome;
}

/** What it tells about an advance or a debit for it. The confirmation id is that of the money that went, or came back. */
export interface FloatEvent {
  readonly userId: UserId;
  readonly floatId: FloatId;
  readonly confirmationId: string;
  readonly word: FloatWord;
}

/** Type and status say the same twice. Where they contradict each other it is not known what happened to the money. */
const STATUS_OF_TYPE = {
  SUBSCRIPTION_COMPLETED: 'COMPLETED',
  SUBSCRIPTION_RETURNED: 'FAILED',
  SUBSCRIPTION_REFUNDED: 'REFUNDED',
  SUBSCRIPTION_CHARGED_BACK: 'CHARGED_BACK',
} as const;

const FLOAT_STATUS_OF_TYPE = {
  FLOAT_DEBIT_COMPLETED: 'COMPLETED',
  FLOAT_DEBIT_RETURNED: 'FAILED',
  FLOAT_CREDIT_RETURNED: 'FAILED',
} as const;

export const isFloatEvent = ({ stream, type }: Pick<InboxEvent, 'stream' | 'type'>): boolean =>
  stream === 'payments' && Object.hasOwn(FLOAT_STATUS_OF_TYPE, type);

/** The lock under which an event is applied, or put aside. */
export const lockKeyOfEvent = (event: Pick<InboxEvent, 'stream' | 'type' | 'userId'>): string =>
  isFloatEvent(event) ? floatLockKey(event.userId) : subscriptionLockKey(event.userId);

const optionalText = z
  .string()
  .nullish()
  .transform((text) => (text === undefined || text === '' ? null : text));

const payment = z.object({
  confirmation_id: z.string().min(1),
  user_id: z.string().min(1),
  status: z.enum(['COMPLETED', 'FAILED', 'REFUNDED', 'CHARGED_BACK']),
  amount: z.string().refine((text) => parseMoney(text) !== null, 'not an amount'),
  return_code: optionalText,
  error_message: optionalText,
});
type PaymentData = z.output<typeof payment>;

const data = payment.extend({ subscription_id: z.string().min(1) });
/** A float's id is a key of the store, which refuses one that is too long. */
const floatData = payment.extend({ float_id: z.string().min(1).max(EVENT_LIMITS.idBytes) });

export function readPaymentEvent(event: InboxEvent): PaymentEvent {
  const read = readData(event, data, STATUS_OF_TYPE);
  return {
    userId: event.userId,
    subscriptionId: read.subscription_id as SubscriptionId,
    confirmationId: read.confirmation_id,
    outcome: outcomeOf(read),
  };
}

export function readFloatEvent(event: InboxEvent): FloatEvent {
  const read = readData(event, floatData, FLOAT_STATUS_OF_TYPE);
  return {
    userId: event.userId,
    floatId: read.float_id as FloatId,
    confirmationId: read.confirmation_id,
    word: wordOf(event.type as keyof typeof FLOAT_STATUS_OF_TYPE, read),
  };
}

function readData<T extends PaymentData>(
  { type, userId, data }: InboxEvent,
  schema: z.ZodType<T>,
  statusOfType: Readonly<Record<string, string>>,
): T {
  if (!Object.hasOwn(statusOfType, type)) throw new MalformedEventError(`there is no event ${type}`);
  const read = readBy(schema, data);
  if ('wrong' in read) throw new MalformedEventError(`${type} cannot be read: ${read.wrong}`);
  const { status, user_id: named } = read.data;
  if (status !== statusOfType[type])
    throw new MalformedEventError(`${type} says that the payment is ${status}`);
  if (named !== userId) throw new MalformedEventError(`${type} is in the inbox of another user`);
  return read.data;
}

function outcomeOf({ status, return_code: code, error_message: message }: PaymentData): PaymentOutcome {
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

function wordOf(
  type: keyof typeof FLOAT_STATUS_OF_TYPE,
  { return_code: returnCode, error_message: message }: PaymentData,
): FloatWord {
  switch (type) {
    case 'FLOAT_DEBIT_COMPLETED':
      return { result: 'COMPLETED' };
    case 'FLOAT_DEBIT_RETURNED':
      return { result: 'RETURNED', returnCode, message };
    case 'FLOAT_CREDIT_RETURNED':
      return { result: 'CREDIT_RETURNED', returnCode, message };
  }
}
