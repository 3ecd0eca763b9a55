import { createHash } from 'node:crypto';

/** Of a long run only the end is of interest: what led to it. All of it would not fit into memory. */
const LINES_KEPT = 400_000;

/**
 * What happened, line by line. Two runs of one seed write the same lines, byte for byte; their digest shows it without
 * keeping them.
 */
export class Trace {
  /** A ring: once it is full, the newest line takes the place of the oldest. */
  private readonly kept: string[] = [];
  private readonly mostKept: number;
  private written = 0;
  private readonly hash = createHash('sha256');
  private readonly nowMs: () => number;
  private readonly startMs: number;

  constructor(nowMs: () => number, mostKept = LINES_KEPT) {
    this.nowMs = nowMs;
    this.startMs = nowMs();
    this.mostKept = mostKept;
  }

  /** The newest, in their order. Where older ones are left out, the first line says so. */
  get lines(): string[] {
    const leftOut = this.written - this.kept.length;
    if (leftOut === 0) return [...this.kept];
    const oldest = this.written % this.mostKept;
    return [`(${leftOut} earlier lines are left out)`].concat(
      this.kept.slice(oldest),
      this.kept.slice(0, oldest),
    );
  }

  write(who: string, what: string): void {
    const line = `${clockText(this.nowMs() - this.startMs)} ${who} ${what}`;
    this.hash.update(line);
    this.hash.update('\n');
    this.kept[this.written % this.mostKept] = line;
    this.written += 1;
  }

  /** Ends the trace. */
  digest(): string {
    return this.hash.digest('hex');
  }
}

/** `12d 07:00:05.123`, counted from the beginning. */
function clockText(elapsedMs: number): string {
  const ms = Math.round(elapsedMs);
  const day = Math.floor(ms / 86_400_000);
  return `${day}d ${new Date(ms % 86_400_000).toISOString().slice(11, 23)}`;
}
