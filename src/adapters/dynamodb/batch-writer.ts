import type { DynamoDBClient, WriteRequest } from '@aws-sdk/client-dynamodb';
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import type { Timer } from '../../ports/timer.ts';
import type { RawItem } from './raw-item.ts';

export interface BatchWriterOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly timer: Timer;
  readonly random: () => number;
}

/** DynamoDB takes so many items at once. */
const ITEMS_AT_ONCE = 25;
const REQUESTS_AT_ONCE = 4;
const MAX_TRIES = 8;

/**
 * Puts many items of one table, in no particular order. It knows no conditions: only for items that say the same
 * whichever process writes them, however often and however late.
 */
export class BatchWriter {
  private readonly options: BatchWriterOptions;

  constructor(options: BatchWriterOptions) {
    this.options = options;
  }

  /** Keys must not repeat. After a failure some items are there and some are not, and nothing is on its way. */
  async put(items: readonly RawItem[]): Promise<void> {
    const batches = inBatches(items).values();
    const takeTurns = async (): Promise<void> => {
      for (const batch of batches) await this.batch(batch);
    };
    const lanes = await Promise.allSettled(Array.from({ length: REQUESTS_AT_ONCE }, takeTurns));
    for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  }

  private async batch(items: readonly RawItem[]): Promise<void> {
    const { client, table, timer, random } = this.options;
    let left: WriteRequest[] = items.map((Item) => ({ PutRequest: { Item } }));
    for (let tries = 0; left.length > 0; tries += 1) {
      if (tries === MAX_TRIES) throw new Error('DynamoDB keeps leaving items of a batch unprocessed');
      if (tries > 0) await timer.sleep(random() * Math.min(1_000, 25 * 2 ** tries));
      const { UnprocessedItems = {} } = await client.send(
        new BatchWriteItemCommand({ RequestItems: { [table]: left } }),
      );
      left = UnprocessedItems[table] ?? [];
    }
  }
}

function inBatches(items: readonly RawItem[]): RawItem[][] {
  const batches: RawItem[][] = [];
  for (let start = 0; start < items.length; start += ITEMS_AT_ONCE)
    batches.push(items.slice(start, start + ITEMS_AT_ONCE));
  return batches;
}
