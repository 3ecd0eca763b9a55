import { ZERO } from '../domain/money.ts';
import type { PlanName } from '../domain/plan.ts';
import { PLANS } from '../domain/plan.ts';
import type { Forecast, RunReport, Tally } from '../ports/runs.ts';

export type CountAndAmount = Pick<Tally, 'count' | 'amount'>;

export interface ForecastDifference {
  readonly plan: PlanName;
  readonly forecast: CountAndAmount;
  readonly run: CountAndAmount;
}

/** Where the run decided otherwise than foretold; empty when all came as foretold. What the bank answered plays no part. */
export const compareWithForecast = (
  { byPlan: foretold }: Pick<Forecast, 'byPlan'>,
  { byPlan: decided }: Pick<RunReport, 'byPlan'>,
): ForecastDifference[] =>
  PLANS.map((plan) => ({ plan, forecast: figuresOf(foretold[plan]), run: figuresOf(decided[plan]) })).filter(
    ({ forecast, run }) => forecast.count !== run.count || forecast.amount !== run.amount,
  );

const figuresOf = (tally: Tally | undefined): CountAndAmount => ({
  count: tally?.count ?? 0,
  amount: tally?.amount ?? ZERO,
});
