import { ProcessorBusyError, ProcessorDownError } from '../../errors.ts';
import type { ProcessorGate } from '../../ports/processor-gate.ts';
import type { Timer } from '../../ports/timer.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { TokenBucket } from './token-bucket.ts';

/** Longest wait for a slot before an intent is written; beyond it the job is put off and the lock released. */
const PATIENCE_MS = 1_000;
/** Upper bound for an attempt under way; its slot is reserved, so it normally waits less. */
const LONG_PATIENCE_MS = 30_000;

const REDIS_MS = 2_000;

export interface GateOptions {
  readonly breaker: CircuitBreaker;
  /** Null: as fast as they come. */
  readonly bucket: TokenBucket | null;
  readonly timer: Timer;
}

export class SharedProcessorGate implements ProcessorGate {
  private readonly options: GateOptions;

  constructor(options: GateOptions) {
    this.options = options;
  }

  async glance(): Promise<void> {
    const { breaker, bucket } = this.options;
    const downMs = breaker.waitMs();
    if (downMs !== null) throw new ProcessorDownError(Math.ceil(downMs));
    const waitMs = bucket === null ? 0 : await this.soon(bucket.waitMs());
    if (waitMs > PATIENCE_MS) throw new ProcessorBusyError(waitMs - PATIENCE_MS);
  }

  async enter(signal: AbortSignal): Promise<void> {
    await this.wait(PATIENCE_MS, signal);
    // Last: the breaker may admit this charge as the one that looks whether the processor is back, so it has to go.
    const retryAfterMs = this.options.breaker.admit();
    if (retryAfterMs !== null) throw new ProcessorDownError(Math.ceil(retryAfterMs));
  }

  goOn(signal: AbortSignal): Promise<void> {
    return this.wait(LONG_PATIENCE_MS, signal);
  }

  private async wait(patienceMs: number, signal: AbortSignal): Promise<void> {
    const { bucket, timer } = this.options;
    if (bucket === null) return;
    const { granted, waitMs } = await this.soon(bucket.take(patienceMs));
    if (!granted) throw new ProcessorBusyError(waitMs);
    if (waitMs > 0) await timer.sleep(waitMs, signal);
  }

  /** A Redis that is away must not keep a user locked: one that hangs and one that refuses are the same to the caller. */
  private async soon<T>(answer: Promise<T>): Promise<T> {
    const inTime = new AbortController();
    const tooLate = this.options.timer.sleep(REDIS_MS, inTime.signal).then(
      () => Promise.reject(new Error('Redis does not answer')),
      () => new Promise<never>(() => undefined),
    );
    try {
      return await Promise.race([answer, tooLate]);
    } catch (error) {
      throw new ProcessorBusyError(REDIS_MS, { cause: error });
    } finally {
      inTime.abort();
    }
  }
}
