import type { GateReason } from '../ach/gate.ts';
import type { AttemptId, OpenAttempt, PastAttempt } from '../attempt.ts';
import type { AccountFacts, Charge, DeferReason, Freeze, FreezeReason, UserFacts } from '../decision.ts';
import type { Instant } from '../instant.ts';
import type { Rail } from '../subscription.ts';
import type { RouteAdvice } from './ach-route.ts';
import type { NotCollectedReason } from './due.ts';
import type { LogEntry } from './float.ts';

/** What is known about the float and its member at the moment of deciding, read under the member's lock. */
export interface FloatFacts {
  readonly triggerId: string;
  readonly openAttempt: OpenAttempt | null;
  /** Every row of the float, in any order. The limits are read from it. */
  readonly log: readonly LogEntry[];
  /** What was really presented to the bank; the gate for ACH is read from it. */
  readonly attempts: readonly PastAttempt[];
  readonly freezes: readonly Freeze[];
  /** Null: the user service has no such user. */
  readonly user: Pick<UserFacts, 'status'> | null;
  /** Null: no primary account. */
  readonly account: AccountFacts | null;
  readonly route: RouteAdvice;
}

/** A debit card is charged on the due date itself, so the day before there is nothing to send. */
export type FloatNoOpReason = NotCollectedReason | 'has-debit-card';

export type FloatDeferReason = FreezeReason | Extract<DeferReason, `user-${string}`> | 'user-banned';

export type DefaultReason = 'ach-attempts-used-up' | 'too-long-past-due';

/** Why no ACH debit goes to this account today. */
export type AgainstAch = GateReason | 'route-against-ach' | 'ach-attempts-used-up';

export type FloatSkipReason =
  | AgainstAch
  | 'paid-already'
  | 'two-failures'
  | 'retried-today'
  | 'webhooks-of-the-day-used'
  | 'no-account'
  | 'no-debit-card'
  | 'balance-too-low'
  | 'amount-not-positive';

/** What to do with the float. Everything but `charge`, `resume` and the three changes leaves it untouched. */
export type FloatDecision =
  | { readonly verdict: 'no-op'; readonly reason: FloatNoOpReason }
  | { readonly verdict: 'deferred'; readonly reason: FloatDeferReason }
  | { readonly verdict: 'skipped'; readonly reason: FloatSkipReason; readonly until: Instant | null }
  /** An attempt is open and may not be repeated now: only the processor's word can end it. */
  | {
      readonly verdict: 'blocked';
      readonly attemptId: AttemptId;
      readonly reason: 'open-attempt' | 'ach-account-blocked' | FloatDeferReason;
    }
  | FloatStep
  | { readonly verdict: 'resume'; readonly attemptId: AttemptId; readonly rail: Rail }
  | Charge;

/** The float changes, and nobody is charged. */
export type FloatStep =
  | { readonly verdict: 'default'; readonly reason: DefaultReason }
  | { readonly verdict: 'uncollectable'; readonly reason: 'no-account' }
  /** Nothing can be tried on the due date: from tomorrow on it is one of those that are retried. */
  | { readonly verdict: 'give-up-today'; readonly reason: 'no-account' | AgainstAch };
