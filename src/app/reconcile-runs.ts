import type { Instant } from '../domain/instant.ts';
import { msOf } from '../domain/instant.ts';
import { RUN_PROCESSES, runId } from '../domain/runs.ts';
import { newestTick } from '../domain/schedule.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Run, RunningRuns } from '../ports/runs.ts';
import type { RunDependencies } from './run-collections.ts';
import { startRun } from './run-collections.ts';

export interface ReconcileDependencies extends Pick<RunDependencies, 'runs' | 'clock'> {
  /** Makes sure that a worker takes the run's next page. Harmless where one does already. */
  readonly goOn: (run: Run) => Promise<void>;
}

/**
 * Starts what should have been started by now and sees that what is under way goes on, from what is stored: whatever
 * Redis has forgotten. After an outage only the newest tick of each process is made up for.
 */
export async function reconcileRuns(
  dependencies: ReconcileDependencies & { readonly metrics: Pick<Metrics, 'runUnderWay'> },
): Promise<RunningRuns> {
  const running = await dependencies.runs.running();
  // Before any job is seen to: where that fails the runs do not end, and an operator has to hear of it.
  tellAges(dependencies.metrics, running.runs, dependencies.clock.now());
  await startDueRuns(dependencies);
  for (const run of running.runs) await dependencies.goOn(run);
  return running;
}

function tellAges(metrics: Pick<Metrics, 'runUnderWay'>, runs: readonly Run[], now: Instant): void {
  for (const process of RUN_PROCESSES) {
    const ages = runs.filter((run) => run.process === process).map((run) => msOf(now) - msOf(run.startedAt));
    metrics.runUnderWay(process, Math.max(0, ...ages));
  }
}

/** Looks first: almost always all of them were started before, and a refused write costs as much as one that is made. */
export async function startDueRuns(dependencies: ReconcileDependencies): Promise<void> {
  const { runs, clock, goOn } = dependencies;
  const now = clock.now();
  const since = await runs.since(now);
  const due = RUN_PROCESSES.map((process) => ({ process, tick: newestTick(process, now) })).filter(
    ({ tick }) => tick > since,
  );
  const known = await runs.getAll(due.map(({ process, tick }) => runId(process, tick)));
  for (const { process, tick } of due) {
    const found = known.find((run) => run.process === process);
    const run = found ?? (await startRun(dependencies, process, tick));
    if (run.status === 'running') await goOn(run);
  }
}
