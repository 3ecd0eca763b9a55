import type {
  AttributeValue,
  CancellationReason,
  DynamoDBClient,
  TransactWriteItem,
} from '@aws-sdk/client-dynamodb';
import {
  GetItemCommand,
  TransactWriteItemsCommand,
  TransactionCanceledException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import type { CollectionsError } from '../../errors.ts';
import { LockLostError, WriteUnknownError } from '../../errors.ts';
import type { Fence } from '../../ports/lock.ts';
import type { Timer } from '../../ports/timer.ts';
import type { Authority, Write } from '../../ports/transaction.ts';
import { lockStillMine } from './conditions.ts';
import type { RawItem } from './raw-item.ts';

/** An item of a transaction, and what it means when its condition does not hold. */
export interface DynamoWrite {
  readonly item: TransactWriteItem;
  readonly refused: (found: RawItem | null) => CollectionsError;
}

export const asWrite = (write: DynamoWrite): Write => write as unknown as Write;
export const fromWrite = (write: Write): DynamoWrite => write as unknown as DynamoWrite;

/** Where to look whether this very transaction was made: an item that it puts, with its token in an attribute. */
export interface Evidence {
  readonly table: string;
  readonly key: RawItem;
  readonly attribute: string;
}

export interface Transaction {
  readonly authority: Authority;
  readonly writes: readonly DynamoWrite[];
  /** Names the transaction: sent again with the same token it is the same one. */
  readonly token: string;
  readonly evidence: Evidence;
}

export interface TransactorOptions {
  readonly client: DynamoDBClient;
  readonly locksTable: string;
  readonly timer: Timer;
  /** Between 0 and 1, for the jitter. */
  readonly random: () => number;
}

/** DynamoDB takes at most this many items in one transaction. */
export const MAX_TRANSACTION_ITEMS = 100;

const MAX_TRIES = 8;
const BACKOFF_MS = 25;
const BACKOFF_MAX_MS = 1_000;

/** Reasons that pass: another request touched an item at that moment, or the table is short of capacity. */
const PASSING = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/**
 * The one way in which state changes: everything or nothing, and only while the lock is still ours.
 *
 *   read (under the lock) ── decide ── commit ─────────────────────► applied
 *                                        │ answer lost, conflict, throttled: the same token again
 *                                        │ a condition failed: is the evidence there? then it was our own earlier try
 *                                        └ otherwise nothing was written, and the error says which condition failed
 */
export class Transactor {
  private readonly options: TransactorOptions;

  constructor(options: TransactorOptions) {
    this.options = options;
  }

  async commit(transaction: Transaction): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const failure = await this.send(transaction);
      if (failure === null) return;
      if (failure.final !== null || tries === MAX_TRIES) return this.settle(transaction, failure);
      await this.options.timer.sleep(this.backoffMs(tries));
    }
  }

  /** Null when it was made; otherwise why not, and whether asking again can help. */
  private async send(transaction: Transaction): Promise<Failure | null> {
    const { authority } = transaction;
    try {
      if (authority === 'unlocked') await this.transact(transaction);
      else await authority.exclusively(() => this.transact(transaction));
      return null;
    } catch (error) {
      return { final: this.finalError(error, transaction), cause: error };
    }
  }

  private async transact({ authority, writes, token }: Transaction): Promise<void> {
    const fence = authority === 'unlocked' ? [] : [this.fenceItem(authority)];
    await this.options.client.send(
      new TransactWriteItemsCommand({
        TransactItems: [...fence, ...writes.map(({ item }) => item)],
        ClientRequestToken: token,
      }),
    );
  }

  /** The lock row is checked in the same breath as the change is made: a worker that lost it cannot write. */
  private fenceItem(fence: Fence): TransactWriteItem {
    return {
      ConditionCheck: {
        TableName: this.options.locksTable,
        Key: { PartitionKey: { S: fence.key } },
        ...lockStillMine(fence.ownerName),
      },
    };
  }

  private finalError(error: unknown, transaction: Transaction): Error | null {
    if (error instanceof LockLostError) return error;
    if (error instanceof TransactionCanceledException) return refusal(error, transaction);
    if (error instanceof TransactionInProgressException) return null;
    return isPassing(error) ? null : (error as Error);
  }

  /** No more tries. What failed may have been the repetition of a try that was made and whose answer was lost. */
  private async settle(transaction: Transaction, { final, cause }: Failure): Promise<void> {
    const applied = await this.wasApplied(transaction);
    if (applied === true) return;
    if (final !== null && applied === false) throw final;
    throw new WriteUnknownError('the store did not answer; the write may still be made', { cause });
  }

  private async wasApplied({ evidence, token }: Transaction): Promise<boolean | 'nobody-answers'> {
    try {
      const { Item } = await this.options.client.send(
        new GetItemCommand({ TableName: evidence.table, Key: evidence.key, ConsistentRead: true }),
      );
      return Item?.[evidence.attribute]?.S === token;
    } catch {
      return 'nobody-answers';
    }
  }

  private backoffMs(tries: number): number {
    return this.options.random() * Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** tries);
  }
}

interface Failure {
  /** What to throw at once; null when the same transaction may be sent again. */
  readonly final: Error | null;
  readonly cause: unknown;
}

/** Which condition failed. Null when the reasons pass and the same transaction may be sent again. */
function refusal(error: TransactionCanceledException, { authority, writes }: Transaction): Error | null {
  const reasons = error.CancellationReasons ?? [];
  const failed = reasons.findIndex(({ Code }) => Code === 'ConditionalCheckFailed');
  if (failed === -1) return reasons.some(({ Code }) => PASSING.has(Code ?? '')) ? null : error;
  const offset = authority === 'unlocked' ? 0 : 1;
  if (failed < offset) return new LockLostError('the lock belongs to somebody else now', { cause: error });
  return writes[failed - offset]?.refused(foundItem(reasons[failed])) ?? error;
}

const foundItem = (reason: CancellationReason | undefined): Record<string, AttributeValue> | null =>
  reason?.Item ?? null;

/** A lost answer, a throttled request, a server that failed: the SDK gave up, but nobody said no. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { $fault, $retryable, $metadata } = error as Error & {
    $fault?: string;
    $retryable?: object;
    $metadata?: { httpStatusCode?: number };
  };
  if ($retryable !== undefined || $fault === 'server') return true;
  if (($metadata?.httpStatusCode ?? 0) >= 500) return true;
  return /timeout|throttl|ThroughputExceeded|RequestLimitExceeded|ECONN|EPIPE|socket/i.test(
    `${error.name} ${error.message}`,
  );
}
