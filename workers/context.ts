import type { Redis } from 'ioredis';
import type { QueueSet } from '../queues/queue-set.ts';
import type { CollectAnyDependencies } from '../src/app/any-product.ts';
import type { ApplyEventDependencies } from '../src/app/gateways/apply-event.ts';
import type { NotifyDependencies } from '../src/app/notify/notify-record.ts';
import type { RemindDependencies } from '../src/app/recurring/remind-recurring.ts';
import type { ReconcileDependencies } from '../src/app/reconcile-runs.ts';
import type { RunDependencies } from '../src/app/run-collections.ts';
import type { JanitorPolicy } from '../src/app/settle-attempt.ts';
import type { Tiers } from '../src/domain/tiers.ts';
import type { Log } from '../src/ports/log.ts';
import type { Metrics } from '../src/ports/metrics.ts';
import type { Inbox } from '../src/ports/inbox.ts';
import type { RequestStore } from '../src/ports/requests.ts';
import type { UserService } from '../src/ports/services.ts';

/** What processors work with. Made once per process. */
export interface WorkerContext {
  readonly collect: CollectAnyDependencies;
  readonly runs: RunDependencies;
  readonly reconcile: ReconcileDependencies;
  readonly notify: NotifyDependencies;
  readonly remind: RemindDependencies;
  readonly gatewayEvents: ApplyEventDependencies;
  readonly requests: RequestStore;
  readonly inbox: Inbox;
  readonly users: UserService;
  readonly tiers: Tiers;
  readonly janitor: JanitorPolicy;
  readonly queues: QueueSet;
  readonly redis: Redis;
  readonly log: Log;
  readonly metrics: Metrics;
}
