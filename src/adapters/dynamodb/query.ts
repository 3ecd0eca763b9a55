import type { DynamoDBClient, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { QueryCommand, paginateQuery } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { BadCursorError } from '../../errors.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { RawItem } from './raw-item.ts';

/** Every item of a query, over as many pages as it takes. For one user's or one record's items, never for a table's. */
export async function queryToTheEnd(client: DynamoDBClient, input: QueryCommandInput): Promise<RawItem[]> {
  const items: RawItem[] = [];
  for await (const page of paginateQuery({ client }, input)) items.push(...(page.Items ?? []));
  return items;
}

/** How many items a query finds, without reading what is in them. */
export async function countOf(client: DynamoDBClient, input: QueryCommandInput): Promise<number> {
  let count = 0;
  for await (const page of paginateQuery({ client }, { ...input, Select: 'COUNT' })) count += page.Count ?? 0;
  return count;
}

/** One page, from a cursor that may have been outside of the house. */
export async function queryPage(
  client: DynamoDBClient,
  input: QueryCommandInput,
  key: PageKey | null,
): Promise<{ items: RawItem[]; nextKey: PageKey | null }> {
  const start = key === null ? {} : { ExclusiveStartKey: fromPageKey(key) };
  try {
    const { Items = [], LastEvaluatedKey } = await client.send(new QueryCommand({ ...input, ...start }));
    return { items: Items, nextKey: toPageKey(LastEvaluatedKey) };
  } catch (error) {
    const isOfAnotherList = key !== null && error instanceof Error && error.name === 'ValidationException';
    throw isOfAnotherList ? new BadCursorError('the cursor is of another list', { cause: error }) : error;
  }
}

/** Key attributes are text in all of our tables, so plain JSON holds a cursor. */
const toPageKey = (key: RawItem | undefined): PageKey | null =>
  key === undefined ? null : (Buffer.from(JSON.stringify(key)).toString('base64url') as PageKey);

const cursorKey = z.record(z.string(), z.strictObject({ S: z.string() }));

function fromPageKey(key: PageKey): RawItem {
  try {
    return cursorKey.parse(JSON.parse(Buffer.from(key, 'base64url').toString('utf8')));
  } catch (error) {
    throw new BadCursorError('this is no cursor', { cause: error });
  }
}
