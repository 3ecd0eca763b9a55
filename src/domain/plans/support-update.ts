import type { CalendarDate } from '../calendar-date.ts';
import { addDays, dateOf } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import { afterPause } from '../decide.ts';
import { isLeaving } from '../leaving.ts';
import { hasLaterPeriod, nextPeriod } from '../next-period.ts';
import { periodAfterPause } from '../outcomes.ts';
import type { BillingStatus, Subscription } from '../subscription.ts';
import type { Tiers } from '../tiers.ts';
import { priceOf } from '../tiers.ts';
import { isLegal, isTerminal } from '../transitions.ts';

/** What support asks for; null leaves it. */
export interface SupportUpdate {
  readonly status: BillingStatus | null;
  readonly billingDate: Instant | null;
  /** 0 or less: without an end. */
  readonly pauseDurationMonths: number | null;
}

export interface SupportSituation<S extends Subscription> {
  readonly partition: readonly S[];
  readonly tiers: Tiers;
  readonly now: Instant;
}

export type SupportRefusal = 'illegal-transition' | 'period-taken' | 'unpriced-tier';

export type SupportPlan<S extends Subscription> =
  | { readonly plan: 'change'; readonly change: S; readonly next: readonly Subscription[] }
  | { readonly plan: 'nothing' }
  | { readonly plan: 'refused'; readonly reason: SupportRefusal; readonly detail: string };

/** Further back a record would go stale at once; further ahead than a yearly period is a slip of the pen. */
const DAYS_BACK = 30;
const DAYS_AHEAD = 400;

/** Between which days support may put a record, both included. */
export const billingDateBounds = (
  now: Instant,
): { readonly from: CalendarDate; readonly to: CalendarDate } => ({
  from: addDays(dateOf(now), -DAYS_BACK),
  to: addDays(dateOf(now), DAYS_AHEAD),
});

/** What support's wish makes of a record. Which status may follow which stands in the transition table. */
export function planSupportUpdate<S extends Subscription>(
  record: S,
  update: SupportUpdate,
  situation: SupportSituation<S>,
): SupportPlan<S> {
  const from = record.billingStatus;
  const to = update.status ?? from;
  if (!isLegal(from, to, 'support-changed')) {
    return refused('illegal-transition', `support cannot take a record from ${from} to ${to}`);
  }
  if (update.pauseDurationMonths !== null && to !== 'PAUSED')
    return refused('illegal-transition', `a record that is ${to} is not paused for any time`);
  if (isNothing(record, update)) return { plan: 'nothing' };
  const obstacle = obstacleToDate(record, update.billingDate, situation.partition);
  if (obstacle !== null) return refused('period-taken', obstacle);
  const change = inStatus(record, to, update, situation);
  if (change === null) {
    return refused(
      'unpriced-tier',
      `no monthly price for "${record.receiptTierName}", and pauses are monthly`,
    );
  }
  return { plan: 'change', change, next: to === 'WAIVED' ? afterWaiver(record, situation) : [] };
}

const refused = (reason: SupportRefusal, detail: string) => ({ plan: 'refused', reason, detail }) as const;

const isNothing = (record: Subscription, { status, billingDate, pauseDurationMonths }: SupportUpdate) =>
  (status ?? record.billingStatus) === record.billingStatus &&
  (billingDate ?? record.billingDate) === record.billingDate &&
  (pauseDurationMonths === null || monthsOf(pauseDurationMonths) === record.pauseDurationMonths);

const monthsOf = (asked: number): number => (asked > 0 ? asked : -1);

/**
 * Periods keep their order. One that jumped over another would be billed before it, and a chain whose last period was
 * tried would have none to come.
 */
function obstacleToDate<S extends Subscription>(
  record: S,
  billingDate: Instant | null,
  partition: readonly S[],
): string | null {
  if (billingDate === null || billingDate === record.billingDate) return null;
  const others = partition.filter(({ subscriptionId }) => subscriptionId !== record.subscriptionId);
  if (others.some((other) => other.billingDate === billingDate))
    return 'the member has a record on that date already';
  const [from, to] =
    billingDate < record.billingDate ? [billingDate, record.billingDate] : [record.billingDate, billingDate];
  const isJumpedOver = (other: S): boolean =>
    other.billingDate > from && other.billingDate < to && (!isOver(other) || other.initialRunDate !== null);
  return others.some(isJumpedOver) ? 'another period of the member lies in between' : null;
}

const isOver = ({ billingStatus }: Subscription): boolean => isTerminal(billingStatus);

function inStatus<S extends Subscription>(
  record: S,
  to: BillingStatus,
  update: SupportUpdate,
  { tiers, now }: SupportSituation<S>,
): S | null {
  const moved: S = {
    ...record,
    process: record.process ?? 'NOT_IDENTIFIED',
    billingDate: update.billingDate ?? record.billingDate,
    billingStatus: to,
    completionDate: isTerminal(to) ? now : null,
  };
  if (to === 'PAUSED') return paused(record, moved, update, tiers);
  if (to === 'SCHEDULED' && record.billingStatus === 'PAUSED')
    return { ...moved, pauseDurationMonths: 0, updatedEvent: eventUnlessLeaving(record, 'pause-resume') };
  return moved;
}

/** Pauses are counted in months, so a paused membership is a monthly one, at the price of a month. */
function paused<S extends Subscription>(
  record: S,
  moved: S,
  { pauseDurationMonths }: SupportUpdate,
  tiers: Tiers,
): S | null {
  if (record.billingStatus === 'PAUSED') {
    const months = pauseDurationMonths === null ? record.pauseDurationMonths : monthsOf(pauseDurationMonths);
    return { ...moved, pauseDurationMonths: months };
  }
  const stopped = {
    ...moved,
    updatedEvent: eventUnlessLeaving(record, 'SUB_PAUSED'),
    pauseDurationMonths: monthsOf(pauseDurationMonths ?? 0),
  };
  // A period that was tried keeps its price: the member was asked for it.
  if (record.term === 'MONTHLY' || record.initialRunDate !== null) return stopped;
  const billingAmount = priceOf(tiers, record.receiptTierName, 'MONTHLY');
  return billingAmount === null ? null : { ...stopped, term: 'MONTHLY', billingAmount };
}

const eventUnlessLeaving = (record: Subscription, event: string): string =>
  isLeaving(record) ? record.updatedEvent : event;

/** A member who is let off one period is still a member: the next one comes, and a pause goes on in it. */
function afterWaiver<S extends Subscription>(
  record: S,
  { partition, now }: SupportSituation<S>,
): Subscription[] {
  if (record.initialRunDate !== null || hasLaterPeriod(record, partition)) return [];
  const next =
    record.billingStatus === 'PAUSED'
      ? periodAfterPause(record, afterPause(record), partition, now)
      : nextPeriod(record, partition, now);
  // A member who has cancelled is let off this period, and does not become a member of the next by it.
  return [isLeaving(record) ? { ...next, updatedEvent: record.updatedEvent } : next];
}
