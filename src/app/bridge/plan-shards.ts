import type { CheckpointMap } from '../../ports/checkpoints.ts';
import type { Beginning, ReadFrom, Shard } from '../../ports/stream-source.ts';

/*
 * Which shards may be read now, from where, and how many of them by one bridge. A user's events go from a parent shard to
 * its children when the stream is resharded; reading the children too early would turn their order around.
 */

/** Not read to their end, and nothing older is left to read. A parent that has left the stream has nothing left. */
export function readyShards(shards: readonly Shard[], checkpoints: CheckpointMap): readonly Shard[] {
  const listed = new Set(shards.map(({ shardId }) => shardId));
  const isOver = (shardId: string): boolean =>
    checkpoints.get(shardId)?.finished === true || !listed.has(shardId);
  return shards.filter(({ shardId, parents }) => !isOver(shardId) && parents.every(isOver));
}

/**
 * After the checkpoint. Without one, a child goes on where its parents ended, and only a shard that comes from nothing
 * that we read begins where the stream was begun. That also holds for the child of a parent that ended without a record
 * for us: it may have ended long before the time from which we read.
 */
export function startOf(shard: Shard, checkpoints: CheckpointMap, beginning: Beginning): ReadFrom {
  const sequence = checkpoints.get(shard.shardId)?.sequence ?? null;
  if (sequence !== null) return { after: sequence };
  const goesOn = shard.parents.some((parent) => (checkpoints.get(parent)?.sequence ?? null) !== null);
  return goesOn ? 'start' : beginning;
}

/** At most this many shards each, so that every shard is read. */
export const shareOf = (shards: number, bridges: number): number => Math.ceil(shards / Math.max(1, bridges));

/** Shards that have left the stream: no bridge needs their checkpoints any more. */
export function departedShards(shards: readonly Shard[], checkpoints: CheckpointMap): string[] {
  const listed = new Set(shards.map(({ shardId }) => shardId));
  return [...checkpoints.keys()].filter((shardId) => !listed.has(shardId));
}
