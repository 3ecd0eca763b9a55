import type { Instant } from '../domain/instant.ts';
import { msOf } from '../domain/instant.ts';
import type { RunId } from '../domain/runs.ts';
import { RUN_PROCESSES, runId } from '../domain/runs.ts';
import { newestTick } from '../domain/schedule.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Run } from '../ports/runs.ts';
import type { RunDependencies } from './run-collections.ts';
import { startRun } from './run-collections.ts';

export interface ReconcileDependencies extends Pick<RunDependencies, 'runs' | 'clock'> {
  /** Makes sure that a worker takes the run's next page. Harmless where one does already. */
  readonly goOn: (run: Run) => Promise<void>;
  readonly log: Pick<Log, 'error'>;
}

/**
 * Starts what should have been started by now and sees that what is under way goes on, from what is stored: whatever
 * Redis has forgotten. After an outage only the newest tick of each process is made up for.
 */
export async function reconcileRuns(
  dependencies: ReconcileDependencies & { readonly metrics: Pick<Metrics, 'runUnderWay'> },
): Promise<void> {
  const { runs, clock, metrics, goOn, log } = dependencies;
  const running = await runs.running();
  for (const error of running.unreadable) log.error({ err: error }, 'a run cannot be read');
  // Before any job is seen to: where that fails the runs do not end, and an operator has to hear of it.
  tellAges(metrics, running.runs, clock.now());
  try {
    await startDueRuns(dependencies);
  } finally {
    await seeToEach(running.runs, log, goOn);
  }
}

function tellAges(metrics: Pick<Metrics, 'runUnderWay'>, runs: readonly Run[], now: Instant): void {
  for (const process of RUN_PROCESSES) {
    const ages = runs.filter((run) => run.process === process).map((run) => msOf(now) - msOf(run.startedAt));
    metrics.runUnderWay(process, Math.max(0, ...ages));
  }
}

/** Looks first: almost always all of them were started before, and a refused write costs as much as one that is made. */
export async function startDueRuns(dependencies: ReconcileDependencies): Promise<void> {
  const { runs, clock, goOn, log } = dependencies;
  const now = clock.now();
  const since = await runs.since(now);
  const due = RUN_PROCESSES.map((process) => ({ process, tick: newestTick(process, now) }))
    .filter(({ tick }) => tick > since)
    .map(({ process, tick }) => ({ process, tick, runId: runId(process, tick) }));
  const known = await runs.getAll(due.map((run) => run.runId));
  await seeToEach(due, log, async ({ process, tick }) => {
    const found = known.find((run) => run.process === process);
    const run = found ?? (await startRun(dependencies, process, tick));
    if (run.status === 'running') await goOn(run);
  });
}

/** One that cannot be seen to leaves none of the others waiting for the next round. In the end the first error is thrown. */
async function seeToEach<T extends { readonly runId: RunId }>(
  runs: readonly T[],
  log: Pick<Log, 'error'>,
  seeTo: (run: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const run of runs) {
    await seeTo(run).catch((error: unknown) => {
      log.error({ runId: run.runId, err: error }, 'a run could not be seen to');
      failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
}
