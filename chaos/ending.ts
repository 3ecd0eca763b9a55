/** The operator pressed Ctrl-C. */
export class Interruption extends Error {}

/** How to end what was begun so far, at any time: the last first, because the parts need each other. */
export class Ending {
  private readonly steps: (() => Promise<unknown>)[] = [];
  private ended: Promise<void> | null = null;

  /** What is begun when the end has come already is ended at once. */
  add(step: () => Promise<unknown>): void {
    if (this.ended === null) this.steps.unshift(step);
    else void step().catch(() => undefined);
  }

  /** Everything is tried, whatever fails. May be called again. */
  end(): Promise<void> {
    this.ended ??= this.endAll();
    return this.ended;
  }

  private async endAll(): Promise<void> {
    for (const step of this.steps) await step().catch(() => undefined);
  }
}
