import type { Instant } from './calendar/new-york-time.ts';
import type { Journal } from './journal.ts';
import type { EntryBody } from './ledger/entry.ts';
import type { PaymentLifecycle } from './payments/payment-lifecycle.ts';

const LONGEST_TIMER_MS = 2_147_483_647;

/** Keeps the ledger in order of time: whoever asks for now gets it only after everything due until now happened. */
export class Timeline {
  readonly #journal: Journal;
  readonly #lifecycle: PaymentLifecycle;
  #timer: NodeJS.Timeout | undefined;
  #armedFor: Instant | undefined;
  #stopped = false;

  constructor(journal: Journal, lifecycle: PaymentLifecycle) {
    this.#journal = journal;
    this.#lifecycle = lifecycle;
    journal.onRecorded((entry) => {
      const clockChanged = entry.type === 'clock.set' || entry.type === 'clock.advanced';
      if (clockChanged || journal.books.agenda.nextAt !== this.#armedFor) this.#arm();
    });
  }

  now(): Instant {
    const { clock, agenda } = this.#journal.books;
    const now = clock.now();
    for (let due = agenda.takeDue(now); due !== undefined; due = agenda.takeDue(now)) {
      this.#lifecycle.perform(due);
    }
    return now;
  }

  record(...bodies: readonly EntryBody[]): void {
    this.#journal.record(this.now(), ...bodies);
  }

  start(): void {
    this.now();
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const { clock, agenda } = this.#journal.books;
    this.#armedFor = agenda.nextAt;
    if (this.#stopped || clock.frozen || this.#armedFor === undefined) return;
    const waitMs = Math.min(Math.max(this.#armedFor - clock.now(), 0), LONGEST_TIMER_MS);
    this.#timer = setTimeout(() => {
      this.now();
      this.#arm();
    }, waitMs);
  }
}
