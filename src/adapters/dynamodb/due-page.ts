import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import { sortableText } from '../../domain/instant.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import { pageOfParts } from './list-parts.ts';
import { DUE_LIST_INDEX } from './pipeline-items.ts';
import { queryPage } from './query.ts';
import type { RawItem } from './raw-item.ts';
import { readRows } from './read-rows.ts';

const PAGE_SIZE = 100;

export interface DuePage<T> {
  readonly found: readonly T[];
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

/** What a list holds that is due. One item that cannot be read must not hide the others. */
export async function duePage<T>(
  { client, table }: { readonly client: DynamoDBClient; readonly table: string },
  { list, asOf, key }: { readonly list: string; readonly asOf: Instant; readonly key: PageKey | null },
  read: (item: RawItem) => T,
): Promise<DuePage<T>> {
  const page = await pageOfParts(client, list, key, (part) => ({
    TableName: table,
    IndexName: DUE_LIST_INDEX,
    KeyConditionExpression: 'dueList = :part AND dueAt <= :now',
    ExpressionAttributeValues: { ':part': { S: part }, ':now': { S: sortableText(asOf) } },
    Limit: PAGE_SIZE,
  }));
  const { found, malformed: unreadable } = readRows(page.items, read);
  return { found, unreadable, nextKey: page.nextKey };
}

/** One list that is not spread over parts, because it is short or is read in its order. */
export async function listPage<T>(
  { client, table }: { readonly client: DynamoDBClient; readonly table: string },
  {
    list,
    key,
    newestFirst = false,
  }: { readonly list: string; readonly key: PageKey | null; readonly newestFirst?: boolean },
  read: (item: RawItem) => T,
): Promise<DuePage<T>> {
  const { items, nextKey } = await queryPage(
    client,
    {
      TableName: table,
      IndexName: DUE_LIST_INDEX,
      KeyConditionExpression: 'dueList = :list',
      ExpressionAttributeValues: { ':list': { S: list } },
      ScanIndexForward: !newestFirst,
      Limit: PAGE_SIZE,
    },
    key,
  );
  const { found, malformed: unreadable } = readRows(items, read);
  return { found, unreadable, nextKey };
}
