import type { Instant } from '../calendar/new-york-time.ts';
import { instantText } from '../clock/instant-text.ts';
import type { ChosenFault } from '../faults/fault-dial.ts';
import type { CallbackFault } from '../faults/fault-rule.ts';
import type { Journal } from '../journal.ts';
import type { CallbackNote, EntryBody } from '../ledger/entry.ts';
import type { Payment } from '../payments/payment.ts';
import { callbackEvent, type PaymentChange } from './callback-event.ts';

const DEFAULT_DELAY_MS = 86_400_000;

export type EarlyRule = ChosenFault<CallbackFault>;

/** Decides, when a payment changes, what the stream is told and when. */
export class CallbackDesk {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** The rule, if any, that makes this payment's next callback come before its HTTP answer. */
  earlyRule(payment: Payment, change: PaymentChange): EarlyRule | undefined {
    // Whether there is a callback at all comes first: a rule must not be used up on a payment that has none.
    if (callbackEvent(payment, change) === undefined) return undefined;
    const { facts } = payment;
    return this.#journal.books.faults.forCallback(['early-callback'], facts.confirmation_id, facts);
  }

  /** The entries to write together with the change itself: a kill in between must not lose the callback. */
  plan(payment: Payment, change: PaymentChange, early?: EarlyRule): EntryBody[] {
    const event = callbackEvent(payment, change);
    if (event === undefined) return [];
    const { user_id, reference_id } = payment.facts;
    const note: CallbackNote = { callback_id: `${event.id}/${event.type}`, user_id, reference_id, event };
    if (early === undefined) return this.#spoiled(note, payment, change.at);
    const { fault, rule_id } = early;
    return [{ type: 'callback.queued', ...note, fault, rule_id }];
  }

  /** A callback that a fault held back is due now. */
  release(callbackId: string, at: Instant): void {
    const note = this.#journal.books.outbox.delayed(callbackId);
    if (note !== undefined) this.#journal.record(at, { type: 'callback.queued', ...note });
  }

  #spoiled(note: CallbackNote, payment: Payment, at: Instant): EntryBody[] {
    const kinds = ['duplicate-callback', 'late-callback'] as const;
    const chosen = this.#journal.books.faults.forCallback(kinds, note.callback_id, payment.facts);
    if (chosen === undefined) return [{ type: 'callback.queued', ...note }];
    const { fault, rule_id } = chosen;
    if (fault === 'late-callback') {
      const publish_at = instantText(at + (chosen.ms ?? DEFAULT_DELAY_MS));
      return [{ type: 'callback.delayed', publish_at, ...note, fault, rule_id }];
    }
    const again = { ...note, callback_id: `${note.callback_id}/again` };
    return [
      { type: 'callback.queued', ...note },
      { type: 'callback.queued', ...again, fault, rule_id },
    ];
  }
}
