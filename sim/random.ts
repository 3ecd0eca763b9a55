import { createHash } from 'node:crypto';

/** What may happen by chance, and yet the same each time for the same seed. */
export interface Random {
  /** From 0 to below 1. */
  next(): number;
  chance(probability: number): boolean;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  pick<T>(list: readonly T[]): T;
  /** By weights: the heavier the likelier. */
  weighted<T extends string>(weights: Readonly<Record<T, number>>): T;
  /** Waiting times between things that happen independently of each other, `mean` apart on average. At least 1. */
  gap(mean: number): number;
}

/**
 * Each part of the world draws from a stream of its own, named by what it is for: a fault that is added to one part does not
 * change what happens by chance in another.
 */
export function randomOf(seed: number | string, part: string): Random {
  const next = sfc32(createHash('sha256').update(`${seed}/${part}`).digest());
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    chance: (probability) => probability > 0 && next() < probability,
    between,
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new Error('nothing to pick from');
      return list[between(0, list.length - 1)] as T;
    },
    weighted<T extends string>(weights: Readonly<Record<T, number>>): T {
      const entries = Object.entries<number>(weights);
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name as T;
      }
      return entries.at(-1)?.[0] as T;
    },
    gap: (mean) => Math.max(1, Math.round(-Math.log(1 - next()) * mean)),
  };
}

/** Chris Doty-Humphrey's small fast counter: passes PractRand, and needs no BigInt. */
function sfc32(bytes: Buffer): () => number {
  let a = bytes.readInt32LE(0);
  let b = bytes.readInt32LE(4);
  let c = bytes.readInt32LE(8);
  let counter = 1;
  return () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 4_294_967_296;
  };
}
