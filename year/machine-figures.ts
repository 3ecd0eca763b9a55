import { formatMoney } from '../src/domain/money.ts';
import { headlinesOf } from './figures/headlines.ts';
import type { YearReport } from './report/page.ts';

/** The year in figures, as machines read them. */
export function machineFigures({ figures, audited, making }: YearReport) {
  const headlines = headlinesOf(figures);
  return {
    users: making.users,
    seed: making.seed,
    from: making.from,
    to: making.to,
    duration_s: Math.round(making.durationMs / 1_000),
    runs: making.runs,
    jobs: making.jobs,
    failed_jobs: making.failedJobs,
    quarantined: making.quarantined,
    collected: formatMoney(headlines.collected),
    collected_by_card: formatMoney(headlines.byCard),
    collected_by_ach: formatMoney(headlines.byAch),
    given_back: formatMoney(headlines.givenBack),
    failed_first_attempts: headlines.failedFirst,
    recovered: headlines.recovered,
    members: headlines.members,
    gone: headlines.gone,
    records: audited.totals.records,
    attempts: audited.totals.attempts,
    debits: audited.totals.debits,
    violations: audited.totals.violations,
    unsettled: audited.totals.unsettled,
  };
}
