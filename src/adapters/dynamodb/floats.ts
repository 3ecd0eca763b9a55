import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { FloatRange } from '../../domain/floats/due.ts';
import type { Float, FloatId, FloatStatus, LogEntry } from '../../domain/floats/float.ts';
import { isOpenFloat } from '../../domain/floats/float.ts';
import type { FloatChange } from '../../domain/floats/outcomes.ts';
import { isLegalForFloat } from '../../domain/floats/transitions.ts';
import type { UserId } from '../../domain/subscription.ts';
import { IllegalTransitionError, OpenFloatError, RecordChangedError } from '../../errors.ts';
import type { CollectionHistory, FloatPage, FloatsRepository } from '../../ports/floats.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { Authority, Write } from '../../ports/transaction.ts';
import type { Condition } from './conditions.ts';
import { rowIsNew } from './conditions.ts';
import { floatKeys, readFloat, readLogEntry, writeFloat, writeLogEntry } from './float-items.ts';
import { queryPage, queryToTheEnd } from './query.ts';
import type { RawItem } from './raw-item.ts';
import { readRows } from './read-rows.ts';
import type { DynamoWrite, Transactor } from './transaction.ts';
import { fromWrite, unconditional } from './transaction.ts';

export const FLOATS_BY_USER = 'user_id-created_at-index';
export const FLOATS_BY_STATUS = 'status-due_date-index';

/** Dates sort as text. */
const FIRST_DAY = '0000-00-00';
const LAST_DAY = '9999-99-99';

export interface FloatsOptions {
  readonly client: DynamoDBClient;
  readonly transactor: Transactor;
  readonly floatsTable: string;
  readonly collectionHistoryTable: string;
  readonly pageSize: number;
  /** Names transactions. Must never repeat. */
  readonly ids: () => string;
}

export class DynamoFloats implements FloatsRepository, CollectionHistory {
  private readonly options: FloatsOptions;

  constructor(options: FloatsOptions) {
    this.options = options;
  }

  async get(floatId: FloatId): Promise<Float | null> {
    const item = await this.item(floatKeys.float(floatId));
    return item === undefined ? null : readFloat(item);
  }

  async listByUserID(userId: UserId): Promise<FloatPage> {
    const items = await queryToTheEnd(this.options.client, {
      TableName: this.options.floatsTable,
      IndexName: FLOATS_BY_USER,
      KeyConditionExpression: 'user_id = :user',
      ExpressionAttributeValues: { ':user': { S: userId } },
      ScanIndexForward: false,
    });
    return pageOf(items, null);
  }

  async openOf(userId: UserId): Promise<readonly FloatId[]> {
    const item = await this.item(floatKeys.openOf(userId));
    return (item?.['open_floats']?.SS ?? []) as FloatId[];
  }

  async due({ status, from, to }: FloatRange, key: PageKey | null): Promise<FloatPage> {
    const { items, nextKey } = await queryPage(
      this.options.client,
      {
        TableName: this.options.floatsTable,
        IndexName: FLOATS_BY_STATUS,
        KeyConditionExpression: '#status = :status AND due_date BETWEEN :from AND :to',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: {
          ':status': { S: status },
          ':from': { S: from ?? FIRST_DAY },
          ':to': { S: to ?? LAST_DAY },
        },
        Limit: this.options.pageSize,
      },
      key,
    );
    return pageOf(items, nextKey);
  }

  async newest(status: FloatStatus, most: number): Promise<FloatPage> {
    const { items } = await queryPage(
      this.options.client,
      {
        TableName: this.options.floatsTable,
        IndexName: FLOATS_BY_STATUS,
        KeyConditionExpression: '#status = :status',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':status': { S: status } },
        ScanIndexForward: false,
        Limit: most,
      },
      null,
    );
    return pageOf(items, null);
  }

  async create(authority: Authority, float: Float): Promise<void> {
    const changeId = this.options.ids();
    const writes = [
      this.put(float, changeId, rowIsNew('PK'), () => new RecordChangedError('there is a float of this id')),
      this.joinsOpen(float, HAS_NONE_OPEN),
    ];
    await this.commit(authority, float, changeId, writes);
  }

  async save(
    authority: Authority,
    before: Float,
    { float, cause, entry }: FloatChange,
    also: readonly Write[] = [],
  ): Promise<void> {
    if (!isLegalForFloat(before.status, float.status, cause))
      throw new IllegalTransitionError(
        `float ${float.floatId} does not go from ${before.status} to ${float.status} because of ${cause}`,
      );
    const changeId = this.options.ids();
    const changed = () => new RecordChangedError(`float ${float.floatId} was changed meanwhile`);
    const writes = [
      this.put(float, changeId, isAsRead(before), changed),
      ...(entry === null ? [] : [this.log(writeLogEntry(entry))]),
      ...this.openOrNot(before, float),
      ...also.map(fromWrite),
    ];
    await this.commit(authority, float, changeId, writes);
  }

  async getByFloatID(floatId: FloatId): Promise<LogEntry[]> {
    const items = await queryToTheEnd(this.options.client, {
      TableName: this.options.collectionHistoryTable,
      KeyConditionExpression: 'loan_id = :id',
      ExpressionAttributeValues: { ':id': { S: floatId } },
      ConsistentRead: true,
    });
    return items.map(readLogEntry);
  }

  private commit(
    authority: Authority,
    { floatId }: Float,
    token: string,
    writes: DynamoWrite[],
  ): Promise<void> {
    const key = marshall(floatKeys.float(floatId));
    const evidence = { table: this.options.floatsTable, key, attribute: 'change_id' };
    return this.options.transactor.commit({ authority, writes, token, evidence });
  }

  private put(
    float: Float,
    changeId: string,
    condition: Condition,
    refused: DynamoWrite['refused'],
  ): DynamoWrite {
    const Item = writeFloat(float, changeId);
    return { item: { Put: { TableName: this.options.floatsTable, Item, ...condition } }, refused };
  }

  /** A row of the log is written once and never again. */
  private log(Item: RawItem): DynamoWrite {
    const { collectionHistoryTable: TableName } = this.options;
    return {
      item: { Put: { TableName, Item, ...rowIsNew('loan_id') } },
      refused: () => new RecordChangedError('an attempt of this very moment is in the log'),
    };
  }

  private openOrNot(before: Float, after: Float): DynamoWrite[] {
    const [was, is] = [isOpenFloat(before.status), isOpenFloat(after.status)];
    if (was === is) return [];
    if (is) return [this.joinsOpen(after, null)];
    return [fromWrite(unconditional({ Update: this.openUpdate(after, 'DELETE') }))];
  }

  /** One that the bank takes back is open again beside another that was made meanwhile; a new one is not. */
  private joinsOpen(float: Float, condition: Condition | null): DynamoWrite {
    const Update = { ...this.openUpdate(float, 'ADD'), ...(condition ?? {}) };
    return {
      item: { Update },
      refused: () => new OpenFloatError('the member has a float that is not paid back'),
    };
  }

  private openUpdate(
    { userId, floatId }: Float,
    change: 'ADD' | 'DELETE',
  ): NonNullable<TransactWriteItem['Update']> {
    return {
      TableName: this.options.floatsTable,
      Key: marshall(floatKeys.openOf(userId)),
      UpdateExpression: `${change} open_floats :id`,
      ExpressionAttributeValues: { ':id': { SS: [floatId] } },
    };
  }

  private async item(key: { readonly PK: string }): Promise<RawItem | undefined> {
    const { Item } = await this.options.client.send(
      new GetItemCommand({ TableName: this.options.floatsTable, Key: marshall(key), ConsistentRead: true }),
    );
    return Item;
  }
}

const HAS_NONE_OPEN: Condition = { ConditionExpression: 'attribute_not_exists(open_floats)' };

/** No two changes of a float have the same stamp. */
const isAsRead = ({ lastRunTime }: Float): Condition => ({
  ConditionExpression: 'last_run_time = :read',
  ExpressionAttributeValues: { ':read': { N: String(lastRunTime) } },
});

function pageOf(items: readonly RawItem[], nextKey: PageKey | null): FloatPage {
  const { found: floats, malformed } = readRows(items, readFloat);
  return { floats, malformed, nextKey };
}
