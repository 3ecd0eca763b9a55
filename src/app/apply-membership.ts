import type {
  HandledEvent,
  MembershipEvent,
  MembershipEventType,
} from '../domain/memberships/membership-event.ts';
import { CAUSE_OF_EVENT, HANDLED_EVENTS, IGNORED_EVENTS } from '../domain/memberships/membership-event.ts';
import type { MembershipChange } from '../domain/memberships/plan-membership.ts';
import { planMembership, termOf } from '../domain/memberships/plan-membership.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';
import type { Tiers } from '../domain/tiers.ts';
import { MalformedEventError, RecordChangedError, UnpricedTierError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventOutcome, Inbox, InboxEvent } from '../ports/inbox.ts';
import type { LockClient, PastSighting, Sighting } from '../ports/lock.ts';
import { subscriptionLockKey } from '../ports/lock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { PipelineStore } from '../ports/pipeline.ts';
import type { UserService } from '../ports/services.ts';
import type { Partition, StoredSubscription, SubscriptionsRepository } from '../ports/subscriptions.ts';
import type { Authority, Write } from '../ports/transaction.ts';
import { readMembershipEvent } from './membership-payload.ts';
import { readState } from './read-state.ts';
import { whileLocked } from './while-locked.ts';
import { whole } from './whole.ts';

export interface MembershipDependencies {
  readonly inbox: Pick<Inbox, 'earliest' | 'wasApplied' | 'applied' | 'saveApplied' | 'liftFlag'>;
  readonly users: Pick<UserService, 'get'>;
  readonly locks: LockClient;
  readonly subscriptions: Pick<SubscriptionsRepository, 'listByUserID' | 'addAll'>;
  readonly pipeline: Pick<PipelineStore, 'readBackground' | 'noteResume'>;
  readonly tiers: Tiers;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'membershipApplied'>;
}

/** `busy`: another job works on this user. Nothing was read or written. */
export type MembershipResult = { readonly outcome: EventOutcome } | { readonly busy: Sighting };

/** A record takes two of a transaction's hundred items, and what goes along needs some. */
const RECORDS_AT_ONCE = 40;
/** An account may be closed while its owner is being charged: each of the charge's writes can come in between. */
const READS = 5;

/**
 * Makes the member's records what an event says. It is applied once, however often it comes: whatever it changes and the
 * mark that it is applied are one transaction. What it throws is tried again, but for a MalformedEventError.
 */
export async function applyMembership(
  dependencies: MembershipDependencies,
  event: InboxEvent,
  seen?: PastSighting,
): Promise<MembershipResult> {
  const before = await appliedBefore(dependencies, event);
  if (before !== null) return { outcome: before };
  const type = event.type as MembershipEventType;
  if (isIgnored(type)) {
    dependencies.log.info(fieldsOf(event), 'nothing follows from this membership event here');
    return { outcome: await leave(dependencies, event, 'not-for-billing') };
  }
  if (!isHandled(type)) throw new MalformedEventError(`${event.type} is no membership event`);

  const membership = readMembershipEvent(event, type);
  // Without the lock: a member who has gone is not charged again, whatever else works on their records at this moment.
  if (type === 'CLOSEACCOUNT') return { outcome: await applyTo(dependencies, event, membership, 'unlocked') };
  const objection = await objectionTo(dependencies, event.userId);
  if (objection !== null) return { outcome: await warn(dependencies, event, objection) };

  const key = subscriptionLockKey(event.userId);
  return whileLocked(dependencies.locks, { key, seen }, async ({ fence }) => {
    await assertTurn(dependencies, event);
    return { outcome: await applyTo(dependencies, event, membership, fence) };
  });
}

const isIgnored = (type: MembershipEventType): boolean =>
  (IGNORED_EVENTS as readonly string[]).includes(type);
const isHandled = (type: MembershipEventType): type is HandledEvent =>
  (HANDLED_EVENTS as readonly string[]).includes(type);

/** Delivered again: what came of it stands, and the second copy leaves the inbox. */
async function appliedBefore(
  { inbox, clock }: MembershipDependencies,
  event: InboxEvent,
): Promise<EventOutcome | null> {
  const outcome = await inbox.wasApplied(event);
  if (outcome !== null) await inbox.saveApplied(event, outcome, clock.now());
  return outcome;
}

/** Under the lock: a replay that puts an earlier event back from quarantine holds it too, and that one goes first. */
async function assertTurn(
  { inbox }: MembershipDependencies,
  { stream, userId, sequence }: InboxEvent,
): Promise<void> {
  const first = await inbox.earliest(stream, userId);
  if (first !== null && BigInt(first.sequence) < BigInt(sequence))
    throw new RecordChangedError('an earlier event of the user came back from quarantine');
}

async function objectionTo({ users }: MembershipDependencies, userId: UserId): Promise<string | null> {
  const user = await users.get(userId);
  if (user === null) return 'user-missing';
  return user.status === 'ACTIVE' ? null : 'user-not-active';
}

async function applyTo(
  dependencies: MembershipDependencies,
  event: InboxEvent,
  membership: MembershipEvent,
  authority: Authority,
): Promise<EventOutcome> {
  for (let reads = 1; ; reads += 1) {
    try {
      return await applyOnce(dependencies, event, membership, authority);
    } catch (error) {
      if (!(error instanceof RecordChangedError) || reads === READS) throw error;
      // Another worker may have applied the same event.
      const before = await appliedBefore(dependencies, event);
      if (before !== null) return before;
    }
  }
}

async function applyOnce(
  dependencies: MembershipDependencies,
  event: InboxEvent,
  membership: MembershipEvent,
  authority: Authority,
): Promise<EventOutcome> {
  const { subscriptions, tiers, clock } = dependencies;
  const partition = whole(await subscriptions.listByUserID(event.userId));
  const plan = planMembership(membership, {
    partition: partition.subscriptions,
    underWay: await underWay(dependencies, membership, partition),
    tiers,
    now: clock.now(),
  });
  switch (plan.plan) {
    case 'nothing':
      return warn(dependencies, event, plan.reason);
    case 'unpriced':
      throw new UnpricedTierError(
        `no price for "${plan.tierName}", ${plan.term}: the records stay as they are`,
      );
    case 'change':
      return save(dependencies, { event, type: membership.type, authority, partition, plan });
  }
}

/** Of the records whose term would change, those that are being charged. No charge can begin while we hold the lock. */
async function underWay(
  { pipeline }: MembershipDependencies,
  membership: MembershipEvent,
  { subscriptions }: Partition,
): Promise<ReadonlySet<SubscriptionId>> {
  const term = termOf(membership);
  const found = new Set<SubscriptionId>();
  for (const record of subscriptions) {
    if (term === null || record.billingStatus !== 'SCHEDULED' || record.term === term) continue;
    const { open } = await readState(pipeline, record);
    if (open !== null) found.add(record.subscriptionId);
  }
  return found;
}

interface Changing {
  readonly event: InboxEvent;
  readonly type: HandledEvent;
  readonly authority: Authority;
  readonly partition: Partition;
  readonly plan: MembershipChange<StoredSubscription>;
}

async function save(dependencies: MembershipDependencies, changing: Changing): Promise<EventOutcome> {
  const { inbox, pipeline, clock, log } = dependencies;
  const { event, plan } = changing;
  const outcome: EventOutcome = {
    result: 'changed',
    reason: plan.reason,
    changed: plan.changes.map(({ subscriptionId }) => subscriptionId),
  };
  const resume = plan.resumed === null ? [] : [pipeline.noteResume(plan.resumed, clock.now())];
  await write(dependencies, changing, [...inbox.applied(event, outcome, clock.now()), ...resume]);
  count(dependencies, event, outcome);
  log.info({ ...fieldsOf(event), ...outcome }, 'membership event applied');
  await inbox.liftFlag(event.userId);
  return outcome;
}

/**
 * One transaction, unless a member has dozens of records. Then the mark comes with the last of several: after a crash
 * in between the event is applied again, to what is left.
 */
async function write(
  { subscriptions, clock }: MembershipDependencies,
  { event, type, authority, partition, plan }: Changing,
  also: readonly Write[],
): Promise<void> {
  let current = partition;
  for (let from = 0; from < plan.changes.length; from += RECORDS_AT_ONCE) {
    const isLast = from + RECORDS_AT_ONCE >= plan.changes.length;
    const changes = plan.changes.slice(from, from + RECORDS_AT_ONCE);
    const written = await subscriptions.addAll(authority, changes, {
      now: clock.now(),
      cause: CAUSE_OF_EVENT[type],
      partition: current,
      data: { event_id: event.identity, event_type: event.type },
      also: isLast ? also : [],
    });
    const ids = new Set(written.map(({ subscriptionId }) => subscriptionId));
    const untouched = current.subscriptions.filter(({ subscriptionId }) => !ids.has(subscriptionId));
    current = { ...current, subscriptions: [...untouched, ...written] };
  }
}

/** Nothing changes, which an operator may not have expected. */
async function warn(
  dependencies: MembershipDependencies,
  event: InboxEvent,
  reason: string,
): Promise<EventOutcome> {
  dependencies.log.warn({ ...fieldsOf(event), reason }, 'membership event changes nothing');
  return leave(dependencies, event, reason);
}

async function leave(
  dependencies: MembershipDependencies,
  event: InboxEvent,
  reason: string,
): Promise<EventOutcome> {
  const outcome: EventOutcome = { result: 'no-op', reason, changed: [] };
  await dependencies.inbox.saveApplied(event, outcome, dependencies.clock.now());
  count(dependencies, event, outcome);
  return outcome;
}

const count = (
  { metrics }: MembershipDependencies,
  { type }: InboxEvent,
  { result, reason }: EventOutcome,
): void => metrics.membershipApplied(type as MembershipEventType, result, reason);

const fieldsOf = ({ userId, identity, type }: InboxEvent) => ({ userId, eventId: identity, eventType: type });
