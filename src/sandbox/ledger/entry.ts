import type { CallbackEvent } from '../callbacks/callback-event.ts';
import type { AnswerFault, CallbackFault, FaultDialSettings } from '../faults/fault-rule.ts';
import type { PaymentAnswer, PaymentFacts } from '../payments/payment.ts';
import type { ScriptedBehaviour, UserScript } from '../users/user-script.ts';
import type { AnchoredBalance } from '../users/balance.ts';

/**
 * Marks the entries that move money, and only those. Settled debits of a reference = its entries with `debit`;
 * what stands = debits − credits.
 */
interface Debit {
  readonly effect: 'debit';
  /** Whether the customer's account was really charged; an entry that will bounce settles without posting. */
  readonly posted: boolean;
}
interface Credit {
  readonly effect: 'credit';
  readonly posted: boolean;
}

/** On the one entry that stands for a request (or a callback): which rule spoiled it, and what it counts as. */
interface Spoiled<F> {
  readonly fault?: F;
  readonly rule_id?: string;
  readonly fault_key?: string;
}

/** How a request ended for its caller. `hung-up`: the caller had gone before the answer. */
export interface Answered {
  readonly answer: 'sent' | 'timeout' | 'hung-up';
  readonly http_status?: number;
  readonly fault?: AnswerFault;
}

interface Scripted {
  readonly scripted?: readonly ScriptedBehaviour[];
}

interface ClockChange {
  readonly now: string;
  readonly frozen: boolean;
  /** The machine's time at the change: a running clock goes on from here after a restart. */
  readonly system_time: string;
  readonly system?: boolean;
}

interface Read extends Spoiled<AnswerFault>, Answered {}

/** What is known of a payment from its request alone. */
export type RequestedFacts = Omit<PaymentFacts, 'confirmation_id' | 'provider'>;

export type AnchoredScript = Omit<UserScript, 'balance'> & { readonly balance: AnchoredBalance };

export type EntryBody =
  | ({ readonly type: 'clock.set' } & ClockChange)
  | ({ readonly type: 'clock.advanced'; readonly by: string } & ClockChange)
  | { readonly type: 'user.set'; readonly user_id: string; readonly script: AnchoredScript }
  | { readonly type: 'user.banned'; readonly user_id: string; readonly reason: string }
  | ({ readonly type: 'user.ban_requested'; readonly user_id: string } & Spoiled<AnswerFault>)
  | ({ readonly type: 'user.ban_answered'; readonly user_id: string } & Answered)
  | ({ readonly type: 'user.read'; readonly user_id: string } & Read)
  | ({ readonly type: 'account.read'; readonly user_id: string } & Read)
  | ({ readonly type: 'payment.read'; readonly lookup: string } & Partial<PaymentFacts> & Read)
  | ({ readonly type: 'fault.set' } & FaultDialSettings)
  | ({ readonly type: 'payment.requested' } & RequestedFacts & Spoiled<AnswerFault>)
  | ({
      readonly type: 'payment.applied';
      readonly fingerprint: string;
      readonly status: PaymentAnswer['status'];
      readonly settles_at?: string;
      readonly charge_back_at?: string;
    } & PaymentFacts &
      PaymentAnswer &
      Partial<Debit> &
      Scripted)
  | ({
      readonly type: 'payment.answered';
      readonly replayed: boolean;
      readonly status?: string;
    } & RequestedFacts &
      Partial<PaymentFacts> &
      Answered)
  | ({
      readonly type: 'ach.settled';
      /** End of the return window: by then it is returned or complete. */
      readonly final_at: string;
      readonly return_code?: string;
      readonly returns_at?: string;
    } & PaymentFacts &
      Debit &
      Scripted)
  | ({
      readonly type: 'ach.completed';
      readonly status: 'COMPLETED';
      readonly late_return_at?: string;
      readonly late_return_code?: string;
      readonly charge_back_at?: string;
    } & PaymentFacts &
      Scripted)
  | ({
      readonly type: 'ach.returned';
      readonly status: 'FAILED';
      readonly return_code: string;
      /** After completion: what looked paid is not. */
      readonly late: boolean;
    } & PaymentFacts &
      Credit)
  | ({ readonly type: 'charge_back.applied'; readonly status: 'CHARGED_BACK' } & PaymentFacts & Credit)
  | ({ readonly type: 'refund.requested'; readonly refund_key: string } & RefundSubject &
      Spoiled<AnswerFault>)
  | ({
      readonly type: 'refund.applied';
      readonly refund_key: string;
      readonly fingerprint: string;
      readonly status: 'COMPLETED' | 'FAILED';
      readonly error_code?: string;
      readonly error_message?: string;
    } & PaymentFacts &
      Partial<Credit>)
  | ({
      readonly type: 'refund.answered';
      readonly refund_key: string;
      readonly replayed: boolean;
      readonly status?: string;
    } & RefundSubject &
      Answered)
  | ({ readonly type: 'callback.delayed'; readonly publish_at: string } & CallbackNote &
      Spoiled<CallbackFault>)
  | ({ readonly type: 'callback.queued' } & CallbackNote & Spoiled<CallbackFault>)
  | {
      readonly type: 'callback.published';
      readonly callback_id: string;
      readonly callback_type: string;
      readonly confirmation_id: string;
      readonly user_id: string;
      readonly reference_id: string;
    }
  | ({
      readonly type: 'notification.requested';
      readonly user_id: string;
      readonly template: string;
      readonly dedupe_key: string;
    } & Spoiled<AnswerFault>)
  | {
      readonly type: 'notification.accepted';
      readonly user_id: string;
      readonly template: string;
      readonly dedupe_key: string;
      readonly duplicate: boolean;
    }
  | ({
      readonly type: 'notification.answered';
      readonly user_id: string;
      readonly dedupe_key: string;
    } & Answered)
  | {
      readonly type: 'request.rejected';
      readonly request: string;
      readonly http_status: number;
      readonly code: string;
    };

interface RefundSubject extends Partial<PaymentFacts> {
  readonly confirmation_id: string;
}

export interface CallbackNote {
  readonly callback_id: string;
  readonly user_id: string;
  readonly reference_id: string;
  readonly event: CallbackEvent;
}

/**
 * One line of the ledger. `seq` grows by one from 1; `at` is sandbox time. `more` ties it to the next line: both
 * happened or neither did.
 */
export type LedgerEntry = EntryBody & { readonly seq: number; readonly at: string; readonly more?: true };
export type EntryType = EntryBody['type'];
export type EntryOf<T extends EntryType> = Extract<LedgerEntry, { readonly type: T }>;
