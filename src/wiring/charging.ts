import type { z } from 'zod';
import { CircuitBreaker } from '../adapters/processor-gate/circuit-breaker.ts';
import { SharedProcessorGate } from '../adapters/processor-gate/processor-gate.ts';
import type { TokenBucketOptions } from '../adapters/processor-gate/token-bucket.ts';
import { TokenBucket } from '../adapters/processor-gate/token-bucket.ts';
import { WatchedProcessor } from '../adapters/processor-gate/watched-processor.ts';
import { leaseForCharge } from '../app/move-money.ts';
import type * as sections from '../config/sections.ts';
import { ConfigurationError } from '../errors.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { ProcessorGate } from '../ports/processor-gate.ts';
import type { Processor } from '../ports/services.ts';
import type { Timer } from '../ports/timer.ts';

/** So many charges without any answer, one after the other, are no accident. */
const FAILURES_TO_OPEN = 5;
const BREAKER_OPEN_MS = 10_000;

export interface ChargingSettings {
  readonly processor: z.output<typeof sections.processor>;
  /** Undefined: as fast as they come. */
  readonly ratePerS: number | undefined;
}

export interface ChargingTools extends Pick<TokenBucketOptions, 'redis'> {
  readonly keyPrefix: string;
  readonly timer: Timer;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** The processor behind a breaker of this process and the rate that all processes share. */
export function openCharging(
  processor: Processor,
  { processor: { PROCESSOR_TIMEOUT_MS }, ratePerS }: ChargingSettings,
  { redis, keyPrefix, timer, metrics, log }: ChargingTools,
): { readonly processor: Processor; readonly gate: ProcessorGate } {
  const breaker = new CircuitBreaker({
    timer,
    failuresToOpen: FAILURES_TO_OPEN,
    openMs: BREAKER_OPEN_MS,
    probeMs: PROCESSOR_TIMEOUT_MS,
    onChange: (state) => {
      metrics.processorBreaker(state);
      log.warn({ state }, 'the processor breaker');
    },
  });
  const key = `${keyPrefix}:processor-rate`;
  const bucket = ratePerS === undefined ? null : new TokenBucket({ redis, key, ratePerS });
  return {
    processor: new WatchedProcessor(processor, breaker, metrics),
    gate: new SharedProcessorGate({ breaker, bucket, timer }),
  };
}

/** With less, every charge would be put off for ever: better said at the start. */
export function refuseShortLease({
  lock: { LOCK_LEASE_MS, LOCK_HEARTBEAT_MS },
  processor: { PROCESSOR_TIMEOUT_MS },
}: {
  readonly lock: z.output<typeof sections.lock>;
  readonly processor: z.output<typeof sections.processor>;
}): void {
  const least = leaseForCharge(PROCESSOR_TIMEOUT_MS) + 2 * LOCK_HEARTBEAT_MS;
  if (LOCK_LEASE_MS >= least) return;
  throw new ConfigurationError(
    `bad configuration:\n  LOCK_LEASE_MS is ${LOCK_LEASE_MS}; must be at least ${least}: a charge may take PROCESSOR_TIMEOUT_MS and its outcome must be written under the same lease`,
  );
}
