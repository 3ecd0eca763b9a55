import { settlementAfter } from '../calendar/banking-days.ts';
import type { Instant } from '../calendar/new-york-time.ts';
import { instantText } from '../clock/instant-text.ts';
import type { Journal } from '../journal.ts';
import type { EntryBody } from '../ledger/entry.ts';
import { centsFrom } from '../money.ts';
import { Problem } from '../problem.ts';
import type { SandboxUser } from '../users/user-book.ts';
import { messageFor, PINLESS_CODES } from './codes.ts';
import type { Payment, PaymentFacts } from './payment.ts';
import type { KeyRecord } from './payment-book.ts';
import { chargeBackPlan } from './payment-lifecycle.ts';
import { confirmationIdOf, fingerprintOf, providerOf, type PaymentRequest } from './payment-request.ts';

type Outcome = Omit<
  Extract<EntryBody, { readonly type: 'payment.applied' }>,
  'type' | 'fingerprint' | keyof PaymentFacts
>;

export interface Accepted {
  readonly payment: Payment;
  /** The key was known: nothing happened, the stored answer is given again. */
  readonly replayed: boolean;
}

export function refuseOtherUse(known: KeyRecord, fingerprint: string): void {
  if (known.fingerprint === fingerprint) return;
  throw new Problem(409, 'idempotency_key_reused', 'this Idempotency-Key was used with another request');
}

function declined(code: string): Outcome {
  return { status: 'FAILED', error_code: code, error_message: messageFor(code) };
}

function pinlessOutcome(user: SandboxUser | undefined, cents: number, at: Instant): Outcome {
  if (!user?.script.has_debit_card) return declined(PINLESS_CODES.noCard);
  const { account, pinless } = user.script;
  if (account?.closed) return declined(PINLESS_CODES.closed);
  if (pinless.mode === 'decline' && user.stillApplies('pinless', pinless.times)) {
    return { ...declined(pinless.code), scripted: ['pinless'] };
  }
  if (user.balance(at) < cents) return declined(PINLESS_CODES.insufficient);
  const card_mask = account?.mask ?? '0000';
  return { status: 'COMPLETED', card_mask, effect: 'debit', posted: true, ...chargeBackPlan(user, at) };
}

function achOutcome(user: SandboxUser | undefined, at: Instant): Outcome {
  const account = user?.script.account;
  if (!account) return declined('R03');
  return { status: 'ACHSENT', account_mask: account.mask, settles_at: instantText(settlementAfter(at, 1)) };
}

/** Takes payments. All of it is synchronous: two requests with one key cannot interleave, so one charge is made. */
export class PaymentsDesk {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  accept(key: string, request: PaymentRequest, at: Instant): Accepted {
    const { payments, users } = this.#journal.books;
    const fingerprint = fingerprintOf(request);
    const known = payments.key(key);
    if (known !== undefined) {
      refuseOtherUse(known, fingerprint);
      return { payment: this.#stored(known.confirmationId), replayed: true };
    }
    const user = users.find(request.user_id);
    const outcome =
      request.method === 'PINLESS'
        ? pinlessOutcome(user, centsFrom(request.amount), at)
        : achOutcome(user, at);
    const facts = this.#facts(key, request);
    this.#journal.record(at, { type: 'payment.applied', ...facts, ...outcome, fingerprint });
    return { payment: this.#stored(facts.confirmation_id), replayed: false };
  }

  #facts(key: string, request: PaymentRequest): PaymentFacts {
    const { user_id, kind, reference_id, method, amount } = request;
    const provider = providerOf(request);
    const confirmation_id = confirmationIdOf(provider, key);
    return { idempotency_key: key, user_id, kind, reference_id, method, provider, amount, confirmation_id };
  }

  #stored(confirmationId: string): Payment {
    const payment = this.#journal.books.payments.find(confirmationId);
    if (payment === undefined) throw new Error(`payment ${confirmationId} is not in the books`);
    return payment;
  }
}
