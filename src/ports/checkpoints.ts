import type { Fence } from './lock.ts';
import type { Beginning } from './stream-source.ts';

/** How far a shard has been read: everything up to and including `sequence` is stored on our side. */
export interface Checkpoint {
  /** Null: it ended without a record for us. */
  readonly sequence: string | null;
  /** Read to its end. Its children may be read. */
  readonly finished: boolean;
}

export type CheckpointMap = ReadonlyMap<string, Checkpoint>;

export interface ShardRef {
  readonly stream: string;
  readonly shardId: string;
}

/**
 * How far each stream has been read. Moves only on the word of whoever holds the shard's lease, checked in the same
 * transaction, and only forward.
 */
export interface Checkpoints {
  /** Where this stream is read from by whoever has no checkpoint. The first word ever given stands. */
  begin(stream: string, proposed: Beginning): Promise<Beginning>;
  /** By shard. Consistent. */
  list(stream: string): Promise<CheckpointMap>;
  /** Throws a LockLostError when the lease is somebody else's, a CheckpointPassedError when it stands further already. */
  advance(lease: Fence, shard: ShardRef, sequence: string): Promise<void>;
  finish(lease: Fence, shard: ShardRef): Promise<void>;
  /** The shard is no longer in the stream. */
  forget(shard: ShardRef): Promise<void>;
}
