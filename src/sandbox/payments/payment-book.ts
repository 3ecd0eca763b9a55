import type { EntryOf, LedgerEntry } from '../ledger/entry.ts';
import { centsFrom } from '../money.ts';
import type { Agenda, DueStep } from './agenda.ts';
import { factsOnly, type Payment, type PaymentAnswer } from './payment.ts';

/** What a key was used for and answered, kept for ever. */
export interface KeyRecord {
  readonly fingerprint: string;
  readonly confirmationId: string;
  readonly answer: PaymentAnswer;
  readonly use: 'payment' | 'refund';
}

function answerOf(entry: EntryOf<'payment.applied'>): PaymentAnswer {
  const { confirmation_id, status, error_code, error_message, account_mask, card_mask } = entry;
  return {
    confirmation_id,
    status,
    ...(error_code !== undefined && { error_code }),
    ...(error_message !== undefined && { error_message }),
    ...(account_mask !== undefined && { account_mask }),
    ...(card_mask !== undefined && { card_mask }),
  };
}

/** Every payment and every idempotency key, rebuilt from the ledger; plans what is still to happen. */
export class PaymentBook {
  readonly #payments = new Map<string, Payment>();
  readonly #keys = new Map<string, KeyRecord>();
  readonly #agenda: Agenda;

  constructor(agenda: Agenda) {
    this.#agenda = agenda;
  }

  get size(): number {
    return this.#payments.size;
  }

  find(confirmationId: string): Payment | undefined {
    return this.#payments.get(confirmationId);
  }

  key(key: string): KeyRecord | undefined {
    return this.#keys.get(key);
  }

  apply(entry: LedgerEntry): void {
    if (entry.type === 'payment.applied') return this.#accepted(entry);
    if (!('confirmation_id' in entry)) return;
    const payment = this.#payments.get(entry.confirmation_id);
    if (payment !== undefined) this.#happened(payment, entry);
  }

  #accepted(entry: EntryOf<'payment.applied'>): void {
    const answer = answerOf(entry);
    const { confirmation_id, fingerprint, idempotency_key } = entry;
    this.#keys.set(idempotency_key, {
      fingerprint,
      confirmationId: confirmation_id,
      answer,
      use: 'payment',
    });
    this.#payments.set(confirmation_id, {
      facts: factsOnly(entry),
      cents: centsFrom(entry.amount),
      answer,
      acceptedAt: Date.parse(entry.at),
      status: entry.status,
    });
    this.#plan('settle', entry.settles_at, confirmation_id);
    this.#plan('charge-back', entry.charge_back_at, confirmation_id);
  }

  #happened(payment: Payment, entry: LedgerEntry): void {
    const id = payment.facts.confirmation_id;
    if (entry.type === 'ach.settled') {
      payment.settlement = {
        at: Date.parse(entry.at),
        posted: entry.posted,
        returnCode: entry.return_code,
        returnsAt: entry.returns_at === undefined ? undefined : Date.parse(entry.returns_at),
      };
      this.#plan('finish', entry.final_at, id);
    } else if (entry.type === 'ach.completed') {
      payment.status = 'COMPLETED';
      payment.completedAt = Date.parse(entry.at);
      if (entry.late_return_code !== undefined) payment.lateReturnCode = entry.late_return_code;
      this.#plan('late-return', entry.late_return_at, id);
      this.#plan('charge-back', entry.charge_back_at, id);
    } else if (entry.type === 'ach.returned') {
      payment.status = 'FAILED';
      payment.returnCode = entry.return_code;
    } else if (entry.type === 'charge_back.applied') {
      payment.status = 'CHARGED_BACK';
    } else if (entry.type === 'refund.applied') {
      this.#refunded(payment, entry);
    }
  }

  #refunded(payment: Payment, entry: EntryOf<'refund.applied'>): void {
    const { confirmation_id, status, error_code, error_message, fingerprint } = entry;
    const declined = {
      ...(error_code !== undefined && { error_code }),
      ...(error_message !== undefined && { error_message }),
    };
    this.#keys.set(entry.refund_key, {
      fingerprint,
      confirmationId: confirmation_id,
      answer: { confirmation_id, status, ...declined },
      use: 'refund',
    });
    if (status !== 'COMPLETED') return;
    payment.status = 'REFUNDED';
    payment.refundKey = entry.refund_key;
  }

  #plan(step: Exclude<DueStep['step'], 'publish'>, at: string | undefined, confirmation_id: string): void {
    if (at !== undefined) this.#agenda.plan({ step, at: Date.parse(at), confirmation_id });
  }
}
