import { openTooLong, unintendedDebits } from '../../rules/2-no-debit-without-intent.ts';
import type { RecurringRule } from '../recurring-case.ts';

/** As with billing records: money that moved is found again by its intent, and an intent ends. */
export const noDebitWithoutIntent: RecurringRule = function* ({ periods, changes, attempts }, circumstances) {
  for (const period of periods) {
    for (const detail of unintendedDebits(period)) yield `${detail} (${period.period})`;
    yield* openTooLong(period, circumstances);
  }
  const known = new Set(attempts.map(({ id }) => id));
  const named = new Set(changes.flatMap(({ attemptId }) => attemptId ?? []));
  for (const id of named) if (!known.has(id)) yield `a change names attempt ${id}, which is not there`;
};
