import type { DynamoDBClient, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { paginateQuery } from '@aws-sdk/client-dynamodb';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { RawItem } from './raw-item.ts';

/** Every item of a query, over as many pages as it takes. For one user's or one record's items, never for a table's. */
export async function queryToTheEnd(client: DynamoDBClient, input: QueryCommandInput): Promise<RawItem[]> {
  const items: RawItem[] = [];
  for await (const page of paginateQuery({ client }, input)) items.push(...(page.Items ?? []));
  return items;
}

/** Key attributes are text in all of our tables, so plain JSON holds a cursor. */
export const toPageKey = (key: RawItem | undefined): PageKey | null =>
  key === undefined ? null : (Buffer.from(JSON.stringify(key)).toString('base64url') as PageKey);

export const fromPageKey = (key: PageKey): RawItem =>
  JSON.parse(Buffer.from(key, 'base64url').toString('utf8')) as RawItem;
