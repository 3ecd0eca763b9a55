import type { Instant } from '../domain/instant.ts';
import { isLeaving } from '../domain/leaving.ts';
import { periodAfterPayment } from '../domain/outcomes.ts';
import { inPlan, isStillIn } from '../domain/plans/change-plan.ts';
import { REACTIVATED, asPeriod, isPaidByComingBack } from '../domain/plans/coming-back.ts';
import { isRepriceable, isToCome } from '../domain/plans/upcoming.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Attempt, UpgradeOf } from '../ports/pipeline.ts';
import type { StoredSubscription } from '../ports/subscriptions.ts';
import { isBilledBeside } from './billed-beside.ts';
import type { Case, CaseChange } from './collection-case.ts';
import { nextPeriodOf } from './collection-case.ts';
import { isOneUnderWay } from './read-state.ts';

/** What else changes in the transaction that records a payment. */
export interface Consequences {
  readonly next: readonly Subscription[];
  readonly along: NonNullable<CaseChange['along']>;
  /** What it was paid for cannot be had any more: it is given back. */
  readonly isInVain: boolean;
}

export const NOTHING_MORE: Consequences = { next: [], along: [], isInVain: false };
const IN_VAIN: Consequences = { ...NOTHING_MORE, isInVain: true };

/** The same, whether the member's own request hears that it was paid or the janitor a day later. */
export async function whatPaymentBrings(
  theCase: Case,
  attempt: Attempt,
  change: Subscription,
): Promise<Consequences> {
  if (attempt.upgrades !== null) return upgraded(theCase, attempt.upgrades);
  if (isPaidByComingBack(theCase.record, theCase.partition)) return IN_VAIN;
  const isWayBack = attempt.process === 'REACTIVATION';
  const { pipeline } = theCase.dependencies;
  if (isWayBack && (await isBilledBeside(pipeline, attempt, theCase.partition))) return IN_VAIN;
  const along = isWayBack ? givenUp(theCase) : [];
  const ids = new Map(along.map(({ record }) => [record.subscriptionId, record]));
  const partition = theCase.partition.map((record) => ids.get(record.subscriptionId) ?? record);
  // A payment by hand is a first attempt once it has succeeded.
  const isFirst = !theCase.rules.automatic;
  const next = isFirst ? nextPeriodOf({ ...theCase, partition }, change) : [];
  return { ...NOTHING_MORE, along, next: next.flatMap((period) => asItStands(theCase, period)) };
}

/**
 * Applies what was said about the membership while the charge was under way. For a reactivation that is stored on the
 * record being paid.
 */
function asItStands({ record }: Case, period: Subscription): Subscription[] {
  const next = periodAfterPayment(asPeriod(record), period);
  return next === null ? [] : [next];
}

/**
 * What was to come when the member came back: they had cancelled it, and a member who has taken that back since has not asked
 * to pay twice. The membership that was paid for just now has periods of its own. A period that was tried before is owed.
 */
const givenUp = ({ dependencies, partition }: Case) =>
  partition
    .filter((record) => isToCome(record) && (isLeaving(record) || record.initialRunDate === null))
    .map(
      (record) => ({ record: cancelled(record, dependencies.clock.now()), cause: 'reactivated' }) as const,
    );

const cancelled = (record: StoredSubscription, now: Instant): StoredSubscription => ({
  ...record,
  process: record.process ?? 'NOT_IDENTIFIED',
  billingStatus: 'CANCELLED',
  updatedEvent: REACTIVATED,
  completionDate: now,
});

/**
 * Between the charge and its answer the period may have been billed, paused or cancelled; or it is billed by other
 * terms by now. A year's price on what has become a month's would be charged every month, and a member who asked for
 * less since means that.
 */
async function upgraded(
  { dependencies, partition, record: { receiptTierName: tierName } }: Case,
  { subscriptionId, amount, instead }: UpgradeOf,
): Promise<Consequences> {
  const period = partition.find((row) => row.subscriptionId === subscriptionId);
  if (period === undefined || !isRepriceable(period)) return IN_VAIN;
  if (instead !== undefined && !isStillIn(period, instead)) return IN_VAIN;
  if (await isOneUnderWay(dependencies.pipeline, [period])) return IN_VAIN;
  const record = inPlan(period, { tierName, amount }, false);
  return { ...NOTHING_MORE, along: [{ record, cause: 'plan-changed' }] };
}
