import type { Timer } from '../../../src/ports/timer.ts';

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: () => void;
}

/**
 * Time that passes only when a test says so. `idle` is awaited after each sleeper that wakes up, so that real requests
 * which it sends are answered before time goes on.
 */
export class ManualTimer implements Timer {
  readonly #idle: () => Promise<void>;
  #nowMs = 1_000;
  #sleepers: Sleeper[] = [];

  constructor(idle: () => Promise<void> = nextTurn) {
    this.#idle = idle;
  }

  elapsedMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const onAbort = (): void => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        reject(signal?.reason as Error);
      };
      const wake = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const sleeper = { wakeAtMs: this.#nowMs + ms, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Time passes; everybody who is due wakes up at their time, in order. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await this.#idle();
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#nowMs = Math.max(this.#nowMs, next.wakeAtMs);
      await this.#wake(next);
    }
    this.#nowMs = untilMs;
  }

  /** The process is stopped for this long: time has passed and no timer has fired. */
  stall(ms: number): void {
    this.#nowMs += ms;
  }

  /** … and goes on: late timers fire. */
  async catchUp(): Promise<void> {
    await this.advance(0);
  }

  get sleeping(): number {
    return this.#sleepers.length;
  }

  #next(untilMs: number): Sleeper | undefined {
    return this.#sleepers
      .filter(({ wakeAtMs }) => wakeAtMs <= untilMs)
      .sort((a, b) => a.wakeAtMs - b.wakeAtMs)[0];
  }

  async #wake(sleeper: Sleeper): Promise<void> {
    this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
    sleeper.wake();
    await this.#idle();
  }
}

/** Everything that is ready has run. */
export async function nextTurn(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
