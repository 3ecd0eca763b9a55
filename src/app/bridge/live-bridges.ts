import type { Attendance, SignOfLife } from '../../ports/attendance.ts';
import type { Timer } from '../../ports/timer.ts';

export interface LiveBridgesOptions {
  readonly attendance: Attendance;
  readonly stream: string;
  /** New for every process. */
  readonly bridgeId: string;
  readonly timer: Timer;
  /** A bridge whose sign has not changed for so long is not counted. */
  readonly deadAfterMs: number;
}

/**
 * How many bridges read the stream. Lease owners alone would not tell: a bridge that has just joined owns nothing, and the
 * others must make room for it.
 */
export class LiveBridges {
  private readonly options: LiveBridgesOptions;
  private readonly seen = new Map<string, { readonly beat: number; readonly atMs: number }>();
  private beat = 0;

  constructor(options: LiveBridgesOptions) {
    this.options = options;
  }

  /** Signs and counts, oneself included. */
  async attend(): Promise<number> {
    const { attendance, stream, bridgeId, deadAfterMs } = this.options;
    this.beat += 1;
    await attendance.sign(stream, { bridgeId, beat: this.beat });
    let live = 1;
    for (const sign of await attendance.list(stream)) {
      if (sign.bridgeId === bridgeId) continue;
      if (this.silentMs(sign) < deadAfterMs) live += 1;
      // One that was only slow signs again.
      else await attendance.remove(stream, sign);
    }
    return live;
  }

  async leave(): Promise<void> {
    const { attendance, stream, bridgeId } = this.options;
    await attendance.remove(stream, { bridgeId, beat: this.beat });
  }

  private silentMs({ bridgeId, beat }: SignOfLife): number {
    const nowMs = this.options.timer.elapsedMs();
    const before = this.seen.get(bridgeId);
    if (before?.beat === beat) return nowMs - before.atMs;
    this.seen.set(bridgeId, { beat, atMs: nowMs });
    return 0;
  }
}
