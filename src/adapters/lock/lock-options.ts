import { randomBytes } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ConfigurationError } from '../../errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Timer } from '../../ports/timer.ts';
import type { Report } from './lock-events.ts';

export interface LockClientOptions {
  readonly client: DynamoDBClient;
  /** Has the key `PartitionKey` (S) and, for tidiness, TTL on `deleteOn`. */
  readonly table: string;
  /** For the row's `data`: when the lock was acquired, in billing time. */
  readonly clock: Clock;
  /** For leases and heartbeats: real elapsed time. */
  readonly timer: Timer;
  /** How long the lock outlives its last heartbeat. Default 60 000. */
  readonly leaseMs?: number;
  /** Pause between two heartbeats. At most half the lease. Default 1 000. */
  readonly heartbeatMs?: number;
  /** How much longer than its lease a holder must have been silent before it is taken for dead. Default 5 000. */
  readonly takeoverGraceMs?: number;
  /** Time limit of one request, retries of the SDK included. Default a quarter of the lease, at most 5 000. */
  readonly requestTimeoutMs?: number;
  /** How long after its last lease an abandoned row may be deleted by TTL. Default one hour. */
  readonly keepRowMs?: number;
  /** The wall clock that TTL goes by: AWS's, so never a simulated one. Default the system's. */
  readonly epochSeconds?: () => number;
  /** Owner names and versions. Must never repeat. Default 128 random bits in hex. */
  readonly ids?: () => string;
  readonly log?: Log;
  readonly onEvent?: Report;
}

/** The options that decide, with their defaults filled in. */
export interface LockPolicy {
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly takeoverGraceMs: number;
  readonly requestTimeoutMs: number;
  readonly keepRowMs: number;
}

const LONGEST_REQUEST_MS = 5_000;

export function lockPolicy(options: LockClientOptions): LockPolicy {
  const leaseMs = options.leaseMs ?? 60_000;
  const policy: LockPolicy = {
    leaseMs,
    heartbeatMs: options.heartbeatMs ?? 1_000,
    takeoverGraceMs: options.takeoverGraceMs ?? 5_000,
    requestTimeoutMs: options.requestTimeoutMs ?? Math.min(LONGEST_REQUEST_MS, Math.ceil(leaseMs / 4)),
    keepRowMs: options.keepRowMs ?? 3_600_000,
  };
  const problems = problemsOf(policy);
  if (problems.length > 0) throw new ConfigurationError(`lock client: ${problems.join('; ')}`);
  return policy;
}

export const systemEpochSeconds = (): number => Math.floor(Date.now() / 1000);

export const randomId = (): string => randomBytes(16).toString('hex');

function problemsOf(policy: LockPolicy): string[] {
  const problems = Object.entries(policy)
    .filter(([name, ms]) => !Number.isSafeInteger(ms) || ms < (name === 'takeoverGraceMs' ? 0 : 1))
    .map(([name, ms]) => `${name} must be a positive whole number of milliseconds, not ${ms}`);
  if (policy.leaseMs < 2 * policy.heartbeatMs) {
    problems.push(
      `leaseMs (${policy.leaseMs}) must be at least twice heartbeatMs (${policy.heartbeatMs}), ` +
        'or one late heartbeat loses the lock',
    );
  }
  return problems;
}
