import type { Instant } from '../calendar/new-york-time.ts';
import { instantText } from '../clock/instant-text.ts';
import type { Journal } from '../journal.ts';
import type { CallbackNote } from '../ledger/entry.ts';
import type { Payment } from '../payments/payment.ts';
import type { ChosenFault } from '../faults/fault-dial.ts';
import type { CallbackFault } from '../faults/fault-rule.ts';
import { callbackEvent, type CallbackStatus } from './callback-event.ts';

const DEFAULT_DELAY_MS = 86_400_000;

/** Decides, when a payment changes, what the stream is told and when. */
export class CallbackDesk {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** The rule, if any, that makes this payment's next callback come before its HTTP answer. */
  earlyRule(payment: Payment, status: CallbackStatus): ChosenFault<CallbackFault> | undefined {
    // Whether there is a callback at all comes first: a rule must not be used up on a payment that has none.
    if (callbackEvent(payment, status, '') === undefined) return undefined;
    const { facts } = payment;
    return this.#journal.books.faults.forCallback(['early-callback'], facts.confirmation_id, facts);
  }

  announce(payment: Payment, status: CallbackStatus, at: Instant, early?: ChosenFault<CallbackFault>): void {
    const event = callbackEvent(payment, status, instantText(at));
    if (event === undefined) return;
    const { facts } = payment;
    const note: CallbackNote = {
      callback_id: `${event.id}/${event.type}`,
      user_id: facts.user_id,
      reference_id: facts.reference_id,
      event,
    };
    if (early !== undefined) {
      const { fault, rule_id } = early;
      this.#journal.record(at, { type: 'callback.queued', ...note, fault, rule_id });
      return;
    }
    this.#queueOrSpoil(note, payment, at);
  }

  /** A callback that a fault held back is due now. */
  release(callbackId: string, at: Instant): void {
    const note = this.#journal.books.outbox.delayed(callbackId);
    if (note !== undefined) this.#journal.record(at, { type: 'callback.queued', ...note });
  }

  #queueOrSpoil(note: CallbackNote, payment: Payment, at: Instant): void {
    const kinds = ['duplicate-callback', 'late-callback'] as const;
    const spoiled = this.#journal.books.faults.forCallback(kinds, note.callback_id, payment.facts);
    if (spoiled === undefined) {
      this.#journal.record(at, { type: 'callback.queued', ...note });
      return;
    }
    const { fault, rule_id } = spoiled;
    if (fault === 'late-callback') {
      const publish_at = instantText(at + (spoiled.ms ?? DEFAULT_DELAY_MS));
      this.#journal.record(at, { type: 'callback.delayed', publish_at, ...note, fault, rule_id });
      return;
    }
    const again = { ...note, callback_id: `${note.callback_id}/again` };
    this.#journal.record(
      at,
      { type: 'callback.queued', ...note },
      { type: 'callback.queued', ...again, fault, rule_id },
    );
  }
}
