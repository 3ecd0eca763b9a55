import type { Collected, Rule } from '../user-case.ts';
import type { Finding } from '../violation.ts';

/** Nobody pays twice for one period: debits less what was returned, charged back or refunded is one at most. */
export const oneDebitPerPeriod: Rule = function* ({ records }): Generator<Finding> {
  for (const record of records)
    for (const detail of debitsTooMany(record)) yield { subscriptionId: record.subscriptionId, detail };
};

export function* debitsTooMany({ tally }: Collected): Generator<string> {
  const keys = tally?.keys ?? [];
  const standing = keys.reduce((sum, { debits, credits }) => sum + debits - credits, 0);
  if (standing <= 1) return;
  const names = keys.filter(({ debits, credits }) => debits > credits).map(({ key }) => key);
  yield `${standing} debits stand at the processor, under ${names.join(', ')}`;
}
