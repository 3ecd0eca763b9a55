import type { DynamoDBClient, TransactWriteItem, Update } from '@aws-sdk/client-dynamodb';
import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { CheckpointPassedError } from '../../errors.ts';
import type { CheckpointMap, Checkpoints, ShardRef } from '../../ports/checkpoints.ts';
import type { Fence } from '../../ports/lock.ts';
import type { Beginning } from '../../ports/stream-source.ts';
import {
  SHARD_PREFIX,
  beginningKey,
  readBeginning,
  readCheckpoint,
  shardKey,
  streamPartition,
  writeBeginning,
} from './checkpoint-items.ts';
import { rowIsNew, unlessRefused } from './conditions.ts';
import { sortableSequence } from './inbox-items.ts';
import { queryToTheEnd } from './query.ts';
import type { Transactor } from './transaction.ts';

export interface CheckpointsOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly transactor: Transactor;
  /** Names each write. Must never repeat. */
  readonly ids: () => string;
}

/** What an update changes, beside the shard's name and the write's own. */
type Change = Pick<Update, 'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeValues'>;

export class DynamoCheckpoints implements Checkpoints {
  private readonly options: CheckpointsOptions;

  constructor(options: CheckpointsOptions) {
    this.options = options;
  }

  async begin(stream: string, proposed: Beginning): Promise<Beginning> {
    const { client, table: TableName } = this.options;
    const Item = writeBeginning(stream, proposed);
    const isFirst = await unlessRefused(() =>
      client.send(new PutItemCommand({ TableName, Item, ...rowIsNew('pk') })),
    );
    if (isFirst) return proposed;
    const Key = marshall(beginningKey(stream));
    const stored = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
    if (stored.Item === undefined) throw new Error(`the beginning of stream ${stream} vanished`);
    return readBeginning(stored.Item);
  }

  async list(stream: string): Promise<CheckpointMap> {
    const items = await queryToTheEnd(this.options.client, {
      TableName: this.options.table,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :stream AND begins_with(sk, :shard)',
      ExpressionAttributeValues: {
        ':stream': { S: streamPartition(stream) },
        ':shard': { S: SHARD_PREFIX },
      },
    });
    return new Map(items.map(readCheckpoint).map(({ shardId, ...checkpoint }) => [shardId, checkpoint]));
  }

  /** The same place again is no step back: the answer to an earlier write may have been lost. */
  async advance(lease: Fence, shard: ShardRef, sequence: string): Promise<void> {
    await this.write(lease, shard, {
      UpdateExpression:
        'SET shardId = :shard, #token = :token, #sequence = :sequence, #place = :place, finished = :no',
      ConditionExpression: 'attribute_not_exists(pk) OR (finished = :no AND #place <= :place)',
      ExpressionAttributeValues: {
        ':sequence': { S: sequence },
        ':place': { S: sortableSequence(sequence) },
        ':no': { BOOL: false },
      },
    });
  }

  async finish(lease: Fence, shard: ShardRef): Promise<void> {
    await this.write(lease, shard, {
      UpdateExpression:
        'SET shardId = :shard, #token = :token, finished = :yes, #sequence = if_not_exists(#sequence, :none), #place = if_not_exists(#place, :least)',
      ExpressionAttributeValues: {
        ':yes': { BOOL: true },
        ':none': { NULL: true },
        ':least': { S: sortableSequence('0') },
      },
    });
  }

  async forget(shard: ShardRef): Promise<void> {
    const { client, table: TableName } = this.options;
    await client.send(new DeleteItemCommand({ TableName, Key: marshall(shardKey(shard)) }));
  }

  private write(lease: Fence, shard: ShardRef, change: Change): Promise<void> {
    const { table, transactor, ids } = this.options;
    const token = ids();
    const Key = marshall(shardKey(shard));
    const item: TransactWriteItem = {
      Update: {
        ...change,
        TableName: table,
        Key,
        ExpressionAttributeNames: { '#token': 'token', '#sequence': 'sequence', '#place': 'place' },
        ExpressionAttributeValues: {
          ...change.ExpressionAttributeValues,
          ':shard': { S: shard.shardId },
          ':token': { S: token },
        },
      },
    };
    const refused = (): CheckpointPassedError =>
      new CheckpointPassedError(`the checkpoint of ${shard.stream} ${shard.shardId} stands further already`);
    return transactor.commit({
      authority: lease,
      writes: [{ item, refused }],
      token,
      evidence: { table, key: Key, attribute: 'token' },
    });
  }
}
