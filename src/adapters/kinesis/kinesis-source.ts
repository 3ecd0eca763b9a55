import type {
  GetShardIteratorCommandInput,
  KinesisClient,
  Shard as KinesisShard,
} from '@aws-sdk/client-kinesis';
import { GetRecordsCommand, GetShardIteratorCommand, ListShardsCommand } from '@aws-sdk/client-kinesis';
import type { Instant } from '../../domain/instant.ts';
import { instantFromMs, msOf } from '../../domain/instant.ts';
import type { Batch, ReadFrom, ReadHandle, Shard, StreamSource } from '../../ports/stream-source.ts';
import { asked } from '../stream-request.ts';

export interface KinesisSourceOptions {
  readonly client: KinesisClient;
  readonly stream: string;
}

/** Few enough that a batch is stored while a process that was asked to stop may still wait for it. */
const MOST_RECORDS = 1_000;

export class KinesisSource implements StreamSource<Uint8Array> {
  private readonly options: KinesisSourceOptions;

  constructor(options: KinesisSourceOptions) {
    this.options = options;
  }

  async listShards(): Promise<readonly Shard[]> {
    const shards: Shard[] = [];
    let token: string | undefined;
    do {
      // A token stands for the stream that it was given for; both together are refused.
      const request = token === undefined ? { StreamName: this.options.stream } : { NextToken: token };
      const page = await asked((limit) => this.options.client.send(new ListShardsCommand(request), limit));
      shards.push(...(page.Shards ?? []).map(shardOf));
      token = page.NextToken;
    } while (token !== undefined);
    return shards;
  }

  async read(shardId: string, from: ReadFrom): Promise<ReadHandle> {
    const request = new GetShardIteratorCommand({
      StreamName: this.options.stream,
      ShardId: shardId,
      ...placeOf(from),
    });
    const { ShardIterator } = await asked((limit) => this.options.client.send(request, limit));
    if (ShardIterator === undefined) throw new Error(`Kinesis gave no iterator for ${shardId}`);
    return asHandle(ShardIterator);
  }

  async next(handle: ReadHandle): Promise<Batch<Uint8Array>> {
    const request = new GetRecordsCommand({ ShardIterator: fromHandle(handle), Limit: MOST_RECORDS });
    const answer = await asked((limit) => this.options.client.send(request, limit));
    return {
      records: (answer.Records ?? []).map((record) => ({
        sequence: record.SequenceNumber ?? '',
        partitionKey: record.PartitionKey ?? null,
        data: record.Data ?? new Uint8Array(),
        approximateArrival: instantFromMs(record.ApproximateArrivalTimestamp?.getTime() ?? 0),
      })),
      millisBehindLatest: answer.MillisBehindLatest ?? 0,
      next: answer.NextShardIterator === undefined ? null : asHandle(answer.NextShardIterator),
    };
  }

  /** As far as the SDK has corrected this machine's clock by AWS's. */
  now(): Instant {
    return instantFromMs(Date.now() + this.options.client.config.systemClockOffset);
  }
}

/** An iterator is a text to this source only; others do not look inside. */
const asHandle = (iterator: string): ReadHandle => iterator as unknown as ReadHandle;
const fromHandle = (handle: ReadHandle): string => handle as unknown as string;

const shardOf = ({ ShardId = '', ParentShardId, AdjacentParentShardId }: KinesisShard): Shard => ({
  shardId: ShardId,
  parents: [ParentShardId, AdjacentParentShardId].filter((parent) => parent !== undefined),
});

function placeOf(from: ReadFrom): Pick<
  GetShardIteratorCommandInput,
  'StartingSequenceNumber' | 'Timestamp'
> & {
  readonly ShardIteratorType: GetShardIteratorCommandInput['ShardIteratorType'];
} {
  if (from === 'start') return { ShardIteratorType: 'TRIM_HORIZON' };
  if ('after' in from)
    return { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', StartingSequenceNumber: from.after };
  return { ShardIteratorType: 'AT_TIMESTAMP', Timestamp: new Date(msOf(from.timestamp)) };
}
