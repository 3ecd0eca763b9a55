import { instantText } from '../../instant.ts';
import { RECURRING_BORN_BY } from '../allowed-recurring-transitions.ts';
import type { RecurringRule } from '../recurring-case.ts';
import { changesBefore } from '../recurring-case.ts';

/** Nobody is charged before they were told of it, and nobody is told twice of one payment. */
export const toldBeforePaid: RecurringRule = function* (subscription) {
  const { attempts, changes } = subscription;
  // What was before somebody else's row came to us is not known here.
  if (changes[0]?.cause !== RECURRING_BORN_BY) return;
  const reminders = changes.filter(({ cause }) => cause === 'reminded');
  for (const attempt of attempts) {
    const { id, period, openedAt } = attempt;
    const isTold = changesBefore(subscription, attempt).some(
      ({ cause, periodDate }) => cause === 'reminded' && periodDate === period,
    );
    if (!isTold)
      yield `attempt ${id} for ${period} was opened at ${instantText(openedAt)} before anybody was told of it`;
  }
  for (const [n, { periodDate, at }] of reminders.entries())
    if (reminders.slice(0, n).some((earlier) => earlier.periodDate === periodDate))
      yield `was told of ${periodDate} once more at ${instantText(at)}`;
};
