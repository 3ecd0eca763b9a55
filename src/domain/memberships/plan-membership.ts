import type { Instant } from '../instant.ts';
import { compareInstants } from '../instant.ts';
import { isLeaving } from '../leaving.ts';
import { asOwnRecord, asPeriod, isComingBack } from '../plans/coming-back.ts';
import { isToCome } from '../plans/upcoming.ts';
import type { Subscription, SubscriptionId, Term } from '../subscription.ts';
import { ACCOUNT_CLOSED, PAUSE_PENDING_RESUME, PENDING_CANCELLATION } from '../subscription.ts';
import type { Tiers } from '../tiers.ts';
import { priceOf } from '../tiers.ts';
import type { MembershipEvent } from './membership-event.ts';

/** A member's records at the moment an event is applied to them. */
export interface MembershipSituation<S extends Subscription> {
  readonly partition: readonly S[];
  /** Records with an open attempt. One that a member asked for leaves no trace on the record before it succeeds. */
  readonly underWay: ReadonlySet<SubscriptionId>;
  readonly tiers: Tiers;
  readonly now: Instant;
}

export type NoChangeReason =
  | 'nothing-scheduled-or-paused'
  | 'nothing-scheduled'
  | 'nothing-paused'
  | 'nothing-to-retract'
  | 'cancellation-was-pending';

export type ChangeReason =
  'cancellation-pending' | 'paused' | 'retracted' | 'unpaused' | 'charged-on-resuming' | 'account-closed';

export interface MembershipChange<S extends Subscription> {
  readonly plan: 'change';
  readonly reason: ChangeReason;
  /**
   * Never empty. The record that a resumed membership goes on with comes last: a worker that dies between two
   * transactions leaves it as it was, and it is found again.
   */
  readonly changes: readonly S[];
  /** The record whose member wants to be charged at once. */
  readonly resumed: S | null;
}

export type MembershipPlan<S extends Subscription> =
  | MembershipChange<S>
  | { readonly plan: 'nothing'; readonly reason: NoChangeReason }
  /** The term must change and there is no price for it. */
  | { readonly plan: 'unpriced'; readonly tierName: string; readonly term: Term };

/**
 * What an event makes of a member's records. `last_run_date` is not here: the store stamps it. Whether the event counts
 * at all (an unknown member, an inactive one) was asked before.
 */
export function planMembership<S extends Subscription>(
  event: MembershipEvent,
  situation: MembershipSituation<S>,
): MembershipPlan<S> {
  // A reactivation without an answer has no period yet: the event is written to its own record (coming-back.ts).
  const comingBack = new Set(
    situation.partition.filter(isComingBack).map(({ subscriptionId }) => subscriptionId),
  );
  const plan = planFor(event, {
    ...situation,
    partition: situation.partition.map(asPeriod),
    underWay: new Set([...situation.underWay, ...comingBack]),
  });
  if (plan.plan !== 'change') return plan;
  const stored = (record: S): S => (comingBack.has(record.subscriptionId) ? asOwnRecord(record) : record);
  return { ...plan, changes: plan.changes.map(stored) };
}

function planFor<S extends Subscription>(
  event: MembershipEvent,
  situation: MembershipSituation<S>,
): MembershipPlan<S> {
  switch (event.type) {
    case 'CANCEL':
      return cancel(situation);
    case 'SUB_PAUSED':
      return pause(event, situation);
    case 'RETRACT':
      return retract(event, situation);
    case 'UNPAUSE':
    case 'UNPAUSE_CHARGE':
      return unpause(event.type, situation);
    case 'CLOSEACCOUNT':
      return closeAccount(situation);
  }
}

/** The term that an event asks for; null leaves it. */
export const termOf = ({ type, term }: MembershipEvent): Term | null => {
  if (type === 'SUB_PAUSED') return 'MONTHLY';
  return type === 'RETRACT' ? term : null;
};

/** The status stays: a run finds the flag when the period is due. */
function cancel<S extends Subscription>({ partition }: MembershipSituation<S>): MembershipPlan<S> {
  const upcoming = partition.filter(isToCome);
  if (upcoming.length === 0) return nothing('nothing-scheduled-or-paused');
  const unflagged = upcoming.filter((record) => !isLeaving(record));
  if (unflagged.length === 0) return nothing('cancellation-was-pending');
  const changes = unflagged.map((record) => ({ ...changed(record), updatedEvent: PENDING_CANCELLATION }));
  return change('cancellation-pending', changes);
}

function pause<S extends Subscription>(
  event: MembershipEvent,
  situation: MembershipSituation<S>,
): MembershipPlan<S> {
  const scheduled = situation.partition.filter(({ billingStatus }) => billingStatus === 'SCHEDULED');
  if (scheduled.length === 0) return nothing('nothing-scheduled');
  const months = event.pauseDurationMonths ?? 0;
  const paused = scheduled.map((record) => ({
    ...changed(record),
    billingStatus: 'PAUSED' as const,
    updatedEvent: eventUnlessLeaving(record, 'SUB_PAUSED'),
    pauseDurationMonths: months > 0 ? months : -1,
  }));
  return inTerm(event, paused, 'paused', situation);
}

function retract<S extends Subscription>(
  event: MembershipEvent,
  situation: MembershipSituation<S>,
): MembershipPlan<S> {
  const pending = situation.partition.filter(
    ({ billingStatus, updatedEvent }) => billingStatus === 'SCHEDULED' && updatedEvent !== '',
  );
  if (pending.length === 0) return nothing('nothing-to-retract');
  const cleared = pending.map((record) => ({ ...changed(record), updatedEvent: '' }));
  return inTerm(event, cleared, 'retracted', situation);
}

function unpause<S extends Subscription>(
  type: 'UNPAUSE' | 'UNPAUSE_CHARGE',
  { partition, now }: MembershipSituation<S>,
): MembershipPlan<S> {
  const paused = partition.filter(({ billingStatus }) => billingStatus === 'PAUSED');
  const next = soonest(paused, now);
  if (next === null) return nothing('nothing-paused');
  const cancelled = paused
    .filter((record) => record !== next)
    .map((record) => ({
      ...changed(record),
      billingStatus: 'CANCELLED' as const,
      updatedEvent: eventUnlessLeaving(record, 'UNPAUSE'),
      completionDate: now,
    }));
  const scheduled = {
    ...changed(next),
    billingStatus: 'SCHEDULED' as const,
    updatedEvent: eventUnlessLeaving(next, type === 'UNPAUSE' ? 'UNPAUSE' : PAUSE_PENDING_RESUME),
    pauseDurationMonths: 0,
  };
  const isCharged = scheduled.updatedEvent === PAUSE_PENDING_RESUME;
  return {
    ...change(isCharged ? 'charged-on-resuming' : 'unpaused', [...cancelled, scheduled]),
    resumed: isCharged ? scheduled : null,
  };
}

function closeAccount<S extends Subscription>({ partition, now }: MembershipSituation<S>): MembershipPlan<S> {
  const upcoming = partition.filter(isToCome);
  if (upcoming.length === 0) return nothing('nothing-scheduled-or-paused');
  const cancelled = upcoming.map((record) => ({
    ...changed(record),
    billingStatus: 'CANCELLED' as const,
    updatedEvent: ACCOUNT_CLOSED,
    completionDate: now,
  }));
  return change('account-closed', cancelled);
}

/**
 * The records in the term that the event asks for, at that term's price: a year's amount must never be charged every
 * month. A record that was tried keeps both: that amount was asked for, and the next period was opened a term later.
 */
function inTerm<S extends Subscription>(
  event: MembershipEvent,
  records: readonly S[],
  reason: ChangeReason,
  { tiers, underWay }: MembershipSituation<S>,
): MembershipPlan<S> {
  const changes: S[] = [];
  for (const record of records) {
    const term = termOf(event) ?? record.term;
    const wasTried = record.initialRunDate !== null || underWay.has(record.subscriptionId);
    if (term === record.term || wasTried) {
      changes.push(record);
      continue;
    }
    const billingAmount = priceOf(tiers, record.receiptTierName, term);
    if (billingAmount === null) return { plan: 'unpriced', tierName: record.receiptTierName, term };
    changes.push({ ...record, term, billingAmount });
  }
  return change(reason, changes);
}

/** The earliest that is not over yet, or the latest of those that are. */
function soonest<S extends Subscription>(paused: readonly S[], now: Instant): S | null {
  const inOrder = [...paused].sort((a, b) => compareInstants(a.billingDate, b.billingDate));
  return inOrder.find(({ billingDate }) => billingDate >= now) ?? inOrder.at(-1) ?? null;
}

/** A member who has cancelled is not made a member again by a pause, or by its end. */
const eventUnlessLeaving = (record: Subscription, event: string): string =>
  isLeaving(record) ? PENDING_CANCELLATION : event;

const changed = <S extends Subscription>(record: S): S => ({
  ...record,
  process: record.process ?? 'NOT_IDENTIFIED',
});

const nothing = (reason: NoChangeReason) => ({ plan: 'nothing', reason }) as const;

const change = <S extends Subscription>(
  reason: ChangeReason,
  changes: readonly S[],
): MembershipChange<S> => ({ plan: 'change', reason, changes, resumed: null });
