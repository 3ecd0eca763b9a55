import { areTooManyDoubtful, isDoubtfulReason } from '../domain/doubt.ts';
import type { Forecast } from '../ports/runs.ts';

/** Whether the run would stop itself, because too many of its users are said to be gone. */
export function wouldStop({ byPlan, due }: Pick<Forecast, 'byPlan' | 'due'>): boolean {
  const reasons = Object.values(byPlan).flatMap((tally) => Object.entries(tally.reasons));
  const doubtful = reasons
    .filter(([reason]) => isDoubtfulReason(reason))
    .reduce((sum, [, count]) => sum + count, 0);
  return areTooManyDoubtful(doubtful, due);
}
