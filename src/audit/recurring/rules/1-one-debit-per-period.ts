import { debitsTooMany } from '../../rules/1-one-debit-per-period.ts';
import type { RecurringRule } from '../recurring-case.ts';

/** Nobody pays twice for one period. */
export const oneDebitPerPeriod: RecurringRule = function* ({ periods }) {
  for (const period of periods)
    for (const detail of debitsTooMany(period)) yield `${period.period}: ${detail}`;
};
