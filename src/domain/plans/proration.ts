import { dateOf, daysBetween } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import type { Cents } from '../money.ts';
import { ZERO, cents } from '../money.ts';

const DAYS_OF_A_MONTH = 30;
/** Two months and a little: a date further off is no member's next period. */
const MOST_DAYS = 65;

export interface MonthlyPrices {
  readonly wanted: Cents;
  readonly base: Cents;
}

/**
 * What the better tier costs from today until the next billing date, in UTC days. Null when that date is too far off for
 * a proration to mean anything.
 */
export function prorationFor(
  { wanted, base }: MonthlyPrices,
  now: Instant,
  billingDate: Instant,
): Cents | null {
  const days = daysBetween(dateOf(now), dateOf(billingDate));
  if (days > MOST_DAYS) return null;
  if (days <= 0) return ZERO;
  // Whole cents times whole days first: only the last division is rounded.
  return cents(Math.round(((wanted - base) * days) / DAYS_OF_A_MONTH));
}
