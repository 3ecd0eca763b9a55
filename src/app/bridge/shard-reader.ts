import { IteratorExpiredError, LockLostError, StreamThrottledError } from '../../errors.ts';
import type { Checkpoints } from '../../ports/checkpoints.ts';
import type { Lock } from '../../ports/lock.ts';
import type { Log } from '../../ports/log.ts';
import type {
  Batch,
  Beginning,
  ReadHandle,
  Shard,
  StreamRecord,
  StreamSource,
} from '../../ports/stream-source.ts';
import type { Timer } from '../../ports/timer.ts';
import { startOf } from './plan-shards.ts';

/** Takes records over: when it returns they are stored. May be given the same ones again. */
export type Deliver<Data> = (shardId: string, records: readonly StreamRecord<Data>[]) => Promise<void>;

export interface ReadingPace {
  /** Between two reads of a shard. Kinesis allows five a second, over all its consumers together. */
  readonly readEveryMs: number;
  /** The same once nothing is left to read: the stream's other consumers need their share of the five. */
  readonly idleMs: number;
}

export interface ReaderTools<Data> {
  readonly stream: string;
  readonly source: StreamSource<Data>;
  readonly checkpoints: Checkpoints;
  readonly beginning: Beginning;
  readonly deliver: Deliver<Data>;
  readonly pace: ReadingPace;
  readonly timer: Timer;
  /** Between 0 and 1, for the jitter. */
  readonly random: () => number;
  readonly log: Log;
  readonly onRead: (shardId: string, lagMs: number) => void;
}

export type ReadEnd = 'finished' | 'stopped' | 'lost';

const BACKOFF_MS = 200;
const BACKOFF_MAX_MS = 10_000;
const MOST_DOUBLINGS = 10;

/**
 * Reads one shard for as long as its lease holds.
 *
 *   checkpoint ── iterator ── read ── deliver ── checkpoint ── read …      until the shard ends, `stop`, or the lease is lost
 *                    ▲          │ throttled: the same place, later
 *                    └──────────┴ anything else: later, after the checkpoint, wherever that stands
 *
 * A stop takes effect between two batches only: what was begun is delivered and checkpointed.
 */
export class ShardReader<Data> {
  private readonly tools: ReaderTools<Data>;
  private readonly shard: Shard;
  private readonly lock: Lock;
  private readonly stop: AbortSignal;
  private readonly log: Log;
  private nextReadMs = 0;
  private failures = 0;

  constructor(tools: ReaderTools<Data>, lease: { shard: Shard; lock: Lock; stop: AbortSignal }) {
    this.tools = tools;
    this.shard = lease.shard;
    this.lock = lease.lock;
    this.stop = AbortSignal.any([lease.stop, lease.lock.signal]);
    this.log = tools.log.child({ stream: tools.stream, shardId: lease.shard.shardId });
  }

  async run(): Promise<ReadEnd> {
    while (!this.mustStop()) {
      try {
        if (await this.readOn()) return 'finished';
      } catch (error) {
        if (error instanceof LockLostError) return 'lost';
        if (error instanceof IteratorExpiredError) this.log.info({}, 'iterator expired, taking a new one');
        else await this.afterFailure(error as Error);
      }
    }
    return this.lock.signal.aborted ? 'lost' : 'stopped';
  }

  /** From the checkpoint on. True when the shard was read to its end. */
  private async readOn(): Promise<boolean> {
    const { stream, source, checkpoints, beginning } = this.tools;
    const { shardId } = this.shard;
    // Read under the lease: the bridge that had it before may have got further than was known when it was taken.
    const known = await checkpoints.list(stream);
    if (known.get(shardId)?.finished === true) return true;
    await this.inTurn();
    let handle = await source.read(shardId, startOf(this.shard, known, beginning));
    while (!this.mustStop()) {
      const batch = await this.readBatch(handle);
      if (batch === null) break;
      await this.handOver(batch);
      this.tools.onRead(shardId, batch.millisBehindLatest);
      if (batch.next === null) {
        await checkpoints.finish(this.lock.fence, { stream, shardId });
        return true;
      }
      handle = batch.next;
    }
    return false;
  }

  /** Null when it was stopped before. */
  private async readBatch(handle: ReadHandle): Promise<Batch<Data> | null> {
    while (!this.mustStop()) {
      await this.inTurn();
      if (this.mustStop()) break;
      try {
        const batch = await this.tools.source.next(handle);
        const isIdle = batch.records.length === 0 && batch.millisBehindLatest === 0 && batch.next !== null;
        this.waitAtLeast(isIdle ? this.tools.pace.idleMs : 0);
        return batch;
      } catch (error) {
        if (!(error instanceof StreamThrottledError)) throw error;
        await this.afterFailure(error);
      }
    }
    return null;
  }

  private async handOver({ records }: Batch<Data>): Promise<void> {
    const last = records.at(-1);
    if (last !== undefined) {
      const { stream, deliver, checkpoints } = this.tools;
      const { shardId } = this.shard;
      await deliver(shardId, records);
      await checkpoints.advance(this.lock.fence, { stream, shardId }, last.sequence);
    }
    this.failures = 0;
  }

  private mustStop(): boolean {
    // Asking the lock is what notices that this process has slept past its lease.
    return this.lock.signal.aborted || this.stop.aborted;
  }

  /** Also between the request for an iterator and the first read: both count. */
  private async inTurn(): Promise<void> {
    const waitMs = this.nextReadMs - this.tools.timer.elapsedMs();
    if (waitMs > 0) await this.sleep(waitMs);
    this.nextReadMs = this.tools.timer.elapsedMs() + this.tools.pace.readEveryMs;
  }

  private waitAtLeast(ms: number): void {
    this.nextReadMs = Math.max(this.nextReadMs, this.tools.timer.elapsedMs() + ms);
  }

  private async afterFailure(error: Error): Promise<void> {
    this.failures += 1;
    this.log.warn({ err: error, failures: this.failures }, 'reading a shard failed');
    const longestMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** Math.min(this.failures, MOST_DOUBLINGS));
    await this.sleep(longestMs * (0.5 + this.tools.random() / 2));
  }

  /** Ends early when there is nothing left to wait for. */
  private async sleep(ms: number): Promise<void> {
    await this.tools.timer.sleep(ms, this.stop).catch(() => undefined);
  }
}
