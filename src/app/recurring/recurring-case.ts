import type { AttemptId } from '../../domain/attempt.ts';
import type { Instant } from '../../domain/instant.ts';
import { ZERO } from '../../domain/money.ts';
import type { Plan } from '../../domain/plan.ts';
import type { RecurringChange } from '../../domain/recurring/outcomes.ts';
import type { RecurringPolicy } from '../../domain/recurring/policy.ts';
import { payerOf, recurringRecordId } from '../../domain/recurring/record-id.ts';
import type { RecurringSubscription } from '../../domain/recurring/recurring.ts';
import type { Verdict, VerdictName } from '../../domain/verdict.ts';
import { MalformedRowError } from '../../errors.ts';
import type { LockClient, PastSighting } from '../../ports/lock.ts';
import type { RecurringRef, RecurringRepository } from '../../ports/recurring.ts';
import type { UserService } from '../../ports/services.ts';
import type { Write } from '../../ports/transaction.ts';
import { malformedReason } from '../malformed-reason.ts';
import type { Chargeable, MoneyDependencies } from '../move-money.ts';

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

type Finding = Pick<Verdict, 'verdict' | 'reason' | 'at'> & Partial<Verdict>;

/** What came of considering one, in so far as nothing is known beside it. */
export const recurringVerdict = (
  { accountId, recurringId, triggerId }: RecurringRef & { readonly triggerId: string },
  found: Finding,
): Verdict => ({
  subscriptionId: recurringRecordId({ accountId, recurringId }),
  userId: payerOf(accountId),
  triggerId,
  amount: ZERO,
  attemptId: null,
  until: null,
  plan: null,
  heldIn: null,
  detail: null,
  ...found,
});

export function judgedRecurring(
  { subscription, triggerId, now, plan }: RecurringCase,
  verdict: VerdictName,
  reason: string,
  more: { readonly attemptId?: AttemptId | null } = {},
): Verdict {
  const amount = subscription.paymentAmount;
  return recurringVerdict(
    { ...subscription, triggerId },
    { verdict, reason, amount, at: now, plan, attemptId: more.attemptId ?? null },
  );
}

/** A row that nobody can read is left alone and reported. */
export async function readRecurring(
  recurring: Pick<RecurringRepository, 'getSubscription'>,
  request: RecurringRequest,
  at: Instant,
): Promise<{ readonly subscription: RecurringSubscription } | { readonly unreadable: Verdict }> {
  try {
    const subscription = await recurring.getSubscription(request);
    if (subscription !== null) return { subscription };
    return { unreadable: recurringVerdict(request, { verdict: 'no-op', reason: 'record-gone', at }) };
  } catch (error) {
    if (!(error instanceof MalformedRowError)) throw error;
    const reason = malformedReason(error);
    const found: Finding = { verdict: 'malformed', reason, at, detail: error.message };
    return { unreadable: recurringVerdict(request, found) };
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
