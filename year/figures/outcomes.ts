import type { OutcomeSums } from '../../dashboard/outcomes.ts';
import { sumOutcomes } from '../../dashboard/outcomes.ts';
import { isCollecting } from '../../src/domain/runs.ts';
import type { Run } from '../../src/ports/runs.ts';
import type { Month } from './months.ts';
import { monthOf } from './months.ts';

export interface MonthOfOutcomes {
  readonly month: Month;
  readonly sums: OutcomeSums;
}

/** What came of the runs that decide about money. Those that tell members something are not among them. */
export const outcomesByMonth = (runs: readonly Run[], months: readonly Month[]): MonthOfOutcomes[] =>
  months.map((month) => {
    const own = runs.filter(({ process, tick }) => isCollecting(process) && monthOf(tick) === month);
    return { month, sums: sumOutcomes(own.flatMap(({ report }) => report ?? [])) };
  });
