import { orAborted } from '../in-time.ts';

/** First come, first served: one piece of work at a time. */
export class Turns {
  #tail: Promise<void> = Promise.resolve();

  /** Runs `work` when all work before it has finished. Rejects with the signal's reason if it aborts before that. */
  async take<T>(work: () => Promise<T>, giveUp: AbortSignal): Promise<T> {
    const before = this.#tail;
    let leave = (): void => undefined;
    const gone = new Promise<void>((resolve) => {
      leave = resolve;
    });
    // Work that gives up while it waits must not let the next one in before its turn.
    this.#tail = before.then(() => gone);
    try {
      await orAborted(before, giveUp);
      return await work();
    } finally {
      leave();
    }
  }
}
