import { createHash } from 'node:crypto';

/** Of a long run only the end is of interest, and whoever wants more asks for a file. */
const LINES_KEPT = 400_000;

/**
 * What happened, line by line. Two runs of one seed write the same lines, byte for byte; their digest shows it without
 * keeping them.
 */
export class Trace {
  readonly lines: string[] = [];
  private readonly hash = createHash('sha256');
  private readonly nowMs: () => number;
  private readonly startMs: number;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
    this.startMs = nowMs();
  }

  write(who: string, what: string): void {
    const line = `${clockText(this.nowMs() - this.startMs)} ${who} ${what}`;
    this.hash.update(line);
    this.hash.update('\n');
    if (this.lines.length < LINES_KEPT) this.lines.push(line);
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
