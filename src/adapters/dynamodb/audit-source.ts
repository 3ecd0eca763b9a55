import type { DynamoDBClient, QueryCommandInput, ScanCommandInput } from '@aws-sdk/client-dynamodb';
import {
  DescribeTableCommand,
  GetItemCommand,
  TransactGetItemsCommand,
  TransactionCanceledException,
  paginateQuery,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { AccountItems, AuditTables, PlainItem, RowKey, UserRows } from '../../audit/source.ts';
import { queryToTheEnd } from './query.ts';
import type { RawItem } from './raw-item.ts';
import type { TableNames } from './tables.ts';

export interface AuditSourceOptions {
  readonly client: DynamoDBClient;
  readonly tables: Pick<
    TableNames,
    'billing' | 'history' | 'pipeline' | 'floats' | 'collectionHistory' | 'recurring'
  >;
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
    const counts = await Promise.all(
      [tables.billing, tables.floats, tables.recurring].map(async (TableName) => {
        const { Table } = await client.send(new DescribeTableCommand({ TableName }));
        return Table?.ItemCount ?? 0;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** A scan gives a partition's items one after the other, so a user ends where the next begins. */
  async *users(): AsyncGenerator<UserRows> {
    for await (const { key: userId, items: rows } of this.partitions(this.options.tables.billing, 'user_id'))
      yield { userId, rows };
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

  async *floats(): AsyncGenerator<PlainItem> {
    for await (const item of this.scan(this.options.tables.floats)) yield plain(item);
  }

  floatOf(floatId: string): Promise<PlainItem | undefined> {
    return this.floatItem(floatKey(floatId));
  }

  openFloatsOf(userId: string): Promise<PlainItem | undefined> {
    return this.floatItem({ PK: { S: `USER#${userId}` } });
  }

  logOf(floatId: string): Promise<PlainItem[]> {
    const { collectionHistory } = this.options.tables;
    return this.query(collectionHistory, 'loan_id = :key', { ':key': { S: floatId } });
  }

  async *accounts(): AsyncGenerator<AccountItems> {
    for await (const { key, items } of this.partitions(this.options.tables.recurring, 'PK'))
      if (key.startsWith(ACCOUNT)) yield { accountId: key.slice(ACCOUNT.length), items };
  }

  itemsOfAccount(accountId: string): Promise<PlainItem[]> {
    return this.query(this.options.tables.recurring, 'PK = :key', {
      ':key': { S: `${ACCOUNT}${accountId}` },
    });
  }

  async dueSince(): Promise<{ readonly payments: string | null; readonly reminders: string | null }> {
    const since = async (list: string): Promise<string | null> => {
      const key = { ':key': { S: `DUE#${list}` } };
      const [mark] = await this.query(this.options.tables.recurring, 'PK = :key', key);
      return mark === undefined ? null : String(mark['Since']);
    };
    return { payments: await since('payments'), reminders: await since('reminders') };
  }

  async readTogether(keys: readonly RowKey[]): Promise<(PlainItem | undefined)[] | null> {
    const { client, tables } = this.options;
    const TransactItems = keys.map((key) => ({ Get: { TableName: tables[key.table], Key: keyOf(key) } }));
    try {
      const { Responses = [] } = await client.send(new TransactGetItemsCommand({ TransactItems }));
      return Responses.map(({ Item }) => (Item === undefined ? undefined : plain(Item)));
    } catch (error) {
      // A write of one of these items was under way.
      if (error instanceof TransactionCanceledException) return null;
      throw error;
    }
  }

  private async *partitions(
    table: string,
    partitionKey: string,
  ): AsyncGenerator<{ readonly key: string; readonly items: PlainItem[] }> {
    let items: PlainItem[] = [];
    let key: string | null = null;
    for await (const item of this.scan(table)) {
      const owner = item[partitionKey]?.S ?? '';
      if (key !== null && owner !== key) {
        yield { key, items };
        items = [];
      }
      key = owner;
      items.push(plain(item));
    }
    if (key !== null) yield { key, items };
  }

  private async *scan(table: string): AsyncGenerator<RawItem> {
    const { client, pageSize } = this.options;
    const input: ScanCommandInput = { TableName: table, ConsistentRead: true };
    for await (const { Items = [] } of paginateScan({ client, pageSize }, input)) yield* Items;
  }

  private async floatItem(Key: RawItem): Promise<PlainItem | undefined> {
    const { client, tables } = this.options;
    const { Item } = await client.send(
      new GetItemCommand({ TableName: tables.floats, Key, ConsistentRead: true }),
    );
    return Item === undefined ? undefined : plain(Item);
  }

  private async query(table: string, condition: string, values: RawItem): Promise<PlainItem[]> {
    const items = await queryToTheEnd(this.options.client, consistentQuery(table, condition, values));
    return items.map(plain);
  }
}

const ACCOUNT = 'ACC#';

function keyOf(key: RowKey): RawItem {
  switch (key.table) {
    case 'floats':
      return floatKey(key.floatId);
    case 'recurring':
      return { PK: { S: key.pk }, SK: { S: key.sk } };
    default:
      return { user_id: { S: key.userId }, [SORT_KEYS[key.table]]: { S: key.sortKey } };
  }
}

const floatKey = (floatId: string): RawItem => ({ PK: { S: `FLOAT#${floatId}` } });

const consistentQuery = (table: string, condition: string, values: RawItem): QueryCommandInput => ({
  TableName: table,
  ConsistentRead: true,
  KeyConditionExpression: condition,
  ExpressionAttributeValues: values,
});

/** Numbers of a newer Go service may be longer than JavaScript's; rounded, two that differ would look the same. */
const plain = (item: RawItem): PlainItem =>
  unmarshall(item, { wrapNumbers: (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text) });
