import { createHash } from 'node:crypto';
import { instantFromMs } from '../../src/domain/instant.ts';
import { IteratorExpiredError } from '../../src/errors.ts';
import type {
  Batch,
  ReadFrom,
  ReadHandle,
  Shard,
  StreamRecord,
  StreamSource,
} from '../../src/ports/stream-source.ts';
import type { Random } from '../random.ts';
import type { Timeline } from './timeline.ts';

interface SimShard extends Shard {
  /** Of the hashes of partition keys. */
  readonly from: number;
  readonly to: number;
  readonly records: StreamRecord<Uint8Array>[];
  /** How far a bridge has read. */
  readTo: number;
  isClosed: boolean;
}

interface Iterator {
  readonly shardId: string;
  readonly position: number;
  readonly atMs: number;
}

const HASHES = 0x10000;
const MOST_RECORDS = 50;
const ITERATOR_MS = 5 * 60_000;

/** A Kinesis stream: order within a shard only, records that come twice, shards that are split and merged. */
export class SimStream {
  readonly name: string;
  private readonly timeline: Timeline;
  private readonly random: Random;
  private readonly onReadAgain: () => void;
  private readonly shards: SimShard[] = [];
  private sequence = 0;

  constructor(name: string, timeline: Timeline, random: Random, onReadAgain: () => void) {
    this.name = name;
    this.timeline = timeline;
    this.random = random;
    this.onReadAgain = onReadAgain;
    this.open(0, HASHES / 2, []);
    this.open(HASHES / 2, HASHES, []);
  }

  put(partitionKey: string, event: object): void {
    const hash = createHash('md5').update(partitionKey).digest().readUInt16BE(0);
    const shard = this.openShards().find(({ from, to }) => from <= hash && hash < to);
    if (shard === undefined) throw new Error('no shard for a key');
    shard.records.push({
      sequence: this.nextSequence(),
      partitionKey,
      data: new TextEncoder().encode(JSON.stringify(event)),
      approximateArrival: instantFromMs(Math.floor(this.timeline.nowMs)),
    });
  }

  /** Splits one open shard or merges two neighbours. */
  reshard(): void {
    const open = [...this.openShards()].sort((a, b) => a.from - b.from);
    const at = this.random.between(0, open.length - 1);
    const [shard, neighbour] = [open[at], open[at + 1]];
    if (shard === undefined) return;
    if (neighbour !== undefined && open.length > 2) {
      this.close(shard);
      this.close(neighbour);
      this.open(shard.from, neighbour.to, [shard.shardId, neighbour.shardId]);
    } else if (shard.to - shard.from > 1) {
      this.close(shard);
      const middle = Math.floor((shard.from + shard.to) / 2);
      this.open(shard.from, middle, [shard.shardId]);
      this.open(middle, shard.to, [shard.shardId]);
    }
  }

  /** How the stream is read; `call` is the way there. */
  source(call: <T>(apply: () => T) => Promise<T>): StreamSource<Uint8Array> {
    return {
      listShards: () => call(() => this.shards.map(({ shardId, parents }) => ({ shardId, parents }))),
      read: (shardId, from) => call(() => this.iterator(shardId, from)),
      next: (handle) => call(() => this.read(handle)),
      now: () => instantFromMs(Math.floor(this.timeline.nowMs)),
    };
  }

  private openShards(): SimShard[] {
    return this.shards.filter(({ isClosed }) => !isClosed);
  }

  private open(from: number, to: number, parents: readonly string[]): void {
    const shardId = `shardId-${String(this.shards.length).padStart(12, '0')}`;
    this.shards.push({ shardId, parents, from, to, records: [], readTo: 0, isClosed: false });
  }

  private close(shard: SimShard): void {
    shard.isClosed = true;
  }

  private nextSequence(): string {
    this.sequence += this.random.between(1, 1_000);
    return `4966${String(this.sequence).padStart(12, '0')}`;
  }

  private shard(shardId: string): SimShard {
    const found = this.shards.find((shard) => shard.shardId === shardId);
    if (found === undefined) throw new Error(`no shard ${shardId}`);
    return found;
  }

  private iterator(shardId: string, from: ReadFrom): ReadHandle {
    const { records } = this.shard(shardId);
    const iterator: Iterator = { shardId, position: startOf(records, from), atMs: this.timeline.nowMs };
    return iterator as unknown as ReadHandle;
  }

  private read(handle: ReadHandle): Batch<Uint8Array> {
    const { shardId, position, atMs } = handle as unknown as Iterator;
    if (this.timeline.nowMs - atMs > ITERATOR_MS) throw new IteratorExpiredError('the iterator is too old');
    const shard = this.shard(shardId);
    const records = shard.records.slice(position, position + MOST_RECORDS);
    const end = position + records.length;
    if (records.length > 0 && position < shard.readTo) this.onReadAgain();
    shard.readTo = Math.max(shard.readTo, end);
    const isOver = shard.isClosed && end === shard.records.length;
    const next: Iterator = { shardId, position: end, atMs: this.timeline.nowMs };
    return {
      records,
      millisBehindLatest: end < shard.records.length ? 1_000 : 0,
      next: isOver ? null : (next as unknown as ReadHandle),
    };
  }
}

function startOf(records: readonly StreamRecord<Uint8Array>[], from: ReadFrom): number {
  if (from === 'start') return 0;
  const isBeyond =
    'after' in from
      ? ({ sequence }: StreamRecord<Uint8Array>) => BigInt(sequence) > BigInt(from.after)
      : ({ approximateArrival }: StreamRecord<Uint8Array>) => approximateArrival >= from.timestamp;
  const found = records.findIndex(isBeyond);
  return found === -1 ? records.length : found;
}
