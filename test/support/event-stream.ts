import { randomUUID } from 'node:crypto';
import type { KinesisClient } from '@aws-sdk/client-kinesis';
import {
  DescribeStreamSummaryCommand,
  ListShardsCommand,
  MergeShardsCommand,
  PutRecordsCommand,
  SplitShardCommand,
} from '@aws-sdk/client-kinesis';
import { createKinesisClient } from '../../src/adapters/kinesis/client.ts';
import { ensureStream } from '../../src/adapters/kinesis/streams.ts';
import { eventually } from './processes.ts';
import { sharedStack } from './stack.ts';

export interface EventStreamBench {
  readonly name: string;
  readonly client: KinesisClient;
  /** In one request: the emulator keeps their order within a shard. */
  put(records: readonly { readonly key: string; readonly data: string }[]): Promise<void>;
  /** In the middle of its range. */
  split(shardId: string): Promise<void>;
  merge(shardId: string, adjacent: string): Promise<void>;
  shardIds(): Promise<string[]>;
  close(): void;
}

export const shardId = (index: number): string => `shardId-${String(index).padStart(12, '0')}`;

/** A stream of a test's own on the real emulator. */
export async function eventStream(shards: number): Promise<EventStreamBench> {
  const name = `events-${randomUUID()}`;
  const client = createKinesisClient({ region: 'us-east-1', endpoint: sharedStack().kinesisUrl });
  await ensureStream(client, name, shards);
  const list = async () =>
    (await client.send(new ListShardsCommand({ StreamName: name }))).Shards?.map((shard) => ({
      shardId: shard.ShardId!,
      from: BigInt(shard.HashKeyRange!.StartingHashKey!),
      to: BigInt(shard.HashKeyRange!.EndingHashKey!),
    })) ?? [];
  const active = () =>
    eventually('the stream is active', async () => {
      const { StreamDescriptionSummary } = await client.send(
        new DescribeStreamSummaryCommand({ StreamName: name }),
      );
      return StreamDescriptionSummary?.StreamStatus === 'ACTIVE';
    });
  return {
    name,
    client,
    async put(records) {
      const { FailedRecordCount } = await client.send(
        new PutRecordsCommand({
          StreamName: name,
          Records: records.map(({ key, data }) => ({ PartitionKey: key, Data: Buffer.from(data) })),
        }),
      );
      if ((FailedRecordCount ?? 0) > 0) throw new Error('the emulator refused records');
    },
    async split(id) {
      const { from, to } = (await list()).find((shard) => shard.shardId === id)!;
      const NewStartingHashKey = String((from + to) / 2n);
      await client.send(new SplitShardCommand({ StreamName: name, ShardToSplit: id, NewStartingHashKey }));
      await active();
    },
    async merge(id, adjacent) {
      await client.send(
        new MergeShardsCommand({ StreamName: name, ShardToMerge: id, AdjacentShardToMerge: adjacent }),
      );
      await active();
    },
    shardIds: async () => (await list()).map((shard) => shard.shardId),
    close: () => client.destroy(),
  };
}
