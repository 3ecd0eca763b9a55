import type { Instant } from '../domain/instant.ts';
import { ZERO } from '../domain/money.ts';
import type { CollectionPolicy } from '../domain/policy.ts';
import type { RunId, RunProcess } from '../domain/runs.ts';
import { dueRange, runId } from '../domain/runs.ts';
import type { Verdict } from '../domain/verdict.ts';
import type { MalformedRowError } from '../errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { PipelineStore } from '../ports/pipeline.ts';
import type { Run, RunPosition, RunStore } from '../ports/runs.ts';
import type {
  StoredSubscription,
  SubscriptionPage,
  SubscriptionsRepository,
} from '../ports/subscriptions.ts';
import { reportOf } from './run-report.ts';

export interface RunDependencies {
  readonly runs: RunStore;
  readonly subscriptions: SubscriptionsRepository;
  readonly pipeline: PipelineStore;
  readonly policy: CollectionPolicy;
  readonly clock: Clock;
  /** Hands records to the workers. Handing over the same record of the same run twice must be harmless. */
  readonly enqueue: (run: Run, records: readonly StoredSubscription[]) => Promise<void>;
}

/** What the chain of page jobs does next. */
export type NextStep =
  | { readonly then: 'page'; readonly at: RunPosition }
  /** The range was read to its end and records were handed over: read it again when they are done. */
  | { readonly then: 'next-pass'; readonly at: RunPosition }
  | { readonly then: 'over' };

/** Stores the run, or finds it: two starts of one tick are one run. */
export async function startRun(
  { runs, clock }: RunDependencies,
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
    enqueuedInPass: 0,
    enqueued: 0,
    startedAt: now,
    progressAt: now,
    finishedAt: null,
    report: null,
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
 * The first pass hands over everything. Later ones look for what the first has missed: index entries that came late, and
 * jobs that a flushed Redis forgot. A pass that finds nothing new ends the run.
 */
export async function takePage(dependencies: RunDependencies, id: RunId, at: RunPosition): Promise<NextStep> {
  const { runs } = dependencies;
  const run = await runs.get(id);
  if (run?.status !== 'running') return { then: 'over' };
  if (run.pass !== at.pass || run.page !== at.page) return { then: 'page', at: run };

  const page = await readPage(dependencies, run);
  await reportMalformed(dependencies, run, page.malformed);
  const records = run.pass === 1 ? page.subscriptions : await notConsidered(runs, run, page.subscriptions);
  if (records.length > 0) await dependencies.enqueue(run, records);
  return advance(dependencies, run, page, records.length);
}

function readPage(
  { subscriptions, policy }: RunDependencies,
  { process, tick, cursor }: Run,
): Promise<SubscriptionPage> {
  const range = dueRange(process, tick, policy);
  if ('after' in range) return subscriptions.getRetrySubscriptionPage(range.after, cursor);
  if ('upTo' in range) return subscriptions.getStaleSubscriptionPage(range.upTo, cursor);
  return range.status === 'SCHEDULED'
    ? subscriptions.getScheduledSubscriptionPage(range.before, cursor)
    : subscriptions.getPausedSubscriptionPage(range.before, cursor);
}

async function notConsidered(
  runs: RunStore,
  run: Run,
  records: readonly StoredSubscription[],
): Promise<StoredSubscription[]> {
  const ids = records.map(({ subscriptionId }) => subscriptionId);
  const considered = await runs.considered(run.runId, ids);
  return records.filter(({ subscriptionId }) => !considered.has(subscriptionId));
}

async function advance(
  dependencies: RunDependencies,
  run: Run,
  page: SubscriptionPage,
  handedOver: number,
): Promise<NextStep> {
  const { runs, clock } = dependencies;
  const enqueuedInPass = run.enqueuedInPass + handedOver;
  const counted = { ...run, enqueuedInPass, enqueued: run.enqueued + handedOver, progressAt: clock.now() };
  if (page.nextKey !== null) {
    const next = { ...counted, page: run.page + 1, cursor: page.nextKey };
    await runs.advance(run, next);
    return { then: 'page', at: next };
  }
  if (enqueuedInPass > 0) {
    const next = { ...counted, pass: run.pass + 1, page: 0, cursor: null, enqueuedInPass: 0 };
    await runs.advance(run, next);
    return { then: 'next-pass', at: next };
  }
  const report = await reportOf(runs, run.runId);
  await runs.advance(run, { ...counted, status: 'complete', finishedAt: clock.now(), report });
  return { then: 'over' };
}

/** Such a row cannot be collected, and must not be passed over in silence either. */
async function reportMalformed(
  { pipeline, clock }: RunDependencies,
  run: Run,
  rows: readonly MalformedRowError[],
): Promise<void> {
  for (const { row, message } of rows) {
    const verdict: Verdict = {
      ...row,
      triggerId: run.runId,
      verdict: 'malformed',
      reason: message,
      amount: ZERO,
      at: clock.now(),
      attemptId: null,
      until: null,
    };
    await pipeline.saveVerdict(verdict);
  }
}
