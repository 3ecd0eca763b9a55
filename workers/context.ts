import type { Redis } from 'ioredis';
import type { z } from 'zod';
import type { QueueSet } from '../queues/queue-set.ts';
import { GATEWAYS } from '../src/adapters/gateways/all.ts';
import type { CollectAnyDependencies } from '../src/app/any-product.ts';
import type { ApplyEventDependencies } from '../src/app/gateways/apply-event.ts';
import type { NotifyDependencies } from '../src/app/notify/notify-record.ts';
import type { ReconcileDependencies } from '../src/app/reconcile-runs.ts';
import type { RemindDependencies } from '../src/app/recurring/remind-recurring.ts';
import type { RunDependencies } from '../src/app/run-collections.ts';
import type { JanitorPolicy } from '../src/app/settle-attempt.ts';
import type * as sections from '../src/config/sections.ts';
import type { Tiers } from '../src/domain/tiers.ts';
import type { Clock } from '../src/ports/clock.ts';
import type { Inbox } from '../src/ports/inbox.ts';
import type { Log } from '../src/ports/log.ts';
import type { Metrics } from '../src/ports/metrics.ts';
import type { ProcessorGate } from '../src/ports/processor-gate.ts';
import type { RequestStore } from '../src/ports/requests.ts';
import type { Processor, UserService } from '../src/ports/services.ts';
import type { OnStep } from '../src/ports/steps.ts';
import type { Timer } from '../src/ports/timer.ts';
import { floatRules } from '../src/wiring/float-rules.ts';
import type { Services } from '../src/wiring/services.ts';
import type { Stores } from '../src/wiring/stores.ts';

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

export interface WorkerSettings {
  readonly processor: z.output<typeof sections.processor>;
  readonly policy: z.output<typeof sections.policy>;
  readonly floats: z.output<typeof sections.floats>;
  readonly recurring: z.output<typeof sections.recurring>;
  readonly ownership: z.output<typeof sections.ownership>;
  readonly tiers: z.output<typeof sections.tiers>;
  readonly janitor: z.output<typeof sections.janitor>;
}

/** The parts of one process. A simulation hands in its own. */
export interface WorkerParts {
  readonly config: WorkerSettings;
  readonly stores: Stores;
  readonly services: Services;
  readonly charging: { readonly processor: Processor; readonly gate: ProcessorGate };
  readonly clock: Clock;
  readonly timer: Timer;
  readonly queues: QueueSet;
  readonly redis: Redis;
  readonly forecastOf: RunDependencies['forecastOf'];
  readonly onStep: OnStep;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Puts together what processors work with. */
export function workerContext(parts: WorkerParts): WorkerContext {
  const { config, stores, services, charging, clock, timer, queues, redis, log, metrics } = parts;
  const collect = {
    ...stores,
    ...services,
    ...charging,
    ...floatRules(config.floats),
    recurringPolicy: config.recurring,
    policy: config.policy,
    clock,
    timer,
    processorTimeoutMs: config.processor.PROCESSOR_TIMEOUT_MS,
    onStep: parts.onStep,
    log,
    metrics,
  };
  return {
    collect,
    runs: {
      ...stores,
      policy: config.policy,
      clock,
      owned: config.ownership.OWNED_USERS,
      enqueue: (run, records) => queues.addRecords(run, records),
      forecastOf: parts.forecastOf,
    },
    reconcile: { runs: stores.runs, clock, log, goOn: (run) => queues.ensurePage(run) },
    notify: { ...stores, ...services, clock },
    remind: { ...collect, notifications: services.notifications },
    gatewayEvents: { ...stores, gateways: GATEWAYS, clock, log, metrics },
    requests: stores.requests,
    inbox: stores.inbox,
    users: services.users,
    tiers: config.tiers,
    janitor: { abandonAfterMs: config.janitor.ATTEMPT_ABANDON_AFTER },
    queues,
    redis,
    log,
    metrics,
  };
}
