import { z } from 'zod';
import type { Checkpoint, ShardRef } from '../../ports/checkpoints.ts';
import type { Beginning } from '../../ports/stream-source.ts';
import { instant } from '../codecs.ts';
import { read, write } from './item-codec.ts';
import type { RawItem } from './raw-item.ts';

/* How far streams were read, in the pipeline table: a partition for each stream. */

export const SHARD_PREFIX = 'SHARD#';

export const streamPartition = (stream: string): string => `STREAM#${stream}`;
export const shardKey = ({ stream, shardId }: ShardRef) => ({
  pk: streamPartition(stream),
  sk: `${SHARD_PREFIX}${shardId}`,
});
export const beginningKey = (stream: string) => ({ pk: streamPartition(stream), sk: 'BEGINNING' });

const checkpoint = z.object({
  shardId: z.string(),
  sequence: z.string().nullable(),
  finished: z.boolean(),
});
const beginning = z.object({ timestamp: instant.nullable() });

export const readCheckpoint = (item: RawItem): Checkpoint & { readonly shardId: string } =>
  read(checkpoint, item);

export const writeBeginning = (stream: string, from: Beginning): RawItem =>
  write(beginning, { timestamp: from === 'start' ? null : from.timestamp }, beginningKey(stream));

export function readBeginning(item: RawItem): Beginning {
  const { timestamp } = read(beginning, item);
  return timestamp === null ? 'start' : { timestamp };
}
