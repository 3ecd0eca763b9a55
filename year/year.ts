import type { Terminal } from '../src/cli/terminal.ts';
import { auditSystem } from '../src/cli/audit-command.ts';
import type { LocalSystem } from '../src/cli/local-system.ts';
import { dollars } from '../dashboard/format.ts';
import { sumOutcomes } from '../dashboard/outcomes.ts';
import { QUEUE_NAMES } from '../queues/queue-names.ts';
import { RETURN_RATE_DAYS } from '../src/domain/ach/return-rates.ts';
import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { SUNDAY, addDays, weekday } from '../src/domain/calendar-date.ts';
import type { Cents } from '../src/domain/money.ts';
import { ZERO, addMoney } from '../src/domain/money.ts';
import type { Run } from '../src/ports/runs.ts';
import { daysFrom } from './days.ts';
import { yearFigures } from './figures/figures.ts';
import { monthOfDate } from './figures/months.ts';
import type { MeterReading } from './figures/returns.ts';
import { jobsIn, readChanges, readMovements } from './gather.ts';
import { planHappenings } from './happenings.ts';
import type { YearPlan } from './happenings.ts';
import { Life } from './life.ts';
import { longMonth } from './report/month-names.ts';
import type { YearReport } from './report/page.ts';
import type { Stage } from './stage.ts';

/** Lets the time of the plan pass, has it audited, and gives what there is to tell. */
export async function liveYear(
  system: LocalSystem,
  stage: Stage,
  plan: YearPlan,
  out: Terminal,
  signal: AbortSignal,
): Promise<YearReport> {
  const { stores, queues, ledger, api, timer } = stage;
  const beganMs = timer.elapsedMs();
  const { runs, readings } = await liveDays(stage, plan, out, signal);
  const audited = await auditSystem(system.environment, out);
  const stored = {
    runs,
    readings,
    movements: await readMovements(ledger),
    changes: await readChanges(system.environment),
  };
  const depths = await queues.depths(QUEUE_NAMES);
  return {
    figures: yearFigures(stored, plan.from, plan.to),
    audited,
    making: {
      ...plan,
      durationMs: timer.elapsedMs() - beganMs,
      runs: runs.length,
      jobs: jobsIn(await api.metrics()),
      failedJobs: depths.filter(({ state }) => state === 'failed').reduce((sum, one) => sum + one.count, 0),
      quarantined: await stores.quarantine.size(),
    },
  };
}

async function liveDays(
  stage: Stage,
  plan: YearPlan,
  out: Terminal,
  signal: AbortSignal,
): Promise<{ readonly runs: readonly Run[]; readonly readings: readonly MeterReading[] }> {
  const happenings = planHappenings(plan);
  const life = new Life(stage, signal);
  const days = [...daysFrom(plan.from, plan.to)];
  const progress = out.progress('living', days.length);
  const runs: Run[] = [];
  const readings: MeterReading[] = [];
  let money = ZERO;
  try {
    for (const [index, date] of days.entries()) {
      const today = await life.day(date, happenings.get(date) ?? []);
      runs.push(...today);
      if (weekday(date) === SUNDAY) readings.push(await readMeters(stage, date));
      money = addMoney(money, takenBy(today));
      progress.update(
        index + 1,
        `${longMonth(monthOfDate(date))} · ${dollars(money)} collected or on its way`,
      );
    }
  } finally {
    progress.finish();
  }
  return { runs, readings };
}

const readMeters = async ({ stores }: Stage, date: CalendarDate): Promise<MeterReading> => ({
  date,
  counts: await stores.pipeline.meters.total(addDays(date, 1 - RETURN_RATE_DAYS), date),
});

function takenBy(runs: readonly Run[]): Cents {
  const { collected, sent } = sumOutcomes(runs.flatMap(({ report }) => report ?? []));
  return addMoney(collected.amount, sent.amount);
}
