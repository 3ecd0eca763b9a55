/** An event that a stream has taken, by what makes it the same when it comes again. */
export interface PutEvent {
  readonly stream: 'users' | 'payments';
  readonly identity: string;
  readonly userId: string;
  readonly type: string;
  /** Nothing is wrong with it: it belongs in no quarantine. */
  readonly isGood: boolean;
}

/** A promise: a caller heard a 2xx. */
export interface Promised {
  readonly what: 'payment' | 'signal' | 'run';
  /** Where one learns what became of it. */
  readonly statusUrl: string;
}

/** Everything that must not be lost, written down by the callers who asked for it. */
export class Book {
  readonly events: PutEvent[] = [];
  /** Periods that were paid before their members joined: this bank knows nothing of them. */
  readonly paidBefore = new Set<string>();
  private readonly promises = new Map<string, Promised>();
  /** Asked for and not promised: the record was paid, a run was charging it, and the like. */
  refused = 0;

  put(event: PutEvent): void {
    this.events.push(event);
  }

  promise(promised: Promised): void {
    this.promises.set(promised.statusUrl, promised);
  }

  get promised(): readonly Promised[] {
    return [...this.promises.values()];
  }
}
