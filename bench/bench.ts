import type { Ground } from './ground.ts';

/** What every measurement gets. */
export interface Bench {
  readonly ground: Ground;
  /** Collections in one timed round. */
  readonly records: number;
  /** A line for the person who watches. */
  readonly say: (text: string) => void;
}
