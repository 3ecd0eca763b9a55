import type { Instant } from '../domain/instant.ts';

/** Billing time: what "now" means for due dates, limits and history stamps. May be simulated. */
export interface Clock {
  now(): Instant;
}
