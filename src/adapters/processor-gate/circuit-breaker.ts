import type { Timer } from '../../ports/timer.ts';

export interface BreakerOptions {
  readonly timer: Timer;
  /** So many charges without an answer, one after the other, and none is let through. */
  readonly failuresToOpen: number;
  readonly openMs: number;
  /** How long the one charge that looks whether it is back may take, before another is sent to look. */
  readonly probeMs: number;
  readonly onChange: (state: 'open' | 'closed') => void;
}

/**
 * Lets every charge through while the processor answers. When it does not, none for a while; then one, to see whether
 * it is back. Admission and result are two calls, because admission is asked before an intent is written and the result
 * is known long after.
 */
export class CircuitBreaker {
  private readonly options: BreakerOptions;
  private failures = 0;
  /** Until when no charge is admitted; null while closed. */
  private openUntilMs: number | null = null;

  constructor(options: BreakerOptions) {
    this.options = options;
  }

  /** As `admit`, without going to look. */
  waitMs(): number | null {
    if (this.openUntilMs === null) return null;
    const leftMs = this.openUntilMs - this.options.timer.elapsedMs();
    return leftMs > 0 ? leftMs : null;
  }

  /** Null: go ahead. Otherwise in how many milliseconds to ask again. */
  admit(): number | null {
    if (this.openUntilMs === null) return null;
    const now = this.options.timer.elapsedMs();
    if (now < this.openUntilMs) return this.openUntilMs - now;
    this.openUntilMs = now + this.options.probeMs;
    return null;
  }

  record(answered: boolean): void {
    const { failuresToOpen, openMs, timer, onChange } = this.options;
    const wasOpen = this.openUntilMs !== null;
    if (answered) {
      this.failures = 0;
      this.openUntilMs = null;
      if (wasOpen) onChange('closed');
      return;
    }
    this.failures += 1;
    if (this.failures < failuresToOpen) return;
    this.openUntilMs = timer.elapsedMs() + openMs;
    if (!wasOpen) onChange('open');
  }
}
