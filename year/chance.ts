import { createHash } from 'node:crypto';

/** Chance that can be repeated: the same seed and name give the same throws, whatever is thrown under other names. */
export class Chance {
  private readonly name: string;
  private throws = 0;

  constructor(seed: string, name: string) {
    this.name = `${seed}/${name}`;
  }

  /** From 0 up to, not with, 1. */
  next(): number {
    this.throws += 1;
    const hash = createHash('sha256').update(`${this.name}/${this.throws}`).digest();
    return hash.readUInt32BE(0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.between(0, choices.length - 1)] ?? choices[0];
  }
}
