import type { Rule } from '../user-case.ts';
import type { Finding } from '../violation.ts';

/** Nobody pays twice for one period: debits less what was returned, charged back or refunded is one at most. */
export const oneDebitPerPeriod: Rule = function* ({ records }): Generator<Finding> {
  for (const { subscriptionId, tally } of records) {
    const keys = tally?.keys ?? [];
    const standing = keys.reduce((sum, { debits, credits }) => sum + debits - credits, 0);
    if (standing <= 1) continue;
    const names = keys.filter(({ debits, credits }) => debits > credits).map(({ key }) => key);
    yield { subscriptionId, detail: `${standing} debits stand at the processor, under ${names.join(', ')}` };
  }
};
