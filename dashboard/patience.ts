import type { Timer } from '../src/ports/timer.ts';
import { BadCursorError } from '../src/errors.ts';
import { PageError } from './page-error.ts';

/** What was found out; null when the service did not answer. */
export type Answer<T> = { readonly value: T } | null;

/** A page that shows most of it now is worth more than all of it a minute later. */
const PATIENCE_MS = 2_500;

export class Patience {
  private readonly timer: Timer;
  private readonly onFailure: (error: unknown) => void;

  constructor(timer: Timer, onFailure: (error: unknown) => void) {
    this.timer = timer;
    this.onFailure = onFailure;
  }

  async ask<T>(question: () => Promise<T>): Promise<Answer<T>> {
    try {
      return { value: await this.inTime(question) };
    } catch (error) {
      // No service failed to answer: it was asked for what cannot be.
      if (error instanceof BadCursorError) throw error;
      this.onFailure(error);
      return null;
    }
  }

  /** For what a page is nothing without. */
  async inTime<T>(question: () => Promise<T>): Promise<T> {
    const answered = new AbortController();
    const tooLong = this.timer.sleep(PATIENCE_MS, answered.signal).then(
      () => Promise.reject(new PageError(503, 'Not now', 'The store does not answer in time. Try again.')),
      () => new Promise<never>(() => undefined),
    );
    try {
      return await Promise.race([question(), tooLong]);
    } finally {
      answered.abort();
    }
  }
}
