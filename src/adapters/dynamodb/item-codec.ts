import { createHash } from 'node:crypto';
import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { AttemptId } from '../../domain/attempt.ts';
import type { Instant } from '../../domain/instant.ts';
import { msOf, sortableText } from '../../domain/instant.ts';
import type { SubscriptionId, UserId } from '../../domain/subscription.ts';
import type { RawItem } from './raw-item.ts';
import { keyText } from './raw-item.ts';
import { readRow } from './read-rows.ts';

/*
 * How items of the pipeline table are written and read back with a check, and how they get into lists.
 */

export type PipelineKey = { readonly pk: string; readonly sk: string };

/** Lists are spread over so many parts, so that one busy list is not one busy partition. */
const PARTS = 8;

export const subscriptionId = z.custom<SubscriptionId>((value) => typeof value === 'string');
export const userId = z.custom<UserId>((value) => typeof value === 'string');
export const attemptId = z.custom<AttemptId>((value) => typeof value === 'string');

/** An entry in a list of things to look at, and when. Sparse: an item without it is in no list. */
export interface Due {
  readonly list: string;
  readonly at: Instant;
}

export const dueAttributes = (id: string, due: Due | null) =>
  due === null ? {} : { dueList: partOf(due.list, id), dueAt: sortableText(due.at) };

/** What TTL goes by. */
export const ttlSeconds = (at: Instant): number => Math.floor(msOf(at) / 1_000);

/** All parts of a list, or of a trigger's verdicts. */
export const partsOfList = (list: string): string[] =>
  Array.from({ length: PARTS }, (_, part) => `${list}#${part}`);

export const partOf = (list: string, id: string): string =>
  `${list}#${createHash('sha256').update(id).digest().readUInt8(0) % PARTS}`;

export function read<T>(schema: z.ZodType<T>, item: RawItem): T {
  const key = keyText(item, 'pk', 'sk');
  return readRow(schema, item, {
    name: `pipeline item ${key}`,
    userId: item['userId']?.S ?? '?',
    subscriptionId: item['subscriptionId']?.S ?? key,
  });
}

export const write = <S extends z.ZodType>(schema: S, content: z.output<S>, key: object): RawItem =>
  marshall({ ...(z.encode(schema, content) as object), ...key }, { removeUndefinedValues: true });
