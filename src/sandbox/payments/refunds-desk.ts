import type { CallbackDesk } from '../callbacks/callback-desk.ts';
import type { Instant } from '../calendar/new-york-time.ts';
import type { Journal } from '../journal.ts';
import { Problem } from '../problem.ts';
import type { Payment, PaymentAnswer } from './payment.ts';
import { fingerprintOf, type RefundRequest } from './payment-request.ts';
import { refuseOtherUse } from './payments-desk.ts';

export interface Refunded {
  readonly answer: PaymentAnswer;
  readonly replayed: boolean;
  /** Set when the dial wants the callback out before the HTTP answer. */
  readonly hurried: boolean;
}

/** Gives completed payments back. Like the payments desk it is synchronous, for the same reason. */
export class RefundsDesk {
  readonly #journal: Journal;
  readonly #callbacks: CallbackDesk;

  constructor(journal: Journal, callbacks: CallbackDesk) {
    this.#journal = journal;
    this.#callbacks = callbacks;
  }

  refund(key: string, confirmationId: string, request: RefundRequest, at: Instant): Refunded {
    const { payments } = this.#journal.books;
    const fingerprint = fingerprintOf({ ...request, refund_of: confirmationId });
    const known = payments.key(key);
    if (known !== undefined) {
      refuseOtherUse(known, fingerprint);
      return { answer: known.answer, replayed: true, hurried: false };
    }
    const payment = payments.find(confirmationId);
    if (payment === undefined)
      throw new Problem(404, 'payment_not_found', 'no payment has this confirmation id');
    if (payment.status === 'REFUNDED') {
      throw new Problem(409, 'already_refunded', 'this payment was refunded under another Idempotency-Key');
    }
    return this.#apply(key, payment, fingerprint, at);
  }

  #apply(key: string, payment: Payment, fingerprint: string, at: Instant): Refunded {
    const refundable = payment.status === 'COMPLETED';
    const outcome = refundable
      ? ({ status: 'COMPLETED', effect: 'credit', posted: true } as const)
      : ({
          status: 'FAILED',
          error_code: 'not_refundable',
          error_message: `a payment that is ${payment.status} cannot be refunded`,
        } as const);
    this.#journal.record(at, {
      type: 'refund.applied',
      ...payment.facts,
      refund_key: key,
      fingerprint,
      ...outcome,
    });
    const hurried = refundable && this.#announce(payment, at);
    const stored = this.#journal.books.payments.key(key);
    if (stored === undefined) throw new Error(`refund ${key} is not in the books`);
    return { answer: stored.answer, replayed: false, hurried };
  }

  #announce(payment: Payment, at: Instant): boolean {
    const early = this.#callbacks.earlyRule(payment, 'REFUNDED');
    this.#callbacks.announce(payment, 'REFUNDED', at, early);
    return early !== undefined;
  }
}
