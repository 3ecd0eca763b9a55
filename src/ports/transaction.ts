import type { Fence } from './lock.ts';

declare const opaque: unique symbol;

/** One item of a transaction, made by a repository and only carried around elsewhere. */
export interface Write {
  readonly [opaque]: 'Write';
}

/**
 * Whose word a change is written on. `unlocked` is for the few paths that take no lock by design (an account that was
 * closed); they still condition on what they read.
 */
export type Authority = Fence | 'unlocked';
