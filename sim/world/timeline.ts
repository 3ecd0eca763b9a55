/** Something that is going to happen. */
export interface Planned {
  cancel(): void;
}

interface Entry extends Planned {
  readonly dueMs: number;
  /** Of two that are due at the same moment the one that was planned first comes first. */
  readonly order: number;
  /** It comes also while every process is asleep. */
  readonly isOnItsWay: boolean;
  /** Null once it was cancelled. */
  work: (() => void) | null;
}

const STEPS_BETWEEN_TURNS = 1_000;

/**
 * Simulated time. It stands still while any process works, and jumps to the next thing that is planned when none does.
 * One step is one planned thing and everything that follows from it at once: promises that it settles, and what their
 * owners do until they wait again.
 */
export class Timeline {
  private readonly heap: Entry[] = [];
  private order = 0;
  private time: number;
  private taken = 0;

  constructor(startMs: number) {
    this.time = startMs;
  }

  get nowMs(): number {
    return this.time;
  }

  /** How many steps were taken. */
  get steps(): number {
    return this.taken;
  }

  after(delayMs: number, work: () => void): Planned {
    return this.plan(delayMs, work, false);
  }

  /** What arrives after so long, also while processes are asleep. */
  arriving(delayMs: number, work: () => void): Planned {
    return this.plan(delayMs, work, true);
  }

  /** When the next thing is due. Null: nothing is planned. */
  nextMs(): number | null {
    this.dropCancelled();
    return this.heap[0]?.dueMs ?? null;
  }

  /** False: nothing is planned any more. */
  async step(): Promise<boolean> {
    this.dropCancelled();
    const entry = this.pop();
    if (entry === undefined) return false;
    await this.take(entry);
    return true;
  }

  /**
   * As if every process had been asleep meanwhile. What is on its way arrives at its time; whatever else was due in
   * between comes late, in its order.
   */
  async leap(toMs: number): Promise<void> {
    for (let next = this.nextArrival(toMs); next !== null; next = this.nextArrival(toMs))
      await this.take(next);
    this.time = Math.max(this.time, toMs);
  }

  private async take(entry: Entry): Promise<void> {
    this.time = Math.max(this.time, entry.dueMs);
    this.taken += 1;
    const { work } = entry;
    // An arrival is still among what is planned.
    entry.cancel();
    work?.();
    await (this.taken % STEPS_BETWEEN_TURNS === 0 ? heard() : settled());
  }

  private nextArrival(beforeMs: number): Entry | null {
    let first: Entry | null = null;
    for (const entry of this.heap) {
      if (entry.isOnItsWay && entry.work !== null && entry.dueMs < beforeMs)
        first = first === null || isBefore(entry, first) ? entry : first;
    }
    return first;
  }

  private plan(delayMs: number, work: () => void, isOnItsWay: boolean): Planned {
    const entry: Entry = {
      dueMs: this.time + Math.max(0, delayMs),
      order: (this.order += 1),
      isOnItsWay,
      work,
      cancel() {
        entry.work = null;
      },
    };
    this.push(entry);
    return entry;
  }

  private dropCancelled(): void {
    while (this.heap.length > 0 && this.heap[0]?.work === null) this.pop();
  }

  private push(entry: Entry): void {
    const { heap } = this;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!isBefore(entry, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  private pop(): Entry | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && isBefore(heap[right] as Entry, heap[child] as Entry)) child = right;
      if (!isBefore(heap[child] as Entry, last)) break;
      heap[at] = heap[child] as Entry;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const isBefore = (one: Entry, other: Entry): boolean =>
  one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order);

/**
 * Every promise that can go on without waiting for the timeline has gone on. Nothing in the simulated world does real input
 * or output: the next tick comes when all of them wait again. A turn of the event loop would do too, and takes longer.
 */
const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** A turn of the event loop, so that a signal to end this process is heard. */
const heard = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
