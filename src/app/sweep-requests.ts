import type { CollectionRequest } from '../ports/requests.ts';
import type { RequestDependencies } from './accept-requests.ts';
import { handOver } from './accept-requests.ts';
import { pagesOf } from './pages-of.ts';

export interface SweepCounts {
  readonly handedOver: number;
  /** Not taken by the queue, or not readable. */
  readonly failed: number;
}

/**
 * Hands over anew what was accepted a while ago and has not been answered: whatever became of its job. Each time is a
 * generation of its own, taken by one sweeper only, and the next one waits longer.
 */
export async function sweepRequests(dependencies: RequestDependencies): Promise<SweepCounts> {
  const { requests, clock, log } = dependencies;
  const asOf = clock.now();
  let handedOver = 0;
  let failed = 0;
  for await (const page of pagesOf((key) => requests.due(asOf, key))) {
    for (const error of page.unreadable) log.error({ err: error }, 'an accepted request cannot be read');
    failed += page.unreadable.length;
    for (const request of page.requests) {
      const outcome = await sweep(dependencies, request);
      if (outcome === 'handed-over') handedOver += 1;
      if (outcome === 'failed') failed += 1;
    }
  }
  return { handedOver, failed };
}

async function sweep(
  dependencies: RequestDependencies,
  request: CollectionRequest,
): Promise<'handed-over' | 'failed' | 'not-ours'> {
  const next = await dependencies.requests.handOverAgain(request, dependencies.clock.now());
  if (next === null) return 'not-ours';
  return (await handOver(dependencies, next)) ? 'handed-over' : 'failed';
}
