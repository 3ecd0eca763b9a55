import { z } from 'zod';
import type { PageJob } from '../queues/jobs.ts';
import { QUEUE_OF_RUN, pageJob } from '../queues/jobs.ts';
import { startDueRuns } from '../src/app/reconcile-runs.ts';
import { takePage } from '../src/app/run-collections.ts';
import { msOf } from '../src/domain/instant.ts';
import { processOf } from '../src/domain/runs.ts';
import type { WorkerContext } from './context.ts';
import type { Processor, TakenJob } from './job.ts';
import { dataOf } from './job.ts';
import { delay } from './put-off.ts';

/** How long the report waits for an index that lags behind, before it is written without the last verdicts. */
const INDEX_WAITS = 30;
const INDEX_WAIT_MS = 1_000;

/** Most runs are small and soon over; a long one is looked at more and more seldom. */
const SHORTEST_WAIT_MS = 25;
const LONGEST_WAIT_MS = 5_000;

const jobInFlight = pageJob.extend({ indexWaits: z.int().optional() });

/** Ticks start runs; a page hands its records over and sees to the next. */
export function pageProcessor(context: WorkerContext): Processor {
  return async (taken) => {
    if (taken.job.name === 'tick') return startDueRuns(context.reconcile);
    return page(context, taken);
  };
}

async function page(context: WorkerContext, taken: TakenJob): Promise<unknown> {
  const { queues, log } = context;
  const { indexWaits = 0, ...data } = dataOf(jobInFlight, taken.job);
  if (await isEarly(context, data)) await delay(taken, waitMs(taken.job.attemptsStarted));

  const step = await takePage(context.runs, data.runId, data, { patient: indexWaits < INDEX_WAITS });
  switch (step.then) {
    case 'page':
    case 'next-pass':
      await queues.addPage({ runId: data.runId, pass: step.at.pass, page: step.at.page });
      return { then: step.then, pass: step.at.pass, page: step.at.page };
    case 'wait-for-index':
      await taken.job.updateData({ ...data, indexWaits: indexWaits + 1 });
      return delay(taken, INDEX_WAIT_MS);
    case 'stopped':
      log.error(
        { alarm: 'run-stopped', runId: data.runId, doubtful: step.doubtful, due: step.due },
        'the run stopped itself: too many of its users are missing or inactive; is the user service right?',
      );
      context.metrics.runStopped(processOf(data.runId));
      return step;
    case 'over':
      await tellEnd(context, data);
      return step;
    case 'was-over':
      return step;
  }
}

/** A later pass looks for what the one before left over, so that one must be done first. */
async function isEarly({ queues }: WorkerContext, data: PageJob): Promise<boolean> {
  if (data.pass === 1 || data.page > 0) return false;
  return !(await queues.isDrained(QUEUE_OF_RUN[processOf(data.runId)]));
}

const waitMs = (starts: number): number => Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 1.3 ** starts);

async function tellEnd({ runs: { runs }, log, metrics }: WorkerContext, { runId }: PageJob): Promise<void> {
  const run = await runs.get(runId);
  if (run === null || run.finishedAt === null) return;
  const durationMs = msOf(run.finishedAt) - msOf(run.startedAt);
  metrics.runFinished(run.process, durationMs / 1_000);
  const { status, due, pass } = run;
  log.info({ runId, status, due, passes: pass, durationMs, byVerdict: countsOf(run.report) }, 'run is over');
}

const countsOf = (report: { byVerdict: object } | null): Record<string, number> =>
  Object.fromEntries(
    Object.entries((report?.byVerdict ?? {}) as Record<string, { count: number }>).map(
      ([name, { count }]) => [name, count],
    ),
  );
