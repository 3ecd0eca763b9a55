import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { RawItem } from './raw-item.ts';

/** A condition with its placeholders, to be spread into a request. */
export interface Condition {
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: RawItem;
  readonly ReturnValuesOnConditionCheckFailure?: 'ALL_OLD';
}

/*
 * Every condition under which state changes, named once.
 *
 *   acquire ──── read ──── decide ──── write ──── release
 *      │           │                     │
 *      │           └ rowUnchanged: no other writer in between (the Go service, an account closed)
 *      └ lockStillMine: no other process took the lock over because we slept past our lease
 */

/** The row is new: this key was never written before. A history row is written once and never again. */
export const rowIsNew = (partitionKey: string): Condition => ({
  ConditionExpression: 'attribute_not_exists(#pk)',
  ExpressionAttributeNames: { '#pk': partitionKey },
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
});

/**
 * The billing row is the one that was read. Its texts are compared, not its instants: any writer gives a row a new
 * `last_run_date`, and the status is compared as well because the Go service's clock may stand still.
 */
export const rowUnchanged = (read: RawItem): Condition =>
  unchangedIn(read, ['last_run_date', 'billing_status']);

/** These attributes are as they were read: as texts, or not there. */
export const unchangedIn = (read: RawItem, names: readonly string[]): Condition => ({
  ConditionExpression: names.map((name) => sameAsRead(name, read)).join(' AND '),
  ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
  ExpressionAttributeValues: Object.fromEntries(
    names.flatMap((name) => (read[name] === undefined ? [] : [[`:${name}`, read[name]]])),
  ),
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
});

const sameAsRead = (name: string, read: RawItem): string =>
  read[name] === undefined ? `attribute_not_exists(#${name})` : `#${name} = :${name}`;

/** The lock is held, and by this acquisition: `ownerName` is never used twice. */
export const lockStillMine = (ownerName: string): Condition => ({
  ConditionExpression: '#ownerName = :me AND attribute_not_exists(#isReleased)',
  ExpressionAttributeNames: { '#ownerName': 'ownerName', '#isReleased': 'isReleased' },
  ExpressionAttributeValues: { ':me': { S: ownerName } },
});

/** False when a condition refused the write; any other failure is thrown. */
export async function unlessRefused(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (isRefused(error)) return false;
    throw error;
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof ConditionalCheckFailedException ||
  (error instanceof TransactionCanceledException &&
    (error.CancellationReasons ?? []).some(({ Code }) => Code === 'ConditionalCheckFailed'));
