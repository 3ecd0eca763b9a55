/** Draws that follow from a seed: with the same seed the same storm comes again. */
export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** A whole number from 0 up to, but not, the limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** A whole number from the least to the most. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  oneOf<T>(list: readonly T[]): T {
    const drawn = list[this.below(list.length)];
    if (drawn === undefined) throw new Error('nothing to draw from');
    return drawn;
  }

  shuffled<T>(list: readonly T[]): T[] {
    const left = [...list];
    return list.map(() => left.splice(this.below(left.length), 1)).flat();
  }

  /** Mulberry32: four billion states are plenty for a storm. */
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
