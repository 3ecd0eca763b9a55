const OTHER = 'other';
/** Our own reasons and processors' codes look like this; messages and numbers do not. */
const REASON = /^(?=.{1,60}$)[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*$/;
/** Ours are some forty; a processor that sends a new code with every decline must not make a new series each time. */
const MOST_REASONS = 150;

/** Reasons partly come from outside, and each new label is kept for as long as the process lives. */
export class ReasonLabels {
  private readonly known = new Set<string>();

  label(reason: string): string {
    if (this.known.has(reason)) return reason;
    if (!REASON.test(reason) || this.known.size >= MOST_REASONS) return OTHER;
    this.known.add(reason);
    return reason;
  }
}
