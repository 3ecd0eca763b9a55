import type { OpenAttempt } from '../attempt.ts';
import type { Instant } from '../instant.ts';
import type { Float, LogOutcome } from './float.ts';
import type { FloatChange } from './outcomes.ts';
import { changed, noAttempt } from './outcomes.ts';
import { isLegalForFloat } from './transitions.ts';

/** What support may make of a float, and what the log then says. */
const OUTCOME_OF_WISH = {
  COMPLETED: 'COMPLETED',
  DEFAULTED: 'DEFAULTED',
  RETRY: 'RETURNED',
} as const satisfies Record<string, LogOutcome>;

export type SupportWish = keyof typeof OUTCOME_OF_WISH;
export const SUPPORT_WISHES = Object.keys(OUTCOME_OF_WISH) as readonly SupportWish[];

export type FloatSupportPlan<F extends Float> =
  | { readonly plan: 'change'; readonly change: FloatChange<F> }
  | {
      readonly plan: 'refused';
      readonly reason: 'open-attempt' | 'illegal-transition';
      readonly detail: string;
    };

/** What support's wish makes of a float. Which status may follow which stands in the transition table. */
export function planFloatSupport<F extends Float>(
  float: F,
  wish: SupportWish,
  openAttempt: Pick<OpenAttempt, 'attemptId'> | null,
  now: Instant,
): FloatSupportPlan<F> {
  if (!isLegalForFloat(float.status, wish, 'support-changed')) {
    const detail = `support cannot take a float from ${float.status} to ${wish}`;
    return { plan: 'refused', reason: 'illegal-transition', detail };
  }
  // Its money may have moved already: whatever support says now could be wrong a moment later.
  if (openAttempt !== null) {
    const detail = `nobody knows yet what became of attempt ${openAttempt.attemptId}`;
    return { plan: 'refused', reason: 'open-attempt', detail };
  }
  // Whoever asks for it again says that it is owed, whatever was heard of the advance.
  const creditReturnedAt = wish === 'RETRY' ? null : float.creditReturnedAt;
  const fields = { status: wish, completedAt: wish === 'COMPLETED' ? now : null, creditReturnedAt };
  const told = noAttempt('SUPPORT', OUTCOME_OF_WISH[wish]);
  return { plan: 'change', change: changed(float, 'support-changed', fields, told, now) };
}
