import type { AttemptId } from '../../domain/attempt.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Plan } from '../../domain/plan.ts';
import type { RecurringChange } from '../../domain/recurring/outcomes.ts';
import type { RecurringPolicy } from '../../domain/recurring/policy.ts';
import { payerOf, recurringRecordId } from '../../domain/recurring/record-id.ts';
import type { RecurringSubscription } from '../../domain/recurring/recurring.ts';
import type { Verdict, VerdictName } from '../../domain/verdict.ts';
import { MalformedRowError } from '../../errors.ts';
import type { Lock, LockClient, PastSighting } from '../../ports/lock.ts';
import { recurringLockKey } from '../../ports/lock.ts';
import type { RecurringRef, RecurringRepository } from '../../ports/recurring.ts';
import type { UserService } from '../../ports/services.ts';
import type { Write } from '../../ports/transaction.ts';
import type { CollectResult } from '../consider.ts';
import { considerLocked } from '../consider.ts';
import { malformedReason } from '../malformed-reason.ts';
import type { Chargeable, MoneyDependencies } from '../move-money.ts';
import { verdictOf } from '../verdict-of.ts';

export interface RecurringDependencies extends MoneyDependencies {
  readonly locks: LockClient;
  readonly recurring: RecurringRepository;
  readonly users: Pick<UserService, 'get'>;
  readonly recurringPolicy: RecurringPolicy;
}

export interface RecurringRequest extends RecurringRef {
  /** The run that asks. Asked twice by the same, a subscription is considered once. */
  readonly triggerId: string;
  /** What an earlier try saw of the lock. */
  readonly seen?: PastSighting | undefined;
}

/** A recurring payment under consideration: everything that was read about it under its account's lock. */
export interface RecurringCase extends Chargeable {
  readonly dependencies: RecurringDependencies;
  readonly subscription: RecurringSubscription;
  readonly now: Instant;
  readonly plan: Plan | null;
}

/** Considers a subscription while no other job works on its account. */
export const underAccountLock = (
  dependencies: Pick<RecurringDependencies, 'locks' | 'onStep'>,
  { seen, ...ref }: RecurringRequest,
  consider: (lock: Lock) => Promise<Verdict>,
): Promise<CollectResult> => {
  const record = { userId: payerOf(ref.accountId), subscriptionId: recurringRecordId(ref), seen };
  return considerLocked(dependencies, recurringLockKey(ref.accountId), record, consider);
};

/** What a verdict about it is about. */
export const aboutRecurring = (
  { triggerId, ...ref }: Pick<RecurringRequest, 'accountId' | 'recurringId' | 'triggerId'>,
  at: Instant,
) => ({ userId: payerOf(ref.accountId), subscriptionId: recurringRecordId(ref), triggerId, at });

export const judgedRecurring = (
  { subscription, triggerId, now, plan }: RecurringCase,
  verdict: VerdictName,
  reason: string,
  more: { readonly attemptId?: AttemptId; readonly until?: Instant | null } = {},
): Verdict =>
  verdictOf(aboutRecurring({ ...subscription, triggerId }, now), verdict, reason, {
    amount: subscription.paymentAmount,
    plan,
    ...more,
  });

/** A row that cannot be read is left alone and reported. */
export async function readRecurring(
  recurring: Pick<RecurringRepository, 'getSubscription'>,
  request: RecurringRequest,
  at: Instant,
): Promise<{ readonly subscription: RecurringSubscription } | { readonly unreadable: Verdict }> {
  try {
    const subscription = await recurring.getSubscription(request);
    if (subscription !== null) return { subscription };
    return { unreadable: verdictOf(aboutRecurring(request, at), 'no-op', 'record-gone') };
  } catch (error) {
    if (!(error instanceof MalformedRowError)) throw error;
    const detail = { detail: error.message };
    return {
      unreadable: verdictOf(aboutRecurring(request, at), 'malformed', malformedReason(error), detail),
    };
  }
}

/** One transaction: the subscription, its receipt and what goes along. Gives the case as it is then. */
export async function saveRecurring(
  theCase: RecurringCase,
  change: RecurringChange,
  also: readonly Write[] = [],
): Promise<RecurringCase> {
  const { dependencies, lock, subscription } = theCase;
  const receipt = change.receipt === null ? [] : await dependencies.recurring.createReceipt(change.receipt);
  await dependencies.recurring.updateSubscription(lock.fence, subscription, change, [...receipt, ...also]);
  return { ...theCase, subscription: change.subscription };
}
