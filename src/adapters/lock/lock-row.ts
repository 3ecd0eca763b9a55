import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import { formatGoDuration, parseGoDuration } from './go-duration.ts';

/** Attribute names as `cirello.io/dynamolock/v2` writes them, and the two that our billing services add. */
export const attribute = {
  key: 'PartitionKey',
  ownerName: 'ownerName',
  leaseDuration: 'leaseDuration',
  version: 'recordVersionNumber',
  data: 'data',
  isReleased: 'isReleased',
  /** Same text as `ownerName`, for people and tools that look for it. Never decided on. */
  owner: 'owner',
  /** TTL. Go copies attributes that it does not know into its own row, so a released row must not carry it. */
  deleteOn: 'deleteOn',
} as const;

export const RELEASED = '1';

/** What this client decides on when it looks at a row, of ours or of the Go service. */
export interface SeenRow {
  readonly ownerName: string;
  readonly version: string;
  /** Null when the text is no duration or not a positive one: the row still has an owner. */
  readonly leaseMs: number | null;
  readonly isReleased: boolean;
}

export interface NewRow {
  readonly key: string;
  readonly ownerName: string;
  readonly version: string;
  readonly leaseMs: number;
  readonly acquiredAt: Instant;
  readonly deleteOnSeconds: number;
}

export type Item = Record<string, AttributeValue>;

export const keyOf = (key: string): Item => ({ [attribute.key]: { S: key } });

export const newItem = (row: NewRow): Item => ({
  ...keyOf(row.key),
  [attribute.ownerName]: { S: row.ownerName },
  [attribute.owner]: { S: row.ownerName },
  [attribute.leaseDuration]: { S: formatGoDuration(row.leaseMs) },
  [attribute.version]: { S: row.version },
  [attribute.data]: { B: new TextEncoder().encode(row.acquiredAt.toString()) },
  [attribute.deleteOn]: { N: String(row.deleteOnSeconds) },
});

/** Never throws: a row that cannot be understood is a row that is held. */
export function seenRow(item: Item): SeenRow {
  const leaseMs = parseGoDuration(item[attribute.leaseDuration]?.S ?? '');
  return {
    ownerName: item[attribute.ownerName]?.S ?? '',
    version: item[attribute.version]?.S ?? '',
    leaseMs: leaseMs !== null && leaseMs > 0 ? leaseMs : null,
    isReleased: item[attribute.isReleased]?.S === RELEASED,
  };
}
