import type { Instant } from '../domain/instant.ts';

/** A shard of a stream. It came from one parent by a split, from two by a merge, from none at the stream's creation. */
export interface Shard {
  readonly shardId: string;
  readonly parents: readonly string[];
}

export interface StreamRecord<Data> {
  /** Compared as big integers. Grows within a shard, and from a parent to its child. */
  readonly sequence: string;
  readonly partitionKey: string | null;
  readonly data: Data;
  readonly approximateArrival: Instant;
}

/** Where reading a stream began that nobody had read before: at what is oldest, or at what arrived from then on. */
export type Beginning = 'start' | { readonly timestamp: Instant };

export type ReadFrom = Beginning | { readonly after: string };

declare const opaque: unique symbol;

/** A place in a shard, good for a few minutes. Reading from it again gives the same records again. */
export interface ReadHandle {
  readonly [opaque]: 'ReadHandle';
}

export interface Batch<Data> {
  readonly records: readonly StreamRecord<Data>[];
  readonly millisBehindLatest: number;
  /** Null: the shard is closed and this was its end. An empty batch alone says nothing of the kind. */
  readonly next: ReadHandle | null;
}

/** A sharded stream: Kinesis, or the changes of a DynamoDB table. */
export interface StreamSource<Data> {
  /** Every shard that still holds records, open and closed. */
  listShards(): Promise<readonly Shard[]>;
  /** Throws a StreamThrottledError when it is asked too often. */
  read(shardId: string, from: ReadFrom): Promise<ReadHandle>;
  /** Throws an IteratorExpiredError for a handle that is too old, a StreamThrottledError when it is asked too often. */
  next(handle: ReadHandle): Promise<Batch<Data>>;
  /** The time that records are stamped with when they arrive. Never simulated. */
  now(): Instant;
}
