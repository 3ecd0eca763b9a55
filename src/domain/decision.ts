import type { GateReason } from './ach/gate.ts';
import type { AttemptId, OpenAttempt } from './attempt.ts';
import type { Instant } from './instant.ts';
import type { LeavingReason } from './leaving.ts';
import type { LimitFacts, LimitReason } from './limits.ts';
import type { Cents } from './money.ts';
import type { PathRules } from './paths.ts';
import type { CollectionPolicy } from './policy.ts';
import type { Rail, Subscription } from './subscription.ts';

/** Stops what it names: everything, one rail, or one user. Facts hold only freezes that concern this user. */
export interface Freeze {
  readonly scope: 'global' | 'user' | Rail;
  /** Null: until an operator lifts it. */
  readonly until: Instant | null;
}

/** The user service's word. A status that we do not know is kept as text. */
export interface UserFacts {
  readonly status: string;
  readonly isEmployee: boolean;
}

export interface AccountFacts {
  readonly accountId: string;
  readonly availableBalance: Cents;
  readonly hasDebitCard: boolean;
  readonly achBlock: string | null;
}

/** What is known about the record and its user at the moment of deciding, read under the user's lock. */
export interface Facts extends LimitFacts {
  readonly triggerId: string;
  readonly openAttempt: OpenAttempt | null;
  /** A membership event of this user that was not applied yet, or that failed and waits for an operator. */
  readonly membershipEvent: 'unapplied' | 'quarantined' | null;
  readonly freezes: readonly Freeze[];
  /** Null: the user service has no such user. */
  readonly user: UserFacts | null;
  /** Null: no primary account. */
  readonly account: AccountFacts | null;
}

export type NoOpReason = 'status-not-collected' | 'not-due' | 'not-stale';

export type FreezeReason = 'frozen-global' | 'frozen-user' | 'frozen-rail';

export type DeferReason =
  | 'membership-event-unapplied'
  | 'membership-event-quarantined'
  | FreezeReason
  | 'user-missing'
  | 'user-processing'
  | 'user-under-investigation'
  | 'user-status-unknown';

export type CloseReason = LeavingReason | 'user-cancelled' | 'user-banned' | 'employee' | 'too-old';

export type SkipReason = LimitReason | GateReason | CloseReason | 'no-debit-card' | 'amount-not-positive';

export type RefusalReason = 'balance-too-low' | 'no-account';

/** What becomes of the pause when its period is over. */
export type PauseContinuation =
  { readonly status: 'PAUSED'; readonly monthsLeft: number } | { readonly status: 'SCHEDULED' };

/** What to do with the record. Everything but `charge`, `resume` and the four changes leaves it untouched. */
export type Decision =
  | { readonly verdict: 'no-op'; readonly reason: NoOpReason }
  | { readonly verdict: 'deferred'; readonly reason: DeferReason }
  | { readonly verdict: 'skipped'; readonly reason: SkipReason; readonly until: Instant | null }
  /** An attempt is open and may not be repeated now: only the processor's word can end it. */
  | { readonly verdict: 'blocked'; readonly attemptId: AttemptId; readonly reason: BlockReason }
  | { readonly verdict: 'cancel' | 'waive' | 'go-stale'; readonly reason: CloseReason }
  | { readonly verdict: 'skip-pause'; readonly next: PauseContinuation }
  | { readonly verdict: 'refuse'; readonly reason: RefusalReason; readonly shortBy: Cents }
  | { readonly verdict: 'resume'; readonly attemptId: AttemptId; readonly rail: Rail }
  | Charge;

export type BlockReason = 'open-attempt' | 'ach-account-blocked' | DeferReason | CloseReason;

/** The first rail to try, and the one to turn to when the card answers that there is no money on it. */
export interface Charge {
  readonly verdict: 'charge';
  readonly amount: Cents;
  readonly rail: Rail;
  readonly fallback: 'ACH' | null;
  /** An ACH entry that was returned before goes with the description that the network wants for it. */
  readonly representment: boolean;
}

/** Everything that an answer may depend on. */
export interface Question {
  readonly rules: PathRules;
  readonly record: Subscription;
  readonly facts: Facts;
  readonly policy: CollectionPolicy;
  readonly now: Instant;
}
