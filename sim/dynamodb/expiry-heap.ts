import type { Key } from './key-schema.ts';

/** When an item is due to vanish, as it said at the time; by now it may say otherwise, or be gone. */
export interface Expiry {
  readonly seconds: number;
  /** Those of one second go in the order in which they were noted. */
  readonly number: number;
  readonly key: Key;
}

const isEarlier = (a: Expiry, b: Expiry): boolean =>
  a.seconds < b.seconds || (a.seconds === b.seconds && a.number < b.number);

/** The earliest expiry is at hand without looking at the others. */
export class ExpiryHeap {
  private readonly heap: Expiry[] = [];
  private noted = 0;

  note(seconds: number, key: Key): void {
    const expiry = { seconds, number: (this.noted += 1), key };
    let place = this.heap.push(expiry) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isEarlier(expiry, this.heap[parent] as Expiry)) break;
      this.heap[place] = this.heap[parent] as Expiry;
      place = parent;
    }
    this.heap[place] = expiry;
  }

  hasBefore(seconds: number): boolean {
    return (this.heap[0]?.seconds ?? Infinity) < seconds;
  }

  /** Takes out the earliest one if it lies before this second. */
  takeBefore(seconds: number): Expiry | undefined {
    const first = this.heap[0];
    if (first === undefined || first.seconds >= seconds) return undefined;
    const last = this.heap.pop() as Expiry;
    if (this.heap.length > 0) this.sink(last);
    return first;
  }

  private sink(expiry: Expiry): void {
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.heap.length) break;
      if (
        child + 1 < this.heap.length &&
        isEarlier(this.heap[child + 1] as Expiry, this.heap[child] as Expiry)
      )
        child += 1;
      if (!isEarlier(this.heap[child] as Expiry, expiry)) break;
      this.heap[place] = this.heap[child] as Expiry;
      place = child;
    }
    this.heap[place] = expiry;
  }
}
