import type { Tally } from '../tally.ts';
import type { Rule } from '../user-case.ts';
import type { Finding } from '../violation.ts';

/** In cents: what was collected and not given back is what was due, at most; and nobody gets back more than they paid. */
export const neverMoreThanDue: Rule = function* ({ records }): Generator<Finding> {
  for (const { subscriptionId, row, changes, tally } of records) {
    const due = (row ?? changes.at(-1))?.amountCents;
    if (tally === null || due === undefined) continue;
    for (const detail of wrongSums(tally, due)) yield { subscriptionId, detail };
  }
};

export function* wrongSums({ debitedCents, creditedCents }: Tally, due: number): Generator<string> {
  const kept = debitedCents - creditedCents;
  if (kept > due) yield `${kept} cents were kept, ${due} were due`;
  if (kept < 0) yield `${creditedCents} cents were given back of ${debitedCents} collected`;
}
