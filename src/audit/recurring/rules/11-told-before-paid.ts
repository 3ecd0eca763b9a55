import { instantText } from '../../instant.ts';
import { RECURRING_BORN_BY } from '../allowed-recurring-transitions.ts';
import type { RecurringRule } from '../recurring-case.ts';
import { changesBefore } from '../recurring-case.ts';
import type { RecurringChange } from '../recurring-record.ts';

/** Nobody is charged before they were told of it, and nobody is told twice of one payment. */
export const toldBeforePaid: RecurringRule = function* (subscription) {
  const { attempts, changes } = subscription;
  // What was before somebody else's row came to us is not known here.
  if (changes[0]?.cause !== RECURRING_BORN_BY) return;
  for (const attempt of attempts) {
    const { id, period, openedAt } = attempt;
    const isTold = changesBefore(subscription, attempt).some(
      ({ cause, periodDate }) => cause === 'reminded' && periodDate === period,
    );
    if (!isTold)
      yield `attempt ${id} for ${period} was opened at ${instantText(openedAt)} before anybody was told of it`;
  }
  for (const [n, { cause, periodDate, at }] of changes.entries())
    if (cause === 'reminded' && isToldAlready(changes.slice(0, n), periodDate))
      yield `was told of ${periodDate} once more at ${instantText(at)}`;
};

/** Whoever was moved to another day and back is told again: what they heard last is not true any more. */
const isToldAlready = (before: readonly RecurringChange[], period: string): boolean =>
  before.findLast(({ cause, periodDate }) => cause === 'reminded' || periodDate !== period)?.periodDate ===
  period;
