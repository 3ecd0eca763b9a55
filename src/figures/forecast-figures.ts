import { wouldStop } from '../app/would-stop.ts';
import { formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import { runId } from '../domain/runs.ts';
import type { Forecast } from '../ports/runs.ts';
import { tallyFigures } from './tallies.ts';

/** A forecast for machines. `by_verdict` holds what would be decided: what the bank would say nobody knows. */
export const forecastFigures = (forecast: Forecast) => ({
  run: runId(forecast.process, forecast.asOf),
  as_of: formatInstant(forecast.asOf),
  records: forecast.records,
  amount: formatMoney(forecast.amount),
  by_verdict: tallyFigures(forecast.byPlan),
  due: forecast.due,
  malformed: forecast.malformed,
  unreachable: forecast.unreachable,
  would_stop: wouldStop(forecast),
});
