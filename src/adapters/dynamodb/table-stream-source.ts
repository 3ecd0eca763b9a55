import type {
  DynamoDBStreamsClient,
  GetShardIteratorCommandInput,
  Shard as TableShard,
} from '@aws-sdk/client-dynamodb-streams';
import {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  ResourceNotFoundException,
  TrimmedDataAccessException,
} from '@aws-sdk/client-dynamodb-streams';
import type { Instant } from '../../domain/instant.ts';
import { instantFromMs } from '../../domain/instant.ts';
import type {
  Batch,
  ReadFrom,
  ReadHandle,
  Shard,
  StreamRecord,
  StreamSource,
} from '../../ports/stream-source.ts';
import { asked } from '../stream-request.ts';
import type { RawItem } from './raw-item.ts';

/** A change of a row. Null: the row was not there before, or is not there any more. */
export interface TableChange {
  readonly oldImage: RawItem | null;
  readonly newImage: RawItem | null;
}

export interface TableStreamSourceOptions {
  readonly client: DynamoDBStreamsClient;
  readonly table: string;
  /** A table that is not there has no shards, until it is. Without it that is an error. */
  readonly mayBeMissing?: boolean;
  /** Changes of this shard were gone before they were read. Called before reading goes on at the oldest that is left. */
  readonly onLost: (shardId: string) => void;
}

interface Place {
  readonly iterator: string;
  /** Table streams know no time to begin at: what is older is left out here. They keep a day only. */
  readonly since: Instant | null;
}

/**
 * The changes of a table. Its shards close about every four hours and are gone after a day, each with one successor: the
 * same tree as that of Kinesis, only faster.
 */
export class TableStreamSource implements StreamSource<TableChange> {
  private readonly options: TableStreamSourceOptions;
  private arn: string | null = null;

  constructor(options: TableStreamSourceOptions) {
    this.options = options;
  }

  async listShards(): Promise<readonly Shard[]> {
    if (this.options.mayBeMissing === true && (await this.findStream()) === null) return [];
    const StreamArn = await this.streamArn();
    const shards: Shard[] = [];
    let last: string | undefined;
    do {
      const request = new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId: last });
      const { StreamDescription } = await asked((limit) => this.options.client.send(request, limit));
      shards.push(...(StreamDescription?.Shards ?? []).map(shardOf));
      last = StreamDescription?.LastEvaluatedShardId;
    } while (last !== undefined);
    return shards;
  }

  async read(shardId: string, from: ReadFrom): Promise<ReadHandle> {
    const since = from !== 'start' && 'timestamp' in from ? from.timestamp : null;
    return asHandle({ iterator: await this.iterator(shardId, from), since });
  }

  async next(handle: ReadHandle): Promise<Batch<TableChange>> {
    const { iterator, since } = fromHandle(handle);
    const request = new GetRecordsCommand({ ShardIterator: iterator });
    const { Records = [], NextShardIterator } = await asked((limit) =>
      this.options.client.send(request, limit),
    );
    const changes = Records.map(({ dynamodb = {} }): StreamRecord<TableChange> => ({
      sequence: dynamodb.SequenceNumber ?? '',
      partitionKey: null,
      data: {
        oldImage: dynamodb.OldImage ?? null,
        newImage: dynamodb.NewImage ?? null,
      },
      approximateArrival: instantFromMs(dynamodb.ApproximateCreationDateTime?.getTime() ?? 0),
    }));
    return {
      records: changes.filter(({ approximateArrival }) => since === null || approximateArrival >= since),
      millisBehindLatest: this.lagOf(changes),
      next: NextShardIterator === undefined ? null : asHandle({ iterator: NextShardIterator, since }),
    };
  }

  now(): Instant {
    return instantFromMs(Date.now() + this.options.client.config.systemClockOffset);
  }

  private async iterator(shardId: string, from: ReadFrom): Promise<string> {
    const StreamArn = await this.streamArn();
    const request = new GetShardIteratorCommand({ StreamArn, ShardId: shardId, ...placeOf(from) });
    try {
      const { ShardIterator } = await asked((limit) => this.options.client.send(request, limit));
      if (ShardIterator === undefined) throw new Error(`DynamoDB gave no iterator for ${shardId}`);
      return ShardIterator;
    } catch (error) {
      // What came after the checkpoint is a day old and gone. The oldest that is left is next.
      if (!(error instanceof TrimmedDataAccessException) || from === 'start') throw error;
      this.options.onLost(shardId);
      return this.iterator(shardId, 'start');
    }
  }

  private async streamArn(): Promise<string> {
    const arn = await this.findStream();
    if (arn === null) throw new Error(`table ${this.options.table} has no stream`);
    return arn;
  }

  /** A table has one stream at a time; its name changes only when it is switched off and on again. */
  private async findStream(): Promise<string | null> {
    this.arn ??= (await this.streams()).sort().at(-1) ?? null;
    return this.arn;
  }

  /** The newest last by name: a stream that was switched off stays readable for a day. */
  private async streams(): Promise<string[]> {
    const request = new ListStreamsCommand({ TableName: this.options.table });
    try {
      const { Streams = [] } = await asked((limit) => this.options.client.send(request, limit));
      return Streams.map(({ StreamArn = '' }) => StreamArn);
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return [];
      throw error;
    }
  }

  /** The API does not tell how far behind it is. The age of the newest change read is the most that it can be. */
  private lagOf(changes: readonly StreamRecord<TableChange>[]): number {
    const newest = changes.at(-1)?.approximateArrival;
    return newest === undefined ? 0 : Math.max(0, Number((this.now() - newest) / 1_000_000n));
  }
}

const asHandle = (place: Place): ReadHandle => place as unknown as ReadHandle;
const fromHandle = (handle: ReadHandle): Place => handle as unknown as Place;

const shardOf = ({ ShardId = '', ParentShardId }: TableShard): Shard => ({
  shardId: ShardId,
  parents: ParentShardId === undefined ? [] : [ParentShardId],
});

function placeOf(from: ReadFrom): {
  readonly ShardIteratorType: GetShardIteratorCommandInput['ShardIteratorType'];
  readonly SequenceNumber?: string;
} {
  return from !== 'start' && 'after' in from
    ? { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: from.after }
    : { ShardIteratorType: 'TRIM_HORIZON' };
}
