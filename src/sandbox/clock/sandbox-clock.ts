import type { Instant } from '../calendar/new-york-time.ts';
import type { LedgerEntry } from '../ledger/entry.ts';
import { instantText } from './instant-text.ts';

export interface ClockReading {
  readonly now: string;
  readonly frozen: boolean;
  /** Grows by one with every change, so that others can wait for the next. */
  readonly version: number;
}

/** The time of the pretend world: the system's until it is set, then running on from there unless it is frozen. */
export class SandboxClock {
  #shiftMs = 0;
  #frozenAt: Instant | undefined;
  #version = 0;
  /** Time of the newest entry: the ledger stays in order even when the machine's clock is set back. */
  #latest: Instant = Number.NEGATIVE_INFINITY;

  now(): Instant {
    return Math.max(this.#frozenAt ?? Date.now() + this.#shiftMs, this.#latest);
  }

  get latestEntryAt(): Instant {
    return this.#latest;
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  get version(): number {
    return this.#version;
  }

  reading(): ClockReading {
    return { now: instantText(this.now()), frozen: this.frozen, version: this.#version };
  }

  apply(entry: LedgerEntry): void {
    this.#latest = Date.parse(entry.at);
    if (entry.type !== 'clock.set' && entry.type !== 'clock.advanced') return;
    const target = Date.parse(entry.now);
    this.#version += 1;
    this.#frozenAt = entry.frozen ? target : undefined;
    this.#shiftMs = entry.system === true ? 0 : target - Date.parse(entry.system_time);
    this.#latest = Math.min(this.#latest, target);
  }
}
