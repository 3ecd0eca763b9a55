import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import type { LockHolder, LockWatch } from '../../ports/lock.ts';
import type { Item } from './lock-row.ts';
import { attribute, keyOf, seenRow } from './lock-row.ts';

export interface LockWatchOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

/** Looks at a lock's row, of ours or of the Go service, and leaves it alone. */
export class DynamoLockWatch implements LockWatch {
  private readonly options: LockWatchOptions;

  constructor(options: LockWatchOptions) {
    this.options = options;
  }

  async holderOf(key: string): Promise<LockHolder | null> {
    const { client, table: TableName } = this.options;
    const { Item: row } = await client.send(
      new GetItemCommand({ TableName, Key: keyOf(key), ConsistentRead: true }),
    );
    if (row === undefined) return null;
    const { ownerName, isReleased } = seenRow(row);
    return isReleased ? null : { ownerName, since: sinceOf(row) };
  }
}

/** When it was acquired, in nanoseconds as text; another client may have put anything there. */
function sinceOf(row: Item): Instant | null {
  const text = new TextDecoder().decode(row[attribute.data]?.B);
  return /^\d{1,19}$/.test(text) ? (BigInt(text) as Instant) : null;
}
