import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import { compareInstants } from '../../domain/instant.ts';
import type { MalformedRowError } from '../../errors.ts';
import type { HistoryEntry, HistoryRepository } from '../../ports/subscriptions.ts';
import type { Authority } from '../../ports/transaction.ts';
import { queryToTheEnd } from './query.ts';
import { readRows } from './read-rows.ts';
import { rowOf } from './stored-row.ts';
import { assertOneUser, historyWrite } from './subscription-changes.ts';
import { readData, readSubscription, withData, writeSubscription } from './subscription-codec.ts';
import { ID_INDEX } from './subscriptions.ts';
import type { Transactor } from './transaction.ts';
import { MAX_TRANSACTION_ITEMS } from './transaction.ts';

export interface HistoryOptions {
  readonly client: DynamoDBClient;
  readonly transactor: Transactor;
  readonly historyTable: string;
  readonly ids: () => string;
}

export class DynamoHistory implements HistoryRepository {
  private readonly options: HistoryOptions;

  constructor(options: HistoryOptions) {
    this.options = options;
  }

  async getByID(
    subscriptionID: string,
  ): Promise<{ entries: HistoryEntry[]; malformed: MalformedRowError[] }> {
    const items = await queryToTheEnd(this.options.client, {
      TableName: this.options.historyTable,
      IndexName: ID_INDEX,
      KeyConditionExpression: 'subscription_id = :id',
      ExpressionAttributeValues: { ':id': { S: subscriptionID } },
    });
    const { found: entries, malformed } = readRows(items, (item) => ({
      subscription: readSubscription(item),
      data: readData(item),
    }));
    // The index has no sort key, and texts with fractions would not sort by time anyway.
    return { entries: entries.sort((a, b) => compareInstants(stampOf(a), stampOf(b))), malformed };
  }

  add(authority: Authority, entry: HistoryEntry): Promise<void> {
    return this.addAll(authority, [entry]);
  }

  async addAll(authority: Authority, entries: readonly HistoryEntry[]): Promise<void> {
    const records = entries.map(({ subscription }) => subscription);
    assertOneUser(authority, records);
    if (records.some(({ lastRunDate }) => lastRunDate === null))
      throw new Error('a history row needs its stamp');
    const most = MAX_TRANSACTION_ITEMS - 1;
    for (let start = 0; start < entries.length; start += most) {
      await this.commit(authority, entries.slice(start, start + most));
    }
  }

  private async commit(authority: Authority, entries: readonly HistoryEntry[]): Promise<void> {
    const { historyTable, transactor } = this.options;
    const token = this.options.ids();
    const items = entries.map(({ subscription, data }) =>
      withData(writeSubscription(subscription, rowOf(subscription)), { ...data, change_id: token }),
    );
    const [first] = items;
    if (first?.['user_id'] === undefined || first['last_run_date'] === undefined)
      throw new Error('an entry has a key');
    await transactor.commit({
      authority,
      writes: items.map((item) => historyWrite(historyTable, item)),
      token,
      evidence: {
        table: historyTable,
        key: { user_id: first['user_id'], last_run_date: first['last_run_date'] },
        attribute: 'data_change_id',
      },
    });
  }
}

const stampOf = ({ subscription }: HistoryEntry): Instant => subscription.lastRunDate ?? (0n as Instant);
