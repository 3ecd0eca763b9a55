import type { AttemptId } from './attempt.ts';
import type { Instant } from './instant.ts';
import type { Cents } from './money.ts';
import type { Plan } from './plan.ts';
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
  'defaulted',
  'uncollectable',
  'given-up',
  'notified',
  'refund-sent',
  'refund-declined',
  'no-op',
  'deferred',
  'skipped',
  'blocked',
  'held',
  'locked',
  'failed',
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
  /** Null where it never came to a decision: the row cannot be read, the user was locked, the job failed. */
  readonly plan: Plan | null;
  /** Held for a later pass of the run: in which pass. */
  readonly heldIn: number | null;
  /** For people: what a reason in one word leaves out. */
  readonly detail: string | null;
}

const PROVISIONAL: ReadonlySet<VerdictName> = new Set<VerdictName>(['held', 'locked', 'failed']);

/** Asked again by the same trigger, the record is considered afresh. Any other verdict is the answer for good. */
export const isProvisional = ({ verdict }: Verdict): boolean => PROVISIONAL.has(verdict);
