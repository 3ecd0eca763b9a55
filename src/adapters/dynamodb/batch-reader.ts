import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchGetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { ServiceDownError } from '../../errors.ts';
import type { Timer } from '../../ports/timer.ts';
import type { PipelineKey } from './item-codec.ts';
import type { RawItem } from './raw-item.ts';

export interface BatchReaderOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly timer: Timer;
  readonly random: () => number;
}

/** DynamoDB takes so many keys at once. */
const KEYS_AT_ONCE = 100;
const MAX_TRIES = 8;

/** Reads many items of one table by their keys, consistently, and asks again for what DynamoDB left over. */
export class BatchReader {
  private readonly options: BatchReaderOptions;

  constructor(options: BatchReaderOptions) {
    this.options = options;
  }

  async get(wanted: readonly PipelineKey[]): Promise<RawItem[]> {
    const found: RawItem[] = [];
    for (let start = 0; start < wanted.length; start += KEYS_AT_ONCE) {
      found.push(
        ...(await this.batch(wanted.slice(start, start + KEYS_AT_ONCE).map((key) => marshall(key)))),
      );
    }
    return found;
  }

  private async batch(keys: RawItem[]): Promise<RawItem[]> {
    const { client, table, timer, random } = this.options;
    const found: RawItem[] = [];
    let left = keys;
    for (let tries = 0; left.length > 0; tries += 1) {
      if (tries === MAX_TRIES)
        throw new ServiceDownError('DynamoDB keeps leaving keys of a batch unprocessed');
      if (tries > 0) await timer.sleep(random() * Math.min(1_000, 25 * 2 ** tries));
      const { Responses = {}, UnprocessedKeys = {} } = await client.send(
        new BatchGetItemCommand({ RequestItems: { [table]: { Keys: left, ConsistentRead: true } } }),
      );
      found.push(...(Responses[table] ?? []));
      left = UnprocessedKeys[table]?.Keys ?? [];
    }
    return found;
  }
}
