import type { QueueSet } from '../queues/queue-set.ts';
import { upsertSchedules } from '../queues/schedules.ts';
import { sweepGateways } from '../src/app/gateways/sweep-gateways.ts';
import { reconcileRuns } from '../src/app/reconcile-runs.ts';
import { sweepInbox } from '../src/app/sweep-inbox.ts';
import { sweepRequests } from '../src/app/sweep-requests.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { Log } from '../src/ports/log.ts';
import type { Metrics } from '../src/ports/metrics.ts';
import type { Stores } from '../src/wiring/stores.ts';

export interface ChoreContext extends Pick<
  Stores,
  'runs' | 'pipeline' | 'requests' | 'inbox' | 'quarantine' | 'gatewayEvents' | 'gatewaySubscriptions'
> {
  readonly clock: Clock;
  readonly queues: QueueSet;
  /** Collections in flight over all workers, per queue. */
  readonly concurrency: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * What a scheduler does every minute: keeps the schedules in Redis and, from what DynamoDB holds, makes up for whatever
 * Redis lost. Each chore is harmless twice, and one that fails does not keep the others from being done.
 */
export function roundOfChores(context: ChoreContext): () => Promise<void> {
  const { runs, pipeline, requests, clock, queues, concurrency, log, metrics } = context;
  const chores: Readonly<Record<string, () => Promise<unknown>>> = {
    schedules: () => upsertSchedules(queues),
    concurrency: () => queues.limitCollections(concurrency),
    runs: () => reconcileRuns({ runs, clock, metrics, log, goOn: (run) => queues.ensurePage(run) }),
    events: () => sweepInbox({ ...context, ensure: (event) => queues.ensureEvent(event) }),
    requests: () => sweepRequests({ requests, clock, log, enqueue: (request) => queues.addRequest(request) }),
    refunds: async () => metrics.refundsRefused(await pipeline.refusedRefunds.size()),
    gateways: () =>
      sweepGateways({ ...context, enqueueGatewayEvent: (event) => queues.ensureGatewayEvent(event) }),
  };
  return async () => {
    for (const [chore, work] of Object.entries(chores)) {
      await work().catch((error: unknown) =>
        log.error({ chore, err: error }, 'a chore of the scheduler failed'),
      );
    }
  };
}
