import type { Journal } from '../journal.ts';

/** Lets callers wait for the next change of the clock. */
export class ClockWatch {
  readonly #journal: Journal;
  readonly #waiting = new Set<() => void>();

  constructor(journal: Journal) {
    this.#journal = journal;
    journal.onRecorded((entry) => {
      if (entry.type !== 'clock.set' && entry.type !== 'clock.advanced') return;
      for (const wake of [...this.#waiting]) wake();
    });
  }

  /** Resolves once the version is another than `seen`, after `mostMs`, or when the signal aborts. */
  async changedFrom(seen: number, mostMs: number, signal: AbortSignal): Promise<void> {
    if (this.#journal.books.clock.version !== seen || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, mostMs);
      signal.addEventListener('abort', wake, { once: true });
      this.#waiting.add(wake);
    });
  }
}
