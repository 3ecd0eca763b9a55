import type { Timer } from '../src/ports/timer.ts';

interface Limit {
  /** So many cost nothing. */
  readonly freeFailures: number;
  readonly longestWaitMs: number;
  readonly mostAtOnce: number;
}

/** One visitor who types: an error or two cost nothing, and a visitor who sends more at once is not a person. */
const ONE: Limit = { freeFailures: 3, longestWaitMs: 5_000, mostAtOnce: 5 };
/** Many visitors may sit behind one address, and what one of them does must not shut the others out. */
const ADDRESS: Limit = { freeFailures: 30, longestWaitMs: 5_000, mostAtOnce: 25 };
/** Guessed from everywhere. No limit at once: it would shut out the user who bears the name. */
const NAME: Limit = { freeFailures: 30, longestWaitMs: 2_000, mostAtOnce: Number.POSITIVE_INFINITY };

const FIRST_WAIT_MS = 250;
/** How long failures are remembered. */
const MEMORY_MS = 10 * 60_000;
/** Beyond it the oldest are forgotten, so that no attacker fills the memory. */
const MOST_REMEMBERED = 10_000;
/** What is typed may be of any length. */
const LONGEST_NAME = 255;

interface Failures {
  count: number;
  lastMs: number;
  waiting: number;
  turn: Promise<unknown>;
}

/** A visitor who tries to sign in: where from, and as whom. */
export interface Visitor {
  readonly address: string;
  /** As it was typed; it is not proved. */
  readonly name: string;
}

/**
 * Guesses of one name from one address are answered one at a time, each later than the one before. All guesses from one
 * address, and all of one name, are slowed as well, later and for all of them alike.
 */
export class SignInGuard {
  private readonly timer: Timer;
  private readonly ones = new FailureBook(ONE);
  private readonly addresses = new FailureBook(ADDRESS);
  private readonly names = new FailureBook(NAME);

  constructor(timer: Timer) {
    this.timer = timer;
  }

  /** Null: too many at once. `check` says which user it is; null counts as a failure. */
  async guard<T>(
    { address, name }: Visitor,
    check: () => T | null,
  ): Promise<{ readonly result: T | null } | null> {
    const nowMs = this.timer.elapsedMs();
    const typed = name.slice(0, LONGEST_NAME);
    const one = this.ones.page(JSON.stringify([address, typed]), nowMs);
    const pages = [one, this.addresses.page(address, nowMs), this.names.page(typed, nowMs)];
    if (pages.some((page) => page.isCrowded)) return null;
    for (const { failures } of pages) failures.waiting += 1;
    const turn = one.failures.turn.then(() => this.answer(pages, check));
    one.failures.turn = turn;
    try {
      const result = await turn;
      if (result !== null) one.failures.count = 0;
      return { result };
    } finally {
      for (const { failures } of pages) failures.waiting -= 1;
    }
  }

  private async answer<T>(pages: readonly Page[], check: () => T | null): Promise<T | null> {
    await this.timer.sleep(Math.max(...pages.map(({ waitMs }) => waitMs)));
    const result = check();
    if (result !== null) return result;
    for (const { failures } of pages) {
      failures.count += 1;
      failures.lastMs = this.timer.elapsedMs();
    }
    return null;
  }
}

/** What is remembered about one visitor, address or name, under its limit. */
class Page {
  readonly failures: Failures;
  private readonly limit: Limit;

  constructor(failures: Failures, limit: Limit) {
    this.failures = failures;
    this.limit = limit;
  }

  get isCrowded(): boolean {
    return this.failures.waiting >= this.limit.mostAtOnce;
  }

  get waitMs(): number {
    const { freeFailures, longestWaitMs } = this.limit;
    const over = this.failures.count - freeFailures;
    return over < 0 ? 0 : Math.min(longestWaitMs, FIRST_WAIT_MS * 2 ** Math.min(over, 10));
  }
}

class FailureBook {
  private readonly limit: Limit;
  private readonly known = new Map<string, Failures>();

  constructor(limit: Limit) {
    this.limit = limit;
  }

  page(key: string, nowMs: number): Page {
    return new Page(this.failuresOf(key, nowMs), this.limit);
  }

  private failuresOf(key: string, nowMs: number): Failures {
    const known = this.known.get(key);
    if (known !== undefined && (known.waiting > 0 || nowMs - known.lastMs < MEMORY_MS)) return known;
    const fresh = { count: 0, lastMs: nowMs, waiting: 0, turn: Promise.resolve() };
    this.known.delete(key);
    this.known.set(key, fresh);
    const [oldest] = this.known.keys();
    if (this.known.size > MOST_REMEMBERED && oldest !== undefined) this.known.delete(oldest);
    return fresh;
  }
}
