import type { AttemptId } from './attempt.ts';
import type { Instant } from './instant.ts';
import type { Cents } from './money.ts';
import type { SubscriptionId, UserId } from './subscription.ts';

/** What came of considering a record, in the words of run reports and `explain`. */
export const VERDICTS = [
  'collected',
  'sent',
  'declined',
  'refused',
  'unknown',
  'cancelled',
  'waived',
  'stale',
  'pause-skipped',
  'no-op',
  'deferred',
  'skipped',
  'blocked',
  'locked',
  'malformed',
] as const;
export type VerdictName = (typeof VERDICTS)[number];

/** Left by every record that a trigger considered: nothing is skipped in silence. */
export interface Verdict {
  readonly subscriptionId: SubscriptionId;
  readonly userId: UserId;
  readonly triggerId: string;
  readonly verdict: VerdictName;
  readonly reason: string;
  readonly amount: Cents;
  readonly at: Instant;
  readonly attemptId: AttemptId | null;
  /** When it is worth looking again. */
  readonly until: Instant | null;
}
