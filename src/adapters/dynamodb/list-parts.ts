import type { DynamoDBClient, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { BadCursorError } from '../../errors.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import { partsOfList } from './item-codec.ts';
import { countOf, queryPage } from './query.ts';
import type { RawItem } from './raw-item.ts';

/** A page of a list that is spread over several partitions, one part after the other under one cursor. */
export async function pageOfParts(
  client: DynamoDBClient,
  list: string,
  key: PageKey | null,
  query: (part: string) => QueryCommandInput,
): Promise<{ items: RawItem[]; nextKey: PageKey | null }> {
  const parts = partsOfList(list);
  const { index, start } = key === null ? BEGINNING : placeIn(key);
  const { items, nextKey } = await queryPage(client, query(parts[index] ?? ''), start);
  if (nextKey !== null) return { items, nextKey: cursor(index, nextKey) };
  return { items, nextKey: index + 1 < parts.length ? cursor(index + 1, null) : null };
}

/** How many items all parts of a list hold. */
export async function countOfParts(
  client: DynamoDBClient,
  list: string,
  query: (part: string) => QueryCommandInput,
): Promise<number> {
  let count = 0;
  for (const part of partsOfList(list)) count += await countOf(client, query(part));
  return count;
}

const BEGINNING = { index: 0, start: null };

const place = z.tuple([z.int().nonnegative(), z.string().nullable()]);

function placeIn(key: PageKey): { index: number; start: PageKey | null } {
  try {
    const [index, start] = place.parse(JSON.parse(key));
    return { index, start: start as PageKey | null };
  } catch (error) {
    throw new BadCursorError('this is no cursor', { cause: error });
  }
}

const cursor = (index: number, start: PageKey | null): PageKey => JSON.stringify([index, start]) as PageKey;
