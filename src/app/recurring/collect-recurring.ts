import { dateOf } from '../../domain/calendar-date.ts';
import type { Instant } from '../../domain/instant.ts';
import { planOf } from '../../domain/plan.ts';
import { decideRecurring, whyNotPaid } from '../../domain/recurring/decide-recurring.ts';
import { recurringTooOld } from '../../domain/recurring/outcomes.ts';
import { payerOf, recurringRecordId } from '../../domain/recurring/record-id.ts';
import type { RecurringDecision, RecurringFacts } from '../../domain/recurring/recurring-decision.ts';
import type { RecurringSubscription } from '../../domain/recurring/recurring.ts';
import { isReminded } from '../../domain/recurring/recurring.ts';
import type { Verdict } from '../../domain/verdict.ts';
import { isProvisional } from '../../domain/verdict.ts';
import type { Lock } from '../../ports/lock.ts';
import type { Background } from '../../ports/pipeline.ts';
import type { CollectResult } from '../consider.ts';
import { judgeUntouched, leave } from '../consider.ts';
import { chargeRecurring, resumeRecurring } from './charge-recurring.ts';
import type { RecurringCase, RecurringDependencies, RecurringRequest } from './recurring-case.ts';
import { judgedRecurring, readRecurring, saveRecurring, underAccountLock } from './recurring-case.ts';

/**
 * Considers one recurring payment and leaves a verdict: under its account's lock it reads what there is to know, decides,
 * and does what was decided. The one entrance to collecting recurring payments.
 */
export function collectRecurring(
  dependencies: RecurringDependencies,
  request: RecurringRequest,
): Promise<CollectResult> {
  return underAccountLock(dependencies, request, (lock) => consider(dependencies, request, lock));
}

async function consider(
  dependencies: RecurringDependencies,
  request: RecurringRequest,
  lock: Lock,
): Promise<Verdict> {
  const now = dependencies.clock.now();
  const read = await readRecurring(dependencies.recurring, request, now);
  if ('unreadable' in read) return leave(dependencies, read.unreadable);
  const { subscription } = read;
  const { triggerId } = request;
  const { facts, background } = await gatherRecurringFacts(dependencies, { subscription, triggerId, now });
  const { verdict: before, state } = background;
  if (before !== null && !isProvisional(before)) return before;

  const decision = decideRecurring(subscription, facts, dependencies.recurringPolicy, now);
  const plan = planOf(decision);
  return carryOut({ dependencies, triggerId, lock, state, subscription, now, plan }, decision);
}

export type RecurringFactSources = Pick<RecurringDependencies, 'users'> & {
  readonly pipeline: Pick<RecurringDependencies['pipeline'], 'readBackground'>;
};

/** Everything that a decision about this payment asks for. Changes nothing. */
export async function gatherRecurringFacts(
  sources: RecurringFactSources,
  {
    subscription,
    triggerId,
    now,
  }: {
    readonly subscription: RecurringSubscription;
    readonly triggerId: string;
    readonly now: Instant;
  },
): Promise<{ readonly facts: RecurringFacts; readonly background: Background }> {
  const userId = payerOf(subscription.accountId);
  const subscriptionId = recurringRecordId(subscription);
  // A payment that is not due needs no facts about its user.
  const isDue = whyNotPaid(subscription, dateOf(now)) === null;
  const user = isDue ? await sources.users.get(userId) : null;
  // Last, because it must be fresh when a charge is opened: a slow service would make it old.
  const background = await sources.pipeline.readBackground({
    userId,
    subscriptionId,
    triggerId,
    accountId: null,
  });
  const { state, freezes } = background;
  const facts: RecurringFacts = {
    triggerId,
    openAttempt: state.open,
    freezes,
    user,
    reminded: isReminded(subscription),
  };
  return { facts, background };
}

function carryOut(theCase: RecurringCase, decision: RecurringDecision): Promise<Verdict> {
  const { dependencies } = theCase;
  switch (decision.verdict) {
    case 'no-op':
    case 'deferred':
    case 'skipped':
    case 'blocked':
      return leave(
        dependencies,
        judgeUntouched((...verdict) => judgedRecurring(theCase, ...verdict), decision),
      );
    case 'go-stale':
      return giveUp(theCase, decision.reason);
    case 'resume':
      return resumeRecurring(theCase);
    case 'charge':
      return chargeRecurring(theCase, decision);
  }
}

async function giveUp(theCase: RecurringCase, reason: string): Promise<Verdict> {
  const { dependencies, subscription, now } = theCase;
  const change = recurringTooOld(subscription, dependencies.recurringPolicy, now);
  const judgement = judgedRecurring(theCase, 'stale', reason);
  await saveRecurring(theCase, change, [dependencies.pipeline.judge(judgement)]);
  return judgement;
}
