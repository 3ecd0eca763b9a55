import { wrongSums } from '../../rules/5-never-more-than-due.ts';
import type { FloatRule } from '../float-case.ts';

export const neverMoreThanDue: FloatRule = function* ({ row, tally }) {
  if (row !== null && tally !== null) yield* wrongSums(tally, row.amountCents);
};
