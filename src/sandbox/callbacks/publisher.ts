import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Journal } from '../journal.ts';
import type { CallbackNote, EntryBody } from '../ledger/entry.ts';
import type { Timeline } from '../timeline.ts';
import { ROUND_SIZE, type CallbackStream } from './callback-stream.ts';

export interface PublisherReport {
  readonly state: 'idle' | 'publishing' | 'retrying' | 'no stream configured';
  readonly pending: number;
  readonly last_error?: string;
}

interface Wait {
  readonly isOver: () => boolean;
  readonly end: () => void;
}

const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 5000;

function publishedEntry({ callback_id, user_id, reference_id, event }: CallbackNote): EntryBody {
  return {
    type: 'callback.published',
    callback_id,
    callback_type: event.type,
    confirmation_id: event.id,
    user_id,
    reference_id,
  };
}

/**
 * Sends what is in the outbox, in order per user, at least once: a callback counts as published only after the
 * stream acknowledged it, and whatever fails is sent again, also after a restart.
 */
export class Publisher {
  readonly #journal: Journal;
  readonly #timeline: Timeline;
  readonly #stream: CallbackStream | undefined;
  readonly #log: Logger;
  readonly #waits = new Set<Wait>();
  #running: Promise<void> | undefined;
  #failures = 0;
  #lastError: string | undefined;
  #pause = new AbortController();
  #stopped = false;

  constructor(journal: Journal, timeline: Timeline, stream: CallbackStream | undefined, log: Logger) {
    this.#journal = journal;
    this.#timeline = timeline;
    this.#stream = stream;
    this.#log = log;
    journal.onRecorded((entry) => {
      if (entry.type === 'callback.queued') this.#wake();
      if (entry.type === 'callback.published') this.#endWaits();
    });
  }

  start(): void {
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pause.abort();
    for (const wait of this.#waits) wait.end();
    await this.#running;
    this.#stream?.close();
  }

  report(): PublisherReport {
    const pending = this.#journal.books.outbox.size;
    if (!this.#stream) return { state: 'no stream configured', pending };
    const state = this.#failures > 0 ? 'retrying' : pending > 0 ? 'publishing' : 'idle';
    return { state, pending, ...(this.#lastError !== undefined && { last_error: this.#lastError }) };
  }

  /** Resolves when nothing is left to send, or after `mostMs`. */
  drained(mostMs: number): Promise<void> {
    return this.#until(() => this.#journal.books.outbox.size === 0, mostMs);
  }

  /** Resolves when no callback of that payment is left to send, or after `mostMs`. */
  sent(userId: string, confirmationId: string, mostMs: number): Promise<void> {
    const { outbox } = this.#journal.books;
    return this.#until(() => !outbox.holdsFor(userId, confirmationId), mostMs);
  }

  async #until(isOver: () => boolean, mostMs: number): Promise<void> {
    if (!this.#stream || this.#stopped || isOver()) return;
    // Someone is waiting: try now instead of at the end of a long back-off.
    this.#pause.abort();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => wait.end(), mostMs);
      const wait: Wait = {
        isOver,
        end: () => {
          clearTimeout(timer);
          this.#waits.delete(wait);
          resolve();
        },
      };
      this.#waits.add(wait);
    });
  }

  #endWaits(): void {
    for (const wait of this.#waits) if (wait.isOver()) wait.end();
  }

  #wake(): void {
    if (!this.#stream || this.#stopped || this.#running) return;
    this.#running = this.#sendAll(this.#stream).finally(() => {
      this.#running = undefined;
      // Something may have been queued between the last look and now.
      if (this.#journal.books.outbox.size > 0) this.#wake();
    });
  }

  async #sendAll(stream: CallbackStream): Promise<void> {
    // Lets the entries of the current step be recorded first, so that they go out in full rounds.
    await Promise.resolve();
    while (!this.#stopped && this.#journal.books.outbox.size > 0) {
      const problem = await this.#sendRound(stream);
      if (problem === undefined) this.#succeeded();
      else await this.#backOff(problem);
    }
  }

  async #sendRound(stream: CallbackStream): Promise<string | undefined> {
    const round = this.#journal.books.outbox.nextRound(ROUND_SIZE);
    try {
      const taken = await stream.put(round.map((note) => note.event));
      const sent = round.filter((_, i) => taken[i]);
      if (sent.length > 0) this.#timeline.record(...sent.map(publishedEntry));
      return sent.length === round.length ? undefined : 'the stream refused some records';
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 300) : 'unknown error';
    }
  }

  #succeeded(): void {
    if (this.#failures > 0) this.#log.info('callbacks are being published again');
    this.#failures = 0;
    this.#lastError = undefined;
  }

  async #backOff(problem: string): Promise<void> {
    this.#failures += 1;
    this.#lastError = problem;
    const waitMs = Math.min(FIRST_BACKOFF_MS * 2 ** (this.#failures - 1), LONGEST_BACKOFF_MS);
    this.#log.warn({ pending: this.#journal.books.outbox.size, problem, waitMs }, 'callbacks not published');
    this.#pause = new AbortController();
    if (this.#stopped) return;
    await sleep(waitMs, undefined, { signal: this.#pause.signal }).catch(() => undefined);
  }
}
