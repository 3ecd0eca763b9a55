import type { DynamoDBClient, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import type { PageKey } from '../../ports/subscriptions.ts';
import { partsOfList } from './item-codec.ts';
import { queryPage } from './query.ts';
import type { RawItem } from './raw-item.ts';

/** A page of a list that is spread over several partitions, one part after the other under one cursor. */
export async function pageOfParts(
  client: DynamoDBClient,
  list: string,
  key: PageKey | null,
  query: (part: string) => QueryCommandInput,
): Promise<{ items: RawItem[]; nextKey: PageKey | null }> {
  const parts = partsOfList(list);
  const [index, start] = key === null ? [0, null] : (JSON.parse(key) as [number, PageKey | null]);
  const { items, nextKey } = await queryPage(client, query(parts[index] ?? ''), start);
  if (nextKey !== null) return { items, nextKey: cursor(index, nextKey) };
  return { items, nextKey: index + 1 < parts.length ? cursor(index + 1, null) : null };
}

const cursor = (index: number, start: PageKey | null): PageKey => JSON.stringify([index, start]) as PageKey;
