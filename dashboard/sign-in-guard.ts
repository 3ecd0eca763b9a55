import type { Timer } from '../src/ports/timer.ts';

/** A typing error costs nothing. */
const FREE_FAILURES = 3;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;
/** How long failures are remembered. */
const MEMORY_MS = 10 * 60_000;
/** Whoever sends more at once is not a person. */
const MOST_WAITING = 5;
/** Addresses that are remembered. Beyond it the oldest are forgotten, so that nobody fills the memory. */
const MOST_ADDRESSES = 10_000;

interface Failures {
  count: number;
  lastMs: number;
  waiting: number;
  turn: Promise<unknown>;
}

/** Guesses from one address are answered one at a time, each later than the one before. */
export class SignInGuard {
  private readonly timer: Timer;
  private readonly byAddress = new Map<string, Failures>();

  constructor(timer: Timer) {
    this.timer = timer;
  }

  /** Null: too many at once. `check` says who it is; null counts as a failure. */
  async guard<T>(address: string, check: () => T | null): Promise<{ readonly result: T | null } | null> {
    const known = this.of(address);
    if (known.waiting >= MOST_WAITING) return null;
    known.waiting += 1;
    const turn = known.turn.then(() => this.answer(known, check));
    known.turn = turn;
    try {
      return { result: await turn };
    } finally {
      known.waiting -= 1;
    }
  }

  private async answer<T>(known: Failures, check: () => T | null): Promise<T | null> {
    await this.timer.sleep(waitMs(known.count));
    const result = check();
    known.count = result === null ? known.count + 1 : 0;
    known.lastMs = this.timer.elapsedMs();
    return result;
  }

  private of(address: string): Failures {
    const nowMs = this.timer.elapsedMs();
    const known = this.byAddress.get(address);
    if (known !== undefined && (known.waiting > 0 || nowMs - known.lastMs < MEMORY_MS)) return known;
    const fresh = { count: 0, lastMs: nowMs, waiting: 0, turn: Promise.resolve() };
    this.byAddress.delete(address);
    this.byAddress.set(address, fresh);
    const [oldest] = this.byAddress.keys();
    if (this.byAddress.size > MOST_ADDRESSES && oldest !== undefined) this.byAddress.delete(oldest);
    return fresh;
  }
}

const waitMs = (failures: number): number =>
  failures < FREE_FAILURES
    ? 0
    : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - FREE_FAILURES, 10));
