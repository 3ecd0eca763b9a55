import { compareInstants } from '../instant.ts';
import type { Instant } from '../instant.ts';
import { plusMs, wholeSecond } from '../instant.ts';
import { billingInstant } from '../billing-dates.ts';
import { dateOf } from '../calendar-date.ts';
import { isLeaving } from '../leaving.ts';
import type { Subscription } from '../subscription.ts';

const SECOND_MS = 1_000;

/** A period that is still to be billed, or to be skipped. */
export const isToCome = ({ billingStatus }: Subscription): boolean =>
  billingStatus === 'SCHEDULED' || billingStatus === 'PAUSED';

/**
 * The period whose price can still be changed: the soonest that has not been tried. One that the member has cancelled
 * will not be billed, so it has no price to change.
 */
export function upcomingPeriod<S extends Subscription>(partition: readonly S[]): S | null {
  const candidates = partition.filter(isRepriceable);
  return candidates.sort((a, b) => compareInstants(a.billingDate, b.billingDate))[0] ?? null;
}

export const isRepriceable = (record: Subscription): boolean =>
  record.billingStatus === 'SCHEDULED' && record.initialRunDate === null && !isLeaving(record);

/** Payments of their own stand beside the chain; a proration may be for a tier that the member never got. */
export const isPeriod = ({ billingDate }: Subscription): boolean =>
  wholeSecond(billingDate) === billingInstant(dateOf(billingDate));

/**
 * The date of a record that is a payment of its own (a reactivation, a proration): the second at which it was asked for.
 * The billing hour itself is left to the periods that runs open: a proration is none, and must not be taken for one.
 */
export function dateOfItsOwn(now: Instant): Instant {
  const second = wholeSecond(now);
  return second === billingInstant(dateOf(now)) ? plusMs(second, SECOND_MS) : second;
}
