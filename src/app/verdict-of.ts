import type { Instant } from '../domain/instant.ts';
import { ZERO } from '../domain/money.ts';
import type { Verdict, VerdictName } from '../domain/verdict.ts';
import type { RecordRef } from '../ports/runs.ts';

type Particulars = Pick<Verdict, 'amount' | 'attemptId' | 'until' | 'plan' | 'heldIn' | 'detail'>;

/** What is left of considering a record. Without particulars it never came to a decision, so there is not even an amount. */
export const verdictOf = (
  { userId, subscriptionId, triggerId, at }: RecordRef & { readonly triggerId: string; readonly at: Instant },
  verdict: VerdictName,
  reason: string,
  particulars: Partial<Particulars> = {},
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
  ...particulars,
});
