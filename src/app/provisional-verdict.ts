import type { Instant } from '../domain/instant.ts';
import { ZERO } from '../domain/money.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { RecordRef } from '../ports/runs.ts';

/** What is left when it never came to a decision: the record was not read, so there is no amount. */
export const provisionalVerdict = (
  { userId, subscriptionId }: RecordRef,
  triggerId: string,
  { verdict, reason }: { readonly verdict: 'locked' | 'failed'; readonly reason: string },
  at: Instant,
): Verdict => ({
  userId,
  subscriptionId,
  triggerId,
  verdict,
  reason,
  amount: ZERO,
  at,
  attemptId: null,
  until: null,
  plan: null,
  heldIn: null,
  detail: null,
});
