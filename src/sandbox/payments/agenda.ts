import type { Instant } from '../calendar/new-york-time.ts';

/** Something that will happen to a payment, or to a callback that a fault holds back. */
export type DueStep =
  | { readonly step: 'settle' | 'finish' | 'late-return' | 'charge-back'; readonly confirmation_id: string }
  | { readonly step: 'publish'; readonly callback_id: string };

export type Due = DueStep & { readonly at: Instant };

interface Slot {
  readonly due: Due;
  /** Steps of the same instant happen in the order in which they were planned. */
  readonly order: number;
}

function before(a: Slot, b: Slot): boolean {
  return a.due.at < b.due.at || (a.due.at === b.due.at && a.order < b.order);
}

/** What comes next, by time: a binary heap. Steps that were overtaken stay in it and are ignored when they come up. */
export class Agenda {
  readonly #heap: Slot[] = [];
  #planned = 0;

  get nextAt(): Instant | undefined {
    return this.#heap[0]?.due.at;
  }

  plan(due: Due): void {
    this.#heap.push({ due, order: this.#planned });
    this.#planned += 1;
    this.#rise(this.#heap.length - 1);
  }

  takeDue(now: Instant): Due | undefined {
    const top = this.#heap[0];
    if (top === undefined || top.due.at > now) return undefined;
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    return top.due;
  }

  #rise(from: number): void {
    for (let child = from; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfBefore(child, parent)) return;
      child = parent;
    }
  }

  #sink(): void {
    for (let parent = 0; ;) {
      const left = 2 * parent + 1;
      const child = this.#earlier(left, left + 1);
      if (child === undefined || !this.#swapIfBefore(child, parent)) return;
      parent = child;
    }
  }

  #earlier(left: number, right: number): number | undefined {
    const a = this.#heap[left];
    const b = this.#heap[right];
    if (a === undefined) return undefined;
    return b !== undefined && before(b, a) ? right : left;
  }

  #swapIfBefore(child: number, parent: number): boolean {
    const a = this.#heap[child];
    const b = this.#heap[parent];
    if (a === undefined || b === undefined || !before(a, b)) return false;
    this.#heap[child] = b;
    this.#heap[parent] = a;
    return true;
  }
}
