import type { Instant } from '../calendar/new-york-time.ts';
import { instantText } from '../clock/instant-text.ts';
import type { Kind, Payment } from '../payments/payment.ts';
import { messageFor } from '../payments/codes.ts';
import { confirmationIdOf, type CreditReturn } from '../payments/payment-request.ts';

export type CallbackStatus = 'COMPLETED' | 'FAILED' | 'REFUNDED' | 'CHARGED_BACK';

/** A record of the payments stream. `id` is the confirmation id and recurs: `(id, type)` identifies the event. */
export interface CallbackEvent {
  readonly id: string;
  readonly type: string;
  readonly source: 'PaymentsService';
  readonly time: string;
  readonly data: {
    readonly confirmation_id: string;
    readonly user_id: string;
    readonly subscription_id?: string;
    readonly float_id?: string;
    readonly status: CallbackStatus;
    readonly amount: string;
    readonly return_code?: string;
    readonly error_message?: string;
  };
}

/** The stream has no other types: a status of a kind that is missing here changes silently. */
const TYPES: Readonly<Record<Kind, Partial<Record<CallbackStatus, string>>>> = {
  SUBSCRIPTION: {
    COMPLETED: 'SUBSCRIPTION_COMPLETED',
    FAILED: 'SUBSCRIPTION_RETURNED',
    REFUNDED: 'SUBSCRIPTION_REFUNDED',
    CHARGED_BACK: 'SUBSCRIPTION_CHARGED_BACK',
  },
  FLOAT: { COMPLETED: 'FLOAT_DEBIT_COMPLETED', FAILED: 'FLOAT_DEBIT_RETURNED' },
  RECURRING: {},
};

/** Usio reports nothing about an ACH entry. A refund is the payments service's own act and always reported. */
function isReported(payment: Payment, status: CallbackStatus): boolean {
  const { provider, method } = payment.facts;
  return status === 'REFUNDED' || !(provider === 'USIO' && method === 'ACH');
}

/** What happened to a payment, and when. */
export interface PaymentChange {
  readonly status: CallbackStatus;
  readonly at: Instant;
  readonly returnCode?: string;
}

/** What the stream is told of the change; undefined when nobody reports it. */
export function callbackEvent(payment: Payment, change: PaymentChange): CallbackEvent | undefined {
  const { confirmation_id, user_id, amount, kind, reference_id } = payment.facts;
  const { status, at, returnCode } = change;
  const type = TYPES[kind][status];
  if (type === undefined || !isReported(payment, status)) return undefined;
  const reference = kind === 'FLOAT' ? { float_id: reference_id } : { subscription_id: reference_id };
  const failure =
    returnCode === undefined ? {} : { return_code: returnCode, error_message: messageFor(returnCode) };
  return {
    id: confirmation_id,
    type,
    source: 'PaymentsService',
    time: instantText(at),
    data: { confirmation_id, user_id, ...reference, status, amount, ...failure },
  };
}

export function creditReturnEvent(
  { user_id, float_id, amount, code }: CreditReturn,
  at: Instant,
): CallbackEvent {
  const confirmation_id = confirmationIdOf('JPM', `credit/${float_id}`);
  const failure = { return_code: code, error_message: messageFor(code) };
  return {
    id: confirmation_id,
    type: 'FLOAT_CREDIT_RETURNED',
    source: 'PaymentsService',
    time: instantText(at),
    data: { confirmation_id, user_id, float_id, status: 'FAILED', amount, ...failure },
  };
}
