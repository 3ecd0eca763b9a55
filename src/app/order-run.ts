import type { Instant } from '../domain/instant.ts';
import { wholeSecond } from '../domain/instant.ts';
import type { RunProcess } from '../domain/runs.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Run, RunStore } from '../ports/runs.ts';
import { startRun } from './run-collections.ts';
import { tellWorkers } from './tell-workers.ts';

export interface OrderDependencies {
  readonly runs: RunStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Tells the workers. Only a hint: the reconciler takes up runs that no worker was told of. */
  readonly wake: (run: Run) => Promise<unknown>;
}

export type OrderedRun =
  | { readonly run: Run; readonly handedOver: boolean }
  /** A run charges what is due; nothing can be due later than now. */
  | { readonly ahead: { readonly tick: Instant; readonly now: Instant } };

/** Starts a run because an operator wants it now, or finds the one of that moment. */
export async function orderRun(
  dependencies: OrderDependencies,
  process: RunProcess,
  asOf: Instant | null,
): Promise<OrderedRun> {
  const now = dependencies.clock.now();
  const tick = wholeSecond(asOf ?? now);
  if (tick > now) return { ahead: { tick, now } };
  const run = await startRun(dependencies, process, tick);
  return { run, handedOver: run.status !== 'running' || (await wakeUp(dependencies, run)) };
}

function wakeUp({ wake, log }: OrderDependencies, run: Run): Promise<boolean> {
  const untold = 'a run was stored and nobody told; the reconciler will';
  return tellWorkers(log, () => wake(run), { runId: run.runId }, untold);
}
