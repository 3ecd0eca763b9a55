import type { Instant } from '../domain/instant.ts';
import { instantFromMs, parseInstant } from '../domain/instant.ts';

/** Nothing that is kept here is older. What is due is looked for back from then, and before the year 0 no day has a name. */
const EARLIEST = instantFromMs(Date.UTC(2000, 0, 1));

export const AS_OF_ALLOWED = 'a time such as 2026-11-16T08:00:00Z, not before 2000-01-01';

/** The moment that a run or a forecast is of; null for what can be none. */
export function parseAsOf(text: string): Instant | null {
  const instant = parseInstant(text);
  return instant === null || instant < EARLIEST ? null : instant;
}
