import type { AttemptId, OpenAttempt } from '../attempt.ts';
import type { Charge, DeferReason, Freeze, FreezeReason, UserFacts } from '../decision.ts';
import type { Rail } from '../subscription.ts';

/** What is known about the account at the moment of deciding, read under its lock. */
export interface RecurringFacts {
  readonly triggerId: string;
  readonly openAttempt: OpenAttempt | null;
  readonly freezes: readonly Freeze[];
  /** Null: the user service has no such account. */
  readonly user: Pick<UserFacts, 'status'> | null;
  /** The account has been told of this period's payment. */
  readonly reminded: boolean;
}

export type NotPaidReason = 'status-not-collected' | 'not-due';

export type PayerReason = Extract<DeferReason, `user-${string}`> | 'user-banned' | 'user-cancelled';

export type RecurringDeferReason = FreezeReason | PayerReason | 'reminder-not-sent';

/** What to do about this period's payment. Everything but `charge`, `resume` and `go-stale` leaves it as it is. */
export type RecurringDecision =
  | { readonly verdict: 'no-op'; readonly reason: NotPaidReason }
  | { readonly verdict: 'deferred'; readonly reason: RecurringDeferReason }
  | { readonly verdict: 'skipped'; readonly reason: 'amount-not-positive'; readonly until: null }
  /** An attempt is open and may not be repeated now: only the processor's word can end it. */
  | {
      readonly verdict: 'blocked';
      readonly attemptId: AttemptId;
      readonly reason: 'open-attempt' | RecurringDeferReason;
    }
  /** The period is given up, and the next one begins. */
  | { readonly verdict: 'go-stale'; readonly reason: 'too-old' }
  | { readonly verdict: 'resume'; readonly attemptId: AttemptId; readonly rail: Rail }
  | Charge;

export type NotRemindedReason =
  'status-not-reminded' | 'already-reminded' | 'not-due' | 'amount-not-positive';

export type ReminderDecision =
  | { readonly verdict: 'remind' }
  | { readonly verdict: 'no-op'; readonly reason: NotRemindedReason }
  | { readonly verdict: 'deferred'; readonly reason: PayerReason };
