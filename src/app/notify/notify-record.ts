import type { CalendarDate } from '../../domain/calendar-date.ts';
import type { DeferReason } from '../../domain/decision.ts';
import { formatMoney } from '../../domain/money.ts';
import { THREE_DAY_NOTICE, noNotice, noNoticeTo, noticeKey } from '../../domain/notice.ts';
import type { Subscription } from '../../domain/subscription.ts';
import type { Verdict } from '../../domain/verdict.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Notices } from '../../ports/notices.ts';
import type { PipelineStore } from '../../ports/pipeline.ts';
import type { RecordRef } from '../../ports/runs.ts';
import type { NotificationService, UserService } from '../../ports/services.ts';
import type { SubscriptionsRepository } from '../../ports/subscriptions.ts';
import { malformedReason } from '../malformed-reason.ts';
import { verdictOf } from '../verdict-of.ts';

export interface NotifyDependencies {
  readonly subscriptions: Pick<SubscriptionsRepository, 'listByUserID'>;
  readonly users: Pick<UserService, 'get'>;
  readonly notifications: NotificationService;
  readonly notices: Notices;
  readonly pipeline: Pick<PipelineStore, 'readBackground' | 'saveVerdict'>;
  readonly clock: Clock;
}

export interface NotifyRequest extends RecordRef {
  /** The day on which the record was found to be due. */
  readonly day: CalendarDate;
  /** The run that asks. */
  readonly triggerId: string;
  /** There will be another look, so an event that is about to be applied can be waited for. */
  readonly patient: boolean;
}

const UNAPPLIED = 'membership-event-unapplied' satisfies DeferReason;

/** `waitsFor`: look again soon. Nothing was sent or written. */
export type NotifyResult = { readonly verdict: Verdict } | { readonly waitsFor: typeof UNAPPLIED };

type Finding = Pick<Verdict, 'verdict' | 'reason'> & Partial<Pick<Verdict, 'amount' | 'detail'>>;

/**
 * Tells the member what is due on that day, once, and leaves the run's verdict. Takes no lock: nothing about the record
 * changes.
 */
export async function notifyRecord(
  dependencies: NotifyDependencies,
  request: NotifyRequest,
): Promise<NotifyResult> {
  const { verdict: name, reason, ...more } = await consider(dependencies, request);
  if (request.patient && reason === UNAPPLIED) return { waitsFor: UNAPPLIED };
  const verdict = verdictOf({ ...request, at: dependencies.clock.now() }, name, reason, more);
  await dependencies.pipeline.saveVerdict(verdict);
  return { verdict };
}

async function consider(dependencies: NotifyDependencies, request: NotifyRequest): Promise<Finding> {
  const { subscriptions, users, clock, notices } = dependencies;
  const { userId, subscriptionId, day, triggerId } = request;
  // Read before the records: an event applied in between then shows in them.
  const waiting = await waitingEvent(dependencies, request);
  const partition = await subscriptions.listByUserID(userId);
  const record = partition.subscriptions.find((one) => one.subscriptionId === subscriptionId);
  // While one of the member's rows cannot be read nothing is charged either.
  const [bad] = partition.malformed;
  if (bad !== undefined) return { verdict: 'malformed', reason: malformedReason(bad), detail: bad.message };
  if (record === undefined) return { verdict: 'no-op', reason: 'record-gone' };
  const amount = record.billingAmount;
  const told = await notices.find(subscriptionId, day);
  // Its own notice, before a crash: the run's report shall count it.
  if (told?.triggerId === triggerId) return { verdict: 'notified', reason: THREE_DAY_NOTICE, amount };
  if (told !== null) return { verdict: 'no-op', reason: 'already-notified', amount };
  if (waiting !== null) return { verdict: 'deferred', reason: waiting, amount };
  const obstacle = noNotice(record, day, clock.now()) ?? noNoticeTo(await users.get(userId));
  if (obstacle !== null) return { verdict: 'no-op', reason: obstacle, amount };
  await tell(dependencies, request, record);
  return { verdict: 'notified', reason: THREE_DAY_NOTICE, amount };
}

/** The same reason as a run of collections gives: the event may end the membership, or bring it back. */
async function waitingEvent(
  { pipeline }: NotifyDependencies,
  { userId, subscriptionId, triggerId }: NotifyRequest,
): Promise<DeferReason | null> {
  const query = { userId, subscriptionId, triggerId, accountId: null };
  const { membershipEvent } = await pipeline.readBackground(query);
  return membershipEvent === null ? null : `membership-event-${membershipEvent}`;
}

/**
 * Sent first and noted then: the other way round, a crash in between would leave the member untold. What is sent again
 * has the same key, and the notifications service delivers a key once.
 */
async function tell(
  { notifications, notices, clock }: NotifyDependencies,
  { userId, subscriptionId, day, triggerId }: NotifyRequest,
  { billingAmount }: Subscription,
): Promise<void> {
  await notifications.send({
    userId,
    template: THREE_DAY_NOTICE,
    data: { subscription_id: subscriptionId, billing_date: day, amount: formatMoney(billingAmount) },
    dedupeKey: noticeKey(subscriptionId, day),
  });
  await notices.put({ subscriptionId, day, triggerId, at: clock.now() });
}
