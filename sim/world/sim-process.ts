import type { Instant } from '../../src/domain/instant.ts';
import { instantFromMs } from '../../src/domain/instant.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Timer } from '../../src/ports/timer.ts';
import type { Planned, Timeline } from './timeline.ts';

/**
 * A process of the simulated machine. It dies as a real one does, at whatever it was waiting for, and nothing of it runs any
 * more, no `finally` either; requests that it has sent are still on their way. Put to sleep it misses what happens meanwhile
 * and wakes up late, as after SIGSTOP or a long pause of the garbage collector.
 */
export class SimProcess {
  readonly name: string;
  readonly timer: Timer;
  readonly clock: Clock;
  private readonly timeline: Timeline;
  private alive = true;
  private wakesAtMs = 0;
  /** How far its wall clock is off. Its timers are not: they count elapsed time. */
  clockOffMs = 0;

  constructor(name: string, timeline: Timeline) {
    this.name = name;
    this.timeline = timeline;
    this.timer = {
      elapsedMs: () => timeline.nowMs,
      sleep: (ms, signal) => this.sleepFor(ms, signal),
    };
    this.clock = { now: (): Instant => instantFromMs(Math.floor(timeline.nowMs) + this.clockOffMs) };
  }

  get isAlive(): boolean {
    return this.alive;
  }

  get isAsleep(): boolean {
    return this.timeline.nowMs < this.wakesAtMs;
  }

  die(): void {
    this.alive = false;
  }

  sleepUntil(wakesAtMs: number): void {
    this.wakesAtMs = Math.max(this.wakesAtMs, wakesAtMs);
  }

  /** Runs `work` in this process after a while: never if it is dead by then, and not before it wakes. */
  deliver(delayMs: number, work: () => void): Planned {
    let planned: Planned;
    const due = (): void => {
      if (!this.alive) return;
      if (this.isAsleep) planned = this.timeline.after(this.wakesAtMs - this.timeline.nowMs, due);
      else work();
    };
    planned = this.timeline.after(delayMs, due);
    return { cancel: () => planned.cancel() };
  }

  private sleepFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const onAbort = (): void => {
        planned.cancel();
        reject(signal?.reason as Error);
      };
      const planned = this.deliver(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }
}
