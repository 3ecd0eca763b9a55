import type { CountAndAmount } from '../app/compare-forecast.ts';
import { compareWithForecast } from '../app/compare-forecast.ts';
import { formatInstant, msOf } from '../domain/instant.ts';
import { ZERO, formatMoney } from '../domain/money.ts';
import type { Forecast, Run, RunReport } from '../ports/runs.ts';
import { forecastFigures } from './forecast-figures.ts';
import { tallyFigures } from './tallies.ts';

const NOTHING_YET: RunReport = { records: 0, amount: ZERO, byVerdict: {}, byPlan: {} };

/** A run's report for machines. While it is under way nothing is added up yet and `duration_ms` is null. */
export function runFigures(run: Run) {
  const report = run.report ?? NOTHING_YET;
  return {
    run: run.runId,
    run_id: run.runId,
    process: run.process,
    as_of: formatInstant(run.tick),
    status: run.status,
    duration_ms: run.finishedAt === null ? null : msOf(run.finishedAt) - msOf(run.startedAt),
    due: run.due,
    not_owned: run.notOwned,
    passes: run.pass,
    records: report.records,
    amount: formatMoney(report.amount),
    by_verdict: tallyFigures(report.byVerdict),
    by_plan: tallyFigures(report.byPlan),
    ...(run.forecast === null ? {} : besideForecast(run.forecast, report)),
  };
}

const besideForecast = (forecast: Forecast, report: RunReport) => ({
  forecast: forecastFigures(forecast),
  differences: compareWithForecast(forecast, report).map(({ plan, forecast: foretold, run }) => ({
    plan,
    forecast: figures(foretold),
    run: figures(run),
  })),
});

const figures = ({ count, amount }: CountAndAmount) => ({ count, amount: formatMoney(amount) });
