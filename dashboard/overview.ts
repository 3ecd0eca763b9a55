import { QUEUE_OF_RUN } from '../queues/jobs.ts';
import type { QueueName } from '../queues/queue-names.ts';
import { QUEUE_NAMES } from '../queues/queue-names.ts';
import type { JobCount, QueueSet } from '../queues/queue-set.ts';
import { readReturnRates } from '../src/app/return-meters.ts';
import { reportOf } from '../src/app/run-report.ts';
import type { ReturnRate } from '../src/domain/ach/return-rates.ts';
import { addDays, dateOf } from '../src/domain/calendar-date.ts';
import type { Instant } from '../src/domain/instant.ts';
import type { FreezeOrder } from '../src/ports/freezes.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { Run, RunReport } from '../src/ports/runs.ts';
import type { Timer } from '../src/ports/timer.ts';
import type { Stores } from '../src/wiring/stores.ts';
import type { Gauges, MetricsTexts } from './gauges.ts';
import { readGauges } from './gauges.ts';
import { sumOutcomes } from './outcomes.ts';
import type { Answer, Patience } from './patience.ts';
import type { DayOutcomes } from './plots.ts';

export interface OverviewDependencies {
  readonly stores: Pick<Stores, 'runs' | 'freezes' | 'pipeline'>;
  readonly queues: Pick<QueueSet, 'depths'>;
  readonly metricsTexts: MetricsTexts;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly patience: Patience;
}

/** A run, how far it is, and what came of it so far. */
export interface RunProgress {
  readonly run: Run;
  /** Of the records that were handed over. Null: the queues cannot be asked. */
  readonly done: number | null;
  /** Null while too many records are considered to add them up again and again. */
  readonly report: RunReport | null;
}

export interface Overview {
  readonly now: Instant;
  readonly runs: Answer<readonly RunProgress[]>;
  readonly depths: Answer<readonly JobCount[]>;
  readonly rates: Answer<readonly ReturnRate[]>;
  readonly freezes: Answer<readonly FreezeOrder[]>;
  readonly gauges: Gauges;
}

export const PLOT_DAYS = 60;
/** More than the runs of a day, those by hand included. */
const NEWEST_RUNS = 40;
/** Five a day, and some by hand. */
const PLOT_RUNS = 600;
/** What came of so many is added up while the run goes on; of more at its end. */
const ADDED_UP_LIVE = 2_000;
/** Runs of earlier days do not change. */
const PLOT_KEPT_MS = 30_000;

export class OverviewDesk {
  private readonly dependencies: OverviewDependencies;
  private plot: { readonly atMs: number; readonly days: Promise<Answer<readonly DayOutcomes[]>> } | null =
    null;

  constructor(dependencies: OverviewDependencies) {
    this.dependencies = dependencies;
  }

  async look(): Promise<Overview> {
    const { stores, queues, metricsTexts, clock, patience } = this.dependencies;
    const now = clock.now();
    const [newest, depths, rates, freezes, gauges] = await Promise.all([
      patience.ask(() => this.todaysRuns(now)),
      patience.ask(() => queues.depths(QUEUE_NAMES)),
      patience.ask(() => readReturnRates({ pipeline: stores.pipeline, clock })),
      patience.ask(() => stores.freezes.list()),
      readGauges(metricsTexts),
    ]);
    const runs = newest === null ? null : await patience.ask(() => this.progress(newest.value, depths));
    return { now, runs, rates, freezes, gauges, depths };
  }

  /** The runs of today alone. */
  async runs(): Promise<Overview['runs']> {
    const { queues, clock, patience } = this.dependencies;
    const [newest, depths] = await Promise.all([
      patience.ask(() => this.todaysRuns(clock.now())),
      patience.ask(() => queues.depths(QUEUE_NAMES)),
    ]);
    return newest === null ? null : patience.ask(() => this.progress(newest.value, depths));
  }

  async progressOf(run: Run): Promise<RunProgress> {
    const { queues, patience } = this.dependencies;
    const depths =
      run.status === 'running' ? await patience.ask(() => queues.depths([QUEUE_OF_RUN[run.process]])) : null;
    return this.withReport(run, depths);
  }

  /** Outcomes of the last days by the day of the run. */
  days(): Promise<Answer<readonly DayOutcomes[]>> {
    const nowMs = this.dependencies.timer.elapsedMs();
    if (this.plot !== null && nowMs - this.plot.atMs < PLOT_KEPT_MS) return this.plot.days;
    const days = this.dependencies.patience.ask(() => this.readDays());
    this.plot = { atMs: nowMs, days };
    void days.then((answer) => {
      if (answer === null) this.plot = null;
    });
    return days;
  }

  private async readDays(): Promise<DayOutcomes[]> {
    const { stores, clock } = this.dependencies;
    const today = dateOf(clock.now());
    const runs = await stores.runs.list(PLOT_RUNS);
    return Array.from({ length: PLOT_DAYS }, (_, index) => {
      const date = addDays(today, index + 1 - PLOT_DAYS);
      const reports = runs.filter(({ tick }) => dateOf(tick) === date).flatMap(({ report }) => report ?? []);
      return { date, sums: sumOutcomes(reports) };
    });
  }

  private async todaysRuns(now: Instant): Promise<Run[]> {
    const today = dateOf(now);
    const newest = await this.dependencies.stores.runs.list(NEWEST_RUNS);
    return newest.filter(
      ({ tick, startedAt, status }) =>
        status === 'running' || dateOf(tick) === today || dateOf(startedAt) === today,
    );
  }

  private progress(runs: readonly Run[], depths: Answer<readonly JobCount[]>): Promise<RunProgress[]> {
    return Promise.all(runs.map((run) => this.withReport(run, depths)));
  }

  private async withReport(run: Run, depths: Answer<readonly JobCount[]>): Promise<RunProgress> {
    if (run.status !== 'running') return { run, done: run.enqueued, report: run.report };
    const done =
      depths === null
        ? null
        : Math.max(0, run.enqueued - unfinished(depths.value, QUEUE_OF_RUN[run.process]));
    const isSmall = run.due <= ADDED_UP_LIVE;
    return { run, done, report: isSmall ? await reportOf(this.dependencies.stores.runs, run.runId) : null };
  }
}

/** The queue may hold records of another run as well: what is done is told too low then, never too high. */
const unfinished = (depths: readonly JobCount[], queue: QueueName): number =>
  depths
    .filter((depth) => depth.queue === queue && depth.state !== 'failed')
    .reduce((sum, depth) => sum + depth.count, 0);
