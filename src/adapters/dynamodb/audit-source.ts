import type { DynamoDBClient, QueryCommandInput, ScanCommandInput } from '@aws-sdk/client-dynamodb';
import {
  DescribeTableCommand,
  TransactGetItemsCommand,
  TransactionCanceledException,
  paginateQuery,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { AuditTables, PlainItem, RowKey, UserRows } from '../../audit/source.ts';
import { queryToTheEnd } from './query.ts';
import type { RawItem } from './raw-item.ts';

export interface AuditSourceOptions {
  readonly client: DynamoDBClient;
  readonly tables: { readonly billing: string; readonly history: string; readonly pipeline: string };
  readonly pageSize: number;
}

const SORT_KEYS = { billing: 'billing_date', history: 'last_run_date' } as const;

/** Reads for the audit, page by page, and leaves the meaning to it: keys are spelled here, attributes are not read. */
export class DynamoAuditTables implements AuditTables {
  private readonly options: AuditSourceOptions;

  constructor(options: AuditSourceOptions) {
    this.options = options;
  }

  async estimate(): Promise<number> {
    const { client, tables } = this.options;
    const { Table } = await client.send(new DescribeTableCommand({ TableName: tables.billing }));
    return Table?.ItemCount ?? 0;
  }

  /** A scan gives a partition's items one after the other, so a user ends where the next begins. */
  async *users(): AsyncGenerator<UserRows> {
    const { client, tables, pageSize } = this.options;
    const input: ScanCommandInput = { TableName: tables.billing, ConsistentRead: true };
    let rows: PlainItem[] = [];
    let userId: string | null = null;
    for await (const { Items = [] } of paginateScan({ client, pageSize }, input)) {
      for (const item of Items) {
        const owner = item['user_id']?.S ?? '';
        if (userId !== null && owner !== userId) {
          yield { userId, rows };
          rows = [];
        }
        userId = owner;
        rows.push(plain(item));
      }
    }
    if (userId !== null) yield { userId, rows };
  }

  rowsOf(userId: string): Promise<PlainItem[]> {
    return this.query(this.options.tables.billing, 'user_id = :key', { ':key': { S: userId } });
  }

  historyOf(userId: string): Promise<PlainItem[]> {
    return this.query(this.options.tables.history, 'user_id = :key', { ':key': { S: userId } });
  }

  attemptsOf(subscriptionId: string): Promise<PlainItem[]> {
    return this.query(this.options.tables.pipeline, 'pk = :key AND begins_with(sk, :attempt)', {
      ':key': { S: `SUB#${subscriptionId}` },
      ':attempt': { S: 'ATTEMPT#' },
    });
  }

  async *freezeLog(): AsyncGenerator<PlainItem> {
    const { client, tables, pageSize } = this.options;
    const input = consistentQuery(tables.pipeline, 'pk = :key', { ':key': { S: 'FREEZE_LOG' } });
    for await (const { Items = [] } of paginateQuery({ client, pageSize }, input)) yield* Items.map(plain);
  }

  async readTogether(keys: readonly RowKey[]): Promise<(PlainItem | undefined)[] | null> {
    const { client, tables } = this.options;
    const TransactItems = keys.map(({ table, userId, sortKey }) => ({
      Get: { TableName: tables[table], Key: { user_id: { S: userId }, [SORT_KEYS[table]]: { S: sortKey } } },
    }));
    try {
      const { Responses = [] } = await client.send(new TransactGetItemsCommand({ TransactItems }));
      return Responses.map(({ Item }) => (Item === undefined ? undefined : plain(Item)));
    } catch (error) {
      // Somebody's write of one of these items was under way.
      if (error instanceof TransactionCanceledException) return null;
      throw error;
    }
  }

  private async query(table: string, condition: string, values: RawItem): Promise<PlainItem[]> {
    const items = await queryToTheEnd(this.options.client, consistentQuery(table, condition, values));
    return items.map(plain);
  }
}

const consistentQuery = (table: string, condition: string, values: RawItem): QueryCommandInput => ({
  TableName: table,
  ConsistentRead: true,
  KeyConditionExpression: condition,
  ExpressionAttributeValues: values,
});

/** Numbers of a newer Go service may be longer than JavaScript's; rounded, two that differ would look the same. */
const plain = (item: RawItem): PlainItem =>
  unmarshall(item, { wrapNumbers: (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text) });
