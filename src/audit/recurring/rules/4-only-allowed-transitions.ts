import { instantText } from '../../instant.ts';
import { ALLOWED_RECURRING_TRANSITIONS, RECURRING_BORN_BY } from '../allowed-recurring-transitions.ts';
import type { RecurringRule } from '../recurring-case.ts';

/** Each change must be possible after the one before it. */
export const onlyAllowedTransitions: RecurringRule = function* ({ changes }) {
  for (const [n, { status: to, cause, at }] of changes.entries()) {
    const from = changes[n - 1]?.status;
    if (from === undefined) continue;
    if (cause === RECURRING_BORN_BY || !isAllowed(from, to, cause))
      yield `went from ${from} to ${to} because of ${cause} at ${instantText(at)}`;
  }
};

const isAllowed = (from: string, to: string, cause: string): boolean =>
  ALLOWED_RECURRING_TRANSITIONS.some(
    (allowed) => allowed.from === from && allowed.to === to && allowed.causes.includes(cause),
  );
