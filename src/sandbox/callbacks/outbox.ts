import type { CallbackNote, LedgerEntry } from '../ledger/entry.ts';
import type { Agenda } from '../payments/agenda.ts';

function noteOf({ callback_id, user_id, reference_id, event }: CallbackNote): CallbackNote {
  return { callback_id, user_id, reference_id, event };
}

/** Callbacks that the stream has not acknowledged yet, in order per user, rebuilt from the ledger. */
export class Outbox {
  readonly #byUser = new Map<string, CallbackNote[]>();
  readonly #delayed = new Map<string, CallbackNote>();
  readonly #waiting = new Set<string>();
  readonly #agenda: Agenda;

  constructor(agenda: Agenda) {
    this.#agenda = agenda;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Whether a callback of that payment is still to be sent. */
  holdsFor(userId: string, confirmationId: string): boolean {
    return (this.#byUser.get(userId) ?? []).some((note) => note.event.id === confirmationId);
  }

  delayed(callbackId: string): CallbackNote | undefined {
    return this.#delayed.get(callbackId);
  }

  /** The oldest of each user: sent together they cannot overtake one another, whichever of them fails. */
  nextRound(most: number): CallbackNote[] {
    const round: CallbackNote[] = [];
    for (const queue of this.#byUser.values()) {
      if (round.length === most) break;
      if (queue[0] !== undefined) round.push(queue[0]);
    }
    return round;
  }

  apply(entry: LedgerEntry): void {
    if (entry.type === 'callback.delayed') {
      const { callback_id } = entry;
      this.#delayed.set(callback_id, noteOf(entry));
      this.#agenda.plan({ step: 'publish', at: Date.parse(entry.publish_at), callback_id });
    } else if (entry.type === 'callback.queued') {
      this.#queue(noteOf(entry));
    } else if (entry.type === 'callback.published') {
      this.#published(entry.user_id, entry.callback_id);
    }
  }

  #queue(note: CallbackNote): void {
    this.#delayed.delete(note.callback_id);
    this.#waiting.add(note.callback_id);
    const queue = this.#byUser.get(note.user_id);
    if (queue) queue.push(note);
    else this.#byUser.set(note.user_id, [note]);
  }

  #published(userId: string, callbackId: string): void {
    this.#waiting.delete(callbackId);
    const left = (this.#byUser.get(userId) ?? []).filter((note) => note.callback_id !== callbackId);
    if (left.length > 0) this.#byUser.set(userId, left);
    else this.#byUser.delete(userId);
  }
}
