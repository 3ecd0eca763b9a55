import type { Attendance } from '../../ports/attendance.ts';
import type { CheckpointMap, Checkpoints } from '../../ports/checkpoints.ts';
import type { Lock, LockClient } from '../../ports/lock.ts';
import type { Log } from '../../ports/log.ts';
import type { Beginning, Shard, StreamSource } from '../../ports/stream-source.ts';
import type { Timer } from '../../ports/timer.ts';
import type { Health, ShardProgress } from './health.ts';
import { afterRead, beginProgress, bridgeHealth } from './health.ts';
import { LiveBridges } from './live-bridges.ts';
import { departedShards, readyShards, shareOf } from './plan-shards.ts';
import type { Deliver, ReadingPace } from './shard-reader.ts';
import { ShardReader } from './shard-reader.ts';

/** How a bridge spends its time. Tests use short ones. */
export interface BridgeTimes extends ReadingPace {
  /** Between two looks at which bridge reads which shard. */
  readonly roundMs: number;
  /** The list of shards is asked for again after this long, or when a shard ends. */
  readonly shardListMs: number;
  /** How long a silent bridge still counts when shares are worked out. Several rounds. */
  readonly deadAfterMs: number;
}

export const BRIDGE_TIMES: BridgeTimes = {
  readEveryMs: 200,
  idleMs: 1_000,
  roundMs: 5_000,
  shardListMs: 30_000,
  deadAfterMs: 20_000,
};

export interface BridgeOptions<Data> {
  readonly stream: string;
  readonly source: StreamSource<Data>;
  /** For a stream that no bridge has read before. */
  readonly beginning: Beginning;
  readonly deliver: Deliver<Data>;
  readonly checkpoints: Checkpoints;
  readonly attendance: Attendance;
  /** Remembers what it saw: a dead bridge's shards are taken over at a later round. */
  readonly locks: LockClient;
  readonly bridgeId: string;
  readonly times: BridgeTimes;
  readonly timer: Timer;
  /** Between 0 and 1, for the jitter. */
  readonly random: () => number;
  readonly log: Log;
  /** Null when the shard is no longer read here. */
  readonly onLag: (shardId: string, lagMs: number | null) => void;
}

export const shardLeaseKey = (stream: string, shardId: string): string => `bridge:${stream}:${shardId}`;

interface Reading {
  readonly giveUp: AbortController;
  readonly ended: Promise<void>;
}

/** One process's part in reading a stream: takes its share of the shards, reads them, makes room for others. */
export class Bridge<Data> {
  private readonly options: BridgeOptions<Data>;
  private readonly bridges: LiveBridges;
  private readonly readings = new Map<string, Reading>();
  private readonly progress = new Map<string, ShardProgress>();
  private readonly stopping = new AbortController();
  /** Something has changed that a round should look at. */
  private changed = new AbortController();
  private shards: { readonly list: readonly Shard[]; readonly atMs: number } | null = null;
  private roundAtMs: number;
  private readonly rounds: Promise<void>;

  constructor(options: BridgeOptions<Data>) {
    this.options = options;
    this.bridges = new LiveBridges({ ...options, deadAfterMs: options.times.deadAfterMs });
    this.roundAtMs = options.timer.elapsedMs();
    this.rounds = this.keepGoing();
  }

  /** The shards that this bridge reads now. */
  get reads(): readonly string[] {
    return [...this.readings.keys()];
  }

  health(): Health {
    const nowMs = this.options.timer.elapsedMs();
    return bridgeHealth({ shards: this.progress, roundAtMs: this.roundAtMs, nowMs });
  }

  /** Batches that were begun are delivered and checkpointed, then the leases are given back. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.rounds;
    await Promise.all([...this.readings.values()].map(({ ended }) => ended));
    await this.bridges.leave().catch((error: unknown) => this.warn(error, 'leaving the bridges failed'));
  }

  private async keepGoing(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.changed = new AbortController();
      try {
        await this.round();
        this.roundAtMs = this.options.timer.elapsedMs();
      } catch (error) {
        this.warn(error, 'a round of the bridge failed');
        // Whatever changed meanwhile waits like everything else.
        this.changed = new AbortController();
      }
      const wake = AbortSignal.any([this.stopping.signal, this.changed.signal]);
      // Bridges that were started together do not ask for the same leases at the same moment for ever.
      const pauseMs = this.options.times.roundMs * (0.75 + this.options.random() / 4);
      await this.options.timer.sleep(pauseMs, wake).catch(() => undefined);
    }
  }

  private async round(): Promise<void> {
    const { checkpoints, stream } = this.options;
    const beginning = await checkpoints.begin(stream, this.options.beginning);
    const bridges = await this.bridges.attend();
    const known = await checkpoints.list(stream);
    const shards = await this.listShards(known);
    const ready = readyShards(shards, known);
    const share = shareOf(ready.length, bridges);
    this.giveUpSurplus(ready, share);
    await this.take(ready, share, beginning);
  }

  /**
   * Checkpoints are removed only against a shard list fetched after they were read: an older list would miss new shards
   * that other bridges already read.
   */
  private async listShards(known: CheckpointMap): Promise<readonly Shard[]> {
    const nowMs = this.options.timer.elapsedMs();
    if (this.shards === null || nowMs - this.shards.atMs >= this.options.times.shardListMs) {
      this.shards = { list: await this.options.source.listShards(), atMs: nowMs };
      await this.forgetDeparted(this.shards.list, known);
    }
    return this.shards.list;
  }

  private async forgetDeparted(shards: readonly Shard[], known: CheckpointMap): Promise<void> {
    const { checkpoints, stream, log } = this.options;
    for (const shardId of departedShards(shards, known)) {
      if (known.get(shardId)?.finished !== true)
        log.error(
          { alarm: 'events-lost', stream, shardId },
          'a shard left the stream before it was read to its end',
        );
      await checkpoints.forget({ stream, shardId });
    }
  }

  private giveUpSurplus(ready: readonly Shard[], share: number): void {
    const readable = new Set(ready.map(({ shardId }) => shardId));
    const kept = this.reads.filter((shardId) => readable.has(shardId)).slice(0, share);
    for (const [shardId, { giveUp }] of this.readings) if (!kept.includes(shardId)) giveUp.abort();
  }

  /** Goes by every shard until the share is full: what is busy now is remembered, and taken over once its holder is dead. */
  private async take(ready: readonly Shard[], share: number, beginning: Beginning): Promise<void> {
    const { stream, locks, random } = this.options;
    const free = ready.filter(({ shardId }) => !this.readings.has(shardId));
    const first = Math.floor(random() * free.length);
    for (const shard of [...free.slice(first), ...free.slice(0, first)]) {
      if (this.readings.size >= share || this.stopping.signal.aborted) return;
      const acquired = await locks.acquire(shardLeaseKey(stream, shard.shardId));
      if ('lock' in acquired) this.read(shard, acquired.lock, beginning);
    }
  }

  private read(shard: Shard, lock: Lock, beginning: Beginning): void {
    const { shardId } = shard;
    const giveUp = new AbortController();
    const stop = AbortSignal.any([giveUp.signal, this.stopping.signal]);
    const { timer, log, stream, onLag } = this.options;
    this.progress.set(shardId, beginProgress(timer.elapsedMs()));
    const onRead = (_: string, lagMs: number): void => {
      const before = this.progress.get(shardId) ?? beginProgress(timer.elapsedMs());
      this.progress.set(shardId, afterRead(before, lagMs, timer.elapsedMs()));
      onLag(shardId, lagMs);
    };
    const tools = { ...this.options, beginning, pace: this.options.times, onRead };
    const ended = (async () => {
      log.info({ stream, shardId }, 'reading a shard');
      const end = await new ShardReader(tools, { shard, lock, stop }).run();
      await lock.release();
      log.info({ stream, shardId, end }, 'no longer reading a shard');
      this.readings.delete(shardId);
      this.progress.delete(shardId);
      onLag(shardId, null);
      // Its children are new.
      if (end === 'finished') this.shards = null;
      this.changed.abort();
    })();
    this.readings.set(shardId, { giveUp, ended });
  }

  private warn(error: unknown, message: string): void {
    this.options.log.warn({ err: error, stream: this.options.stream }, message);
  }
}
