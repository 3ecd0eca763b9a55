import { wrongSums } from '../../rules/5-never-more-than-due.ts';
import type { RecurringRule } from '../recurring-case.ts';

/** What was asked for is what a period costs: the amount may have changed since. */
export const neverMoreThanDue: RecurringRule = function* ({ periods }) {
  for (const { period, tally, attempts } of periods) {
    if (tally === null) continue;
    const due = Math.max(...attempts.map(({ amountCents }) => amountCents));
    for (const detail of wrongSums(tally, due)) yield `${period}: ${detail}`;
  }
};
