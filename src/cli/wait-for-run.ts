import type { JobCount, QueueSet } from '../../queues/queue-set.ts';
import { PAGES_OF_RUN, QUEUE_OF_RUN } from '../../queues/jobs.ts';
import type { RunId } from '../domain/runs.ts';
import type { Run, RunStore } from '../ports/runs.ts';
import type { Timer } from '../ports/timer.ts';
import { soon } from './reach-redis.ts';
import type { Terminal } from './terminal.ts';

export interface WaitDependencies {
  readonly runs: Pick<RunStore, 'get'>;
  /** Null when Redis cannot be reached: then it is not known how many are done. */
  readonly queues: Pick<QueueSet, 'depths'> | null;
  readonly timer: Timer;
}

const BETWEEN_LOOKS_MS = 500;
/** A worker takes what waits at once, and needs less than this for a page or a record. */
const NOBODY_MS = 15_000;

/** Shows how far the run is until it is over. Null when `signal` came first: the run does not mind. */
export async function waitForRun(
  { runs, queues, timer }: WaitDependencies,
  runId: RunId,
  out: Terminal,
  signal: AbortSignal,
): Promise<Run | null> {
  const counter = out.counter('considering records');
  const silence = new Silence(timer);
  let done = 0;
  try {
    while (!signal.aborted) {
      const run = await runs.get(runId);
      if (run === null) throw new Error(`run ${runId} is gone; is PIPELINE_TABLE the right table?`);
      if (run.status === 'complete') counter.update(run.enqueued, run.enqueued);
      if (run.status !== 'running') return run;
      const jobs = await jobsOf(queues, run);
      if (jobs !== null) done = Math.max(0, run.enqueued - jobs.unfinished);
      counter.update(done, run.enqueued);
      if (silence.isLong(`${run.pass}.${run.page}.${done}`, jobs?.active ?? 0))
        counter.note(jobs !== null && jobs.delayed > 0 ? PUT_OFF : NOBODY);
      await timer.sleep(BETWEEN_LOOKS_MS, signal).catch(() => undefined);
    }
    return null;
  } finally {
    counter.finish();
  }
}

const NOBODY = 'nobody takes the jobs: is anybody running npm run start:workers? (still waiting)';
const PUT_OFF =
  'the rest is put off: somebody else holds the lock of its members, or a service is down (still waiting)';

interface Jobs {
  readonly unfinished: number;
  readonly delayed: number;
  readonly active: number;
}

/** The queue may hold records of another run as well: what is done is told too low then, never too high. */
async function jobsOf(queues: WaitDependencies['queues'], { process }: Run): Promise<Jobs | null> {
  const counts =
    queues === null ? null : await soon(queues.depths([PAGES_OF_RUN[process], QUEUE_OF_RUN[process]]));
  if (counts === null) return null;
  const sum = (which: (count: JobCount) => boolean): number =>
    counts.filter(which).reduce((total, { count }) => total + count, 0);
  return {
    unfinished: sum(({ queue, state }) => queue !== PAGES_OF_RUN[process] && state !== 'failed'),
    delayed: sum(({ queue, state }) => queue !== PAGES_OF_RUN[process] && state === 'delayed'),
    active: sum(({ state }) => state === 'active'),
  };
}

/** Notices, once, that nothing has moved for long and no worker is at it. */
class Silence {
  private readonly timer: Timer;
  private last: { readonly where: string; readonly sinceMs: number };
  private told = false;

  constructor(timer: Timer) {
    this.timer = timer;
    this.last = { where: '', sinceMs: timer.elapsedMs() };
  }

  isLong(where: string, active: number): boolean {
    const nowMs = this.timer.elapsedMs();
    if (where !== this.last.where || active > 0) this.last = { where, sinceMs: nowMs };
    if (this.told || nowMs - this.last.sinceMs < NOBODY_MS) return false;
    this.told = true;
    return true;
  }
}
