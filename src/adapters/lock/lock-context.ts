import type { Clock } from '../../ports/clock.ts';
import type { Timer } from '../../ports/timer.ts';
import { reporter, type Report } from './lock-events.ts';
import {
  lockPolicy,
  randomId,
  systemEpochSeconds,
  type LockClientOptions,
  type LockPolicy,
} from './lock-options.ts';
import { LockRequests } from './lock-requests.ts';

/** What the parts of one lock client share. */
export interface LockContext {
  readonly requests: LockRequests;
  readonly policy: LockPolicy;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly ids: () => string;
  readonly report: Report;
  /** When TTL may delete a row that is written now: long after its lease. */
  readonly deleteOnSeconds: () => number;
}

export function lockContext(options: LockClientOptions): LockContext {
  const policy = lockPolicy(options);
  const epochSeconds = options.epochSeconds ?? systemEpochSeconds;
  return {
    requests: new LockRequests(options.client, options.table, options.timer, policy.requestTimeoutMs),
    policy,
    clock: options.clock,
    timer: options.timer,
    ids: options.ids ?? randomId,
    report: reporter(options.log, options.onEvent),
    deleteOnSeconds: () => epochSeconds() + Math.ceil((policy.leaseMs + policy.keepRowMs) / 1000),
  };
}
