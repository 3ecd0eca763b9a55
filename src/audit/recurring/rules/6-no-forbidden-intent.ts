import { instantText, plusMs } from '../../instant.ts';
import { CLOCK_DIFFERENCE_MS } from '../../rules/2-no-debit-without-intent.ts';
import { GOES_ON } from '../allowed-recurring-transitions.ts';
import type { RecurringCase, RecurringRule } from '../recurring-case.ts';
import { changesBefore } from '../recurring-case.ts';
import type { RecurringAttempt } from '../recurring-record.ts';

/** No intent while a freeze, the payment's own state, or another attempt on it forbids one. */
export const noForbiddenIntent: RecurringRule = function* (subscription, { freezes }) {
  for (const attempt of subscription.attempts) {
    const { id, rail, openedAt } = attempt;
    const freeze = freezes.forbids(openedAt, rail, subscription.userId);
    if (freeze !== null)
      yield `attempt ${id} was opened at ${instantText(openedAt)} during a freeze (${freeze})`;
    yield* forbiddenByState(subscription, attempt);
    yield* openTogether(subscription, attempt);
  }
};

/** Of another period than the one that it was, after the end, or before the day. */
function* forbiddenByState(subscription: RecurringCase, attempt: RecurringAttempt): Generator<string> {
  const { id, openedAt, period } = attempt;
  const before = changesBefore(subscription, attempt).at(-1);
  if (before === undefined) return;
  if (!GOES_ON.includes(before.status)) yield `attempt ${id} was opened on one that was ${before.status}`;
  if (before.periodDate !== period) yield `attempt ${id} is for ${period}, when it was ${before.periodDate}`;
  const day = instantText(openedAt).slice(0, 10);
  if (before.nextPaymentDate !== null && before.nextPaymentDate > day)
    yield `attempt ${id} was opened on ${day}, before ${before.nextPaymentDate}`;
}

/** Two at once could both be paid. */
function* openTogether({ attempts }: RecurringCase, attempt: RecurringAttempt): Generator<string> {
  const at = attempt.openedAt;
  for (const other of attempts) {
    if (other.id === attempt.id) continue;
    const isEarlier = other.openedAt < at || (other.openedAt === at && other.id < attempt.id);
    if (isEarlier && (other.resolution === null || other.resolution.at > plusMs(at, CLOCK_DIFFERENCE_MS)))
      yield `attempt ${attempt.id} was opened at ${instantText(at)} while attempt ${other.id} was open`;
  }
}
