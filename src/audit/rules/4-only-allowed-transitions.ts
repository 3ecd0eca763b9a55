import { BORN_AS, OUTCOMES, TERMINAL, isAllowed } from '../allowed-transitions.ts';
import type { Change } from '../record.ts';
import type { Rule } from '../user-case.ts';
import type { Finding } from '../violation.ts';

/** A record that is over stays over, but for late reversals and the outcome of its own attempt; see the table. */
export const onlyAllowedTransitions: Rule = function* ({ records }): Generator<Finding> {
  for (const { subscriptionId, changes } of records) {
    for (const [i, change] of changes.entries()) {
      const before = changes[i - 1];
      const detail = before === undefined ? badBirth(change) : badStep(before, change);
      if (detail !== null) yield { subscriptionId, detail: `${detail}, at ${change.lastRunDateText}` };
    }
  }
};

/** The Go service tells no cause, and made-up members of the demo come into the world in the middle of their lives. */
const badBirth = ({ status, cause }: Change): string | null =>
  cause === null || cause === 'seeded' || BORN_AS.includes(status) ? null : `began as ${status}`;

function badStep(before: Change, { status, cause, attemptId }: Change): string | null {
  const step = `${before.status} became ${status}`;
  if (!isAllowed(before.status, status, cause))
    return cause === null ? `${step}, which nothing allows` : `${step}, which ${cause} does not allow`;
  const isOutcome = cause !== null && OUTCOMES.includes(cause);
  if (isOutcome && TERMINAL.includes(before.status) && attemptId === null)
    return `${step} as the outcome of no attempt`;
  return null;
}
