import type { DynamoDBClient, WriteRequest } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import type { Subscription } from '../../domain/subscription.ts';
import type { Timer } from '../../ports/timer.ts';
import { withData, writeSubscription } from './subscription-codec.ts';

export interface SeederOptions {
  readonly client: DynamoDBClient;
  readonly billingTable: string;
  readonly historyTable: string;
  readonly pipelineTable: string;
  readonly timer: Timer;
  readonly random: () => number;
}

/** DynamoDB takes 25 items at once, and each record is two. */
const RECORDS_PER_BATCH = 12;
const MAX_TRIES = 10;

const doneMark = (prefix: string) => ({ pk: { S: `DEMO#${prefix}` }, sk: { S: 'SEEDED' } });

/**
 * Puts made-up records into the tables with BatchWriteItem, which knows no conditions: whoever seeds says that nobody
 * else works on these users.
 */
export class DynamoSeeder {
  private readonly options: SeederOptions;

  constructor(options: SeederOptions) {
    this.options = options;
  }

  async isEmpty(): Promise<boolean> {
    const { client, billingTable } = this.options;
    const { Items = [] } = await client.send(new ScanCommand({ TableName: billingTable, Limit: 1 }));
    return Items.length === 0;
  }

  async hasUser(userId: string): Promise<boolean> {
    const { client, billingTable } = this.options;
    const { Count = 0 } = await client.send(
      new QueryCommand({
        TableName: billingTable,
        KeyConditionExpression: 'user_id = :user',
        ExpressionAttributeValues: { ':user': { S: userId } },
        ConsistentRead: true,
        Limit: 1,
        Select: 'COUNT',
      }),
    );
    return Count > 0;
  }

  /** When a seeding was finished; one that was interrupted leaves no mark. */
  async isMarkedDone(prefix: string): Promise<boolean> {
    const { client, pipelineTable } = this.options;
    const { Item } = await client.send(
      new GetItemCommand({ TableName: pipelineTable, Key: doneMark(prefix), ConsistentRead: true }),
    );
    return Item !== undefined;
  }

  async markDone(prefix: string): Promise<void> {
    const { client, pipelineTable } = this.options;
    await client.send(new PutItemCommand({ TableName: pipelineTable, Item: doneMark(prefix) }));
  }

  /** Each record with its history row, and each member's records in one batch. */
  async write(members: readonly (readonly Subscription[])[]): Promise<void> {
    const { billingTable, historyTable } = this.options;
    for (const records of inBatches(members)) {
      const items = records.map((record) => writeSubscription(record, null));
      await this.writeBatch({
        [historyTable]: items.map((item) => ({ PutRequest: { Item: withData(item, { cause: 'seeded' }) } })),
        [billingTable]: items.map((item) => ({ PutRequest: { Item: item } })),
      });
    }
  }

  private async writeBatch(batch: Record<string, WriteRequest[]>): Promise<void> {
    let left = batch;
    for (let tries = 0; Object.keys(left).length > 0; tries += 1) {
      if (tries === MAX_TRIES) throw new Error('DynamoDB keeps leaving items of a batch unprocessed');
      if (tries > 0) await this.options.timer.sleep(this.options.random() * Math.min(2_000, 50 * 2 ** tries));
      const { UnprocessedItems = {} } = await this.options.client.send(
        new BatchWriteItemCommand({ RequestItems: left }),
      );
      left = UnprocessedItems;
    }
  }
}

function inBatches(members: readonly (readonly Subscription[])[]): Subscription[][] {
  const batches: Subscription[][] = [];
  for (const records of members) {
    const last = batches.at(-1);
    if (last !== undefined && last.length + records.length <= RECORDS_PER_BATCH) last.push(...records);
    else batches.push([...records]);
  }
  return batches;
}
