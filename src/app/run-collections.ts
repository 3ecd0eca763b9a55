import { dateOf } from '../domain/calendar-date.ts';
import { areTooManyDoubtful } from '../domain/doubt.ts';
import type { Instant } from '../domain/instant.ts';
import type { OwnedUsers } from '../domain/ownership.ts';
import { owns } from '../domain/ownership.ts';
import { ZERO } from '../domain/money.ts';
import { isRecurringProcess } from '../domain/recurring/runs.ts';
import type { RunId, RunProcess } from '../domain/runs.ts';
import { runId } from '../domain/runs.ts';
import type { MalformedRowError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { PipelineStore } from '../ports/pipeline.ts';
import type { Forecast, RecordRef, Run, RunPosition, RunReport, RunStore } from '../ports/runs.ts';
import type { PageKey } from '../ports/subscriptions.ts';
import type { DuePage, DueSources } from './due-page.ts';
import { readDuePage } from './due-page.ts';
import { malformedReason } from './malformed-reason.ts';
import type { DueMarks } from './recurring/due-days.ts';
import { LIST_OF_RUN, passEmptyDays } from './recurring/due-days.ts';
import { reportOf } from './run-report.ts';
import { verdictOf } from './verdict-of.ts';

export interface RunDependencies extends DueSources {
  readonly runs: RunStore;
  readonly recurring: DueMarks;
  readonly pipeline: Pick<PipelineStore, 'saveVerdict' | 'readBackground'>;
  readonly clock: Clock;
  readonly owned: OwnedUsers;
  /** Hands records to the workers. Handing over the same record of the same pass twice must be harmless. */
  readonly enqueue: (run: Run, records: readonly RecordRef[]) => Promise<void>;
  /** What was foretold of such a run, if a forecast was asked for. */
  readonly forecastOf: (process: RunProcess, tick: Instant) => Promise<Forecast | null>;
}

/** What the chain of page jobs does next. */
export type NextStep =
  | { readonly then: 'page'; readonly at: RunPosition }
  /** The range was read to its end and records were handed over: read it again when they are done. */
  | { readonly then: 'next-pass'; readonly at: RunPosition }
  /** The index has not caught up with the last verdicts: the report would miss them. The same page again, a little later. */
  | { readonly then: 'wait-for-index' }
  /** Too many users were said to be gone. An operator has to look. */
  | { readonly then: 'stopped'; readonly doubtful: number; readonly due: number }
  | { readonly then: 'over' }
  /** It was over before: there is nothing to be done, or to be told. */
  | { readonly then: 'was-over' };

/** Stores the run, or finds it: two starts of one tick are one run. */
export async function startRun(
  { runs, clock }: Pick<RunDependencies, 'runs' | 'clock'>,
  process: RunProcess,
  tick: Instant,
): Promise<Run> {
  const now = clock.now();
  const run: Run = {
    runId: runId(process, tick),
    process,
    tick,
    status: 'running',
    pass: 1,
    page: 0,
    cursor: null,
    due: 0,
    enqueuedInPass: 0,
    enqueued: 0,
    notOwned: 0,
    startedAt: now,
    progressAt: now,
    finishedAt: null,
    report: null,
    forecast: null,
  };
  if (await runs.start(run)) return run;
  const found = await runs.get(run.runId);
  if (found === null) throw new Error(`run ${run.runId} was there and is gone`);
  return found;
}

/**
 * One page: reads it, hands its records over, and then moves the run's mark. In that order: a crash between the two
 * reads the page again, which is harmless; the other way round it would be lost.
 *
 * The first pass hands over everything. Later ones look for what the first has missed: index entries that came late,
 * jobs that a flushed Redis forgot, and members who were held back because they are said to be gone. A pass that finds
 * nothing new ends the run.
 */
export async function takePage(
  dependencies: RunDependencies,
  id: RunId,
  at: RunPosition,
  { patient = true }: { readonly patient?: boolean } = {},
): Promise<NextStep> {
  const { runs, owned } = dependencies;
  const run = await runs.get(id);
  if (run?.status !== 'running') return { then: 'was-over' };
  if (run.pass !== at.pass || run.page !== at.page) return { then: 'page', at: run };
  if (run.pass > 1 && run.page === 0) {
    const doubtful = await runs.doubtful(id);
    if (areTooManyDoubtful(doubtful, run.due)) return stop(dependencies, run, doubtful);
  }

  if (run.pass === 1 && run.page === 0) await beforeTheFirstPage(dependencies, run);
  const page = await readDuePage(dependencies, run);
  await reportMalformed(dependencies, run, page.malformed);
  const ours = page.records.filter(({ userId }) => owns(owned, userId));
  const records = run.pass === 1 ? ours : await notConsidered(runs, run, ours);
  if (records.length > 0) await dependencies.enqueue(run, records);
  const counted = count(run, { handedOver: records.length, notOwned: page.records.length - ours.length });
  if (isEmptyRange(run, page)) {
    await finish(dependencies, { ...counted, status: 'complete', report: NOTHING_DUE });
    return { then: 'over' };
  }
  return advance(dependencies, run, counted, page.nextKey, patient);
}

/** No record was considered, so there is no verdict to be looked for. */
const NOTHING_DUE: RunReport = { records: 0, amount: ZERO, byVerdict: {}, byPlan: {} };

const isEmptyRange = (run: RunPosition, { records, malformed, nextKey }: DuePage): boolean =>
  run.pass === 1 && run.page === 0 && nextKey === null && records.length === 0 && malformed.length === 0;

/** Never beyond today: a run of a later day may be asked for, and what comes before it is still to be written. */
async function beforeTheFirstPage(
  { recurring, clock }: RunDependencies,
  { process, tick }: Run,
): Promise<void> {
  if (!isRecurringProcess(process)) return;
  const now = clock.now();
  await passEmptyDays(recurring, LIST_OF_RUN[process], dateOf(tick < now ? tick : now));
}

async function notConsidered(
  runs: RunStore,
  run: Run,
  records: readonly RecordRef[],
): Promise<readonly RecordRef[]> {
  const ids = records.map(({ subscriptionId }) => subscriptionId);
  const considered = await runs.considered(run.runId, ids);
  return records.filter(({ subscriptionId }) => !considered.has(subscriptionId));
}

function count(run: Run, { handedOver, notOwned }: { handedOver: number; notOwned: number }): Run {
  const isFirst = run.pass === 1;
  return {
    ...run,
    due: run.due + (isFirst ? handedOver : 0),
    notOwned: run.notOwned + (isFirst ? notOwned : 0),
    enqueuedInPass: run.enqueuedInPass + handedOver,
    enqueued: run.enqueued + handedOver,
  };
}

async function advance(
  dependencies: RunDependencies,
  run: Run,
  counted: Run,
  nextKey: PageKey | null,
  patient: boolean,
): Promise<NextStep> {
  const { runs, clock } = dependencies;
  const progressAt = clock.now();
  if (nextKey !== null) {
    return moveOn(runs, run, { ...counted, progressAt, page: run.page + 1, cursor: nextKey }, 'page');
  }
  if (counted.enqueuedInPass > 0) {
    const next = { ...counted, progressAt, pass: run.pass + 1, page: 0, cursor: null, enqueuedInPass: 0 };
    return moveOn(runs, run, next, 'next-pass');
  }
  const report = await reportOf(runs, run.runId);
  if (report.records < run.due && patient) return { then: 'wait-for-index' };
  await finish(dependencies, { ...counted, status: 'complete', report });
  return { then: 'over' };
}

/** Another worker may have taken the same page at once, and have found another end of it: the stored mark counts. */
async function moveOn(runs: RunStore, from: Run, to: Run, then: 'page' | 'next-pass'): Promise<NextStep> {
  if (await runs.advance(from, to)) return { then, at: to };
  const current = await runs.get(from.runId);
  return current?.status === 'running' ? { then: 'page', at: current } : { then: 'was-over' };
}

async function stop(dependencies: RunDependencies, run: Run, doubtful: number): Promise<NextStep> {
  const report = await reportOf(dependencies.runs, run.runId);
  await finish(dependencies, { ...run, status: 'stopped', report });
  return { then: 'stopped', doubtful, due: run.due };
}

async function finish({ runs, clock, forecastOf }: RunDependencies, run: Run): Promise<void> {
  const now = clock.now();
  const forecast = await forecastOf(run.process, run.tick);
  await runs.advance(run, { ...run, forecast, progressAt: now, finishedAt: now });
}

/** Such a row cannot be collected, and must not be passed over in silence either. */
async function reportMalformed(
  { pipeline, clock }: RunDependencies,
  run: Run,
  rows: readonly MalformedRowError[],
): Promise<void> {
  for (const error of rows) {
    const about = { ...error.row, triggerId: run.runId, at: clock.now() };
    const detail = { detail: error.message };
    await pipeline.saveVerdict(verdictOf(about, 'malformed', malformedReason(error), detail));
  }
}
