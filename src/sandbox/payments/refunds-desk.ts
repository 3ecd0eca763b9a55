import type { CallbackDesk, EarlyRule } from '../callbacks/callback-desk.ts';
import type { Instant } from '../calendar/new-york-time.ts';
import type { Journal } from '../journal.ts';
import { Problem } from '../problem.ts';
import { wasPosted, type Payment, type PaymentAnswer } from './payment.ts';
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
    const { status } = payment;
    const refund = { type: 'refund.applied', ...payment.facts, refund_key: key, fingerprint } as const;
    let early: EarlyRule | undefined;
    if (status === 'COMPLETED') {
      const change = { status: 'REFUNDED', at } as const;
      early = this.#callbacks.earlyRule(payment, change);
      const callbacks = this.#callbacks.plan(payment, change, early);
      const credit = { effect: 'credit', posted: wasPosted(payment) } as const;
      this.#journal.record(at, { ...refund, status, ...credit }, ...callbacks);
    } else {
      const error_message = `a payment that is ${status} cannot be refunded`;
      this.#journal.record(at, { ...refund, status: 'FAILED', error_code: 'not_refundable', error_message });
    }
    return { answer: this.#storedAnswer(key), replayed: false, hurried: early !== undefined };
  }

  #storedAnswer(key: string): PaymentAnswer {
    const stored = this.#journal.books.payments.key(key);
    if (stored === undefined) throw new Error(`refund ${key} is not in the books`);
    return stored.answer;
  }
}
