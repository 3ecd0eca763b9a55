/** Where an entry stands: by its key, and among equal keys by its tie. */
export interface Place {
  readonly key: string;
  readonly tie: string;
}

const MOST_IN_CHUNK = 512;

export const isBefore = (a: Place, b: Place): boolean => a.key < b.key || (a.key === b.key && a.tie < b.tie);

/**
 * Entries in the order of their places. In chunks, because a new entry moves all that follow it in its array: that is
 * nothing in a partition of twenty and a lot in an index where every record has the same status.
 */
export class SortedList<T extends Place> {
  private readonly chunks: T[][] = [];

  get isEmpty(): boolean {
    return this.chunks.length === 0;
  }

  get(place: Place): T | undefined {
    const chunk = this.chunkOf(place);
    const found = chunk?.[positionIn(chunk, place)];
    return found !== undefined && isAt(found, place) ? found : undefined;
  }

  /** Puts an entry where it belongs, instead of the one that has the same place. */
  put(entry: T): void {
    const chunk = this.chunkOf(entry) ?? this.chunks[this.chunks.length - 1];
    if (chunk === undefined) {
      this.chunks.push([entry]);
      return;
    }
    const position = positionIn(chunk, entry);
    const present = chunk[position];
    if (present !== undefined && isAt(present, entry)) chunk[position] = entry;
    else chunk.splice(position, 0, entry);
    if (chunk.length > MOST_IN_CHUNK) this.halve(chunk);
  }

  remove(place: Place): void {
    const chunk = this.chunkOf(place);
    if (chunk === undefined) return;
    const position = positionIn(chunk, place);
    const found = chunk[position];
    if (found === undefined || !isAt(found, place)) return;
    chunk.splice(position, 1);
    if (chunk.length === 0) this.chunks.splice(this.chunks.indexOf(chunk), 1);
  }

  /** From the first entry that is not `before`, upwards, as long as `visit` says so. */
  ascend(before: (entry: T) => boolean, visit: (entry: T) => boolean): void {
    let c = firstNot(this.chunks, (chunk) => before(chunk[chunk.length - 1] as T));
    let i = c < this.chunks.length ? firstNot(this.chunks[c] as T[], before) : 0;
    for (; c < this.chunks.length; c += 1, i = 0) {
      const chunk = this.chunks[c] as T[];
      for (; i < chunk.length; i += 1) if (!visit(chunk[i] as T)) return;
    }
  }

  /** From the last entry that is not `after`, downwards. */
  descend(after: (entry: T) => boolean, visit: (entry: T) => boolean): void {
    const isNotAfter = (entry: T): boolean => !after(entry);
    let c = firstNot(this.chunks, (chunk) => isNotAfter(chunk[0] as T)) - 1;
    let i = c >= 0 ? firstNot(this.chunks[c] as T[], isNotAfter) - 1 : -1;
    while (c >= 0) {
      const chunk = this.chunks[c] as T[];
      for (; i >= 0; i -= 1) if (!visit(chunk[i] as T)) return;
      c -= 1;
      i = (this.chunks[c]?.length ?? 0) - 1;
    }
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const chunk of this.chunks) yield* chunk;
  }

  /** The first chunk that ends at this place or after it. */
  private chunkOf(place: Place): T[] | undefined {
    if (this.chunks.length === 1) return this.chunks[0];
    return this.chunks[firstNot(this.chunks, (chunk) => isBefore(chunk[chunk.length - 1] as T, place))];
  }

  private halve(chunk: T[]): void {
    this.chunks.splice(this.chunks.indexOf(chunk) + 1, 0, chunk.splice(chunk.length >> 1));
  }
}

const isAt = (entry: Place, { key, tie }: Place): boolean => entry.key === key && entry.tie === tie;

const positionIn = (chunk: readonly Place[], place: Place): number =>
  firstNot(chunk, (entry) => isBefore(entry, place));

/** The position of the first of which `isTrue` does not hold, when it holds of all that come earlier. */
function firstNot<T>(sorted: readonly T[], isTrue: (entry: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isTrue(sorted[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
