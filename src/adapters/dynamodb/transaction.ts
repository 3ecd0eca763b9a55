import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import {
  GetItemCommand,
  TransactWriteItemsCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import type { CollectionsError } from '../../errors.ts';
import { LockLostError, WriteUnknownError } from '../../errors.ts';
import type { Fence } from '../../ports/lock.ts';
import type { Timer } from '../../ports/timer.ts';
import type { Authority, Write } from '../../ports/transaction.ts';
import { inTime } from '../in-time.ts';
import { lockStillMine } from './conditions.ts';
import type { RawItem } from './raw-item.ts';

/** An item of a transaction, and what it means when its condition does not hold. */
export interface DynamoWrite {
  readonly item: TransactWriteItem;
  readonly refused: (found: RawItem | null) => CollectionsError;
}

export const asWrite = (write: DynamoWrite): Write => write as unknown as Write;
/** Nothing about this item can stand against the change that it goes along with. */
export const unconditional = (item: TransactWriteItem): Write =>
  asWrite({ item, refused: () => new Error('an item without a condition was refused') as never });

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

/** One try, with the SDK's own repetitions: heartbeats wait meanwhile, so a hung request must not use up the lease. */
const TRY_MS = 5_000;

/** Reasons that pass and that say that nothing was written. */
const BUSY = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/**
 * The one way in which state changes: everything or nothing, and only while the lock is still ours.
 *
 *   read (under the lock) ── decide ── commit ─────────────────────► applied
 *                                        │ answer lost, conflict, throttled: the same token again
 *                                        │ a condition failed: is the evidence there? then it was our own earlier try
 *                                        └ otherwise the error says which condition failed, or that it is unknown
 */
export class Transactor {
  private readonly options: TransactorOptions;

  constructor(options: TransactorOptions) {
    this.options = options;
  }

  async commit(transaction: Transaction): Promise<void> {
    if (transaction.writes.length >= MAX_TRANSACTION_ITEMS)
      throw new Error('too many items for one transaction');
    let unclear = false;
    for (let tries = 1; ; tries += 1) {
      const failure = await this.send(transaction);
      if (failure === null) return;
      unclear ||= failure.kind === 'unclear';
      const mayPass = failure.kind === 'busy' || failure.kind === 'unclear';
      if (!mayPass || tries === MAX_TRIES) return this.settle(transaction, failure, unclear);
      await this.options.timer.sleep(this.backoffMs(tries));
    }
  }

  /** Null when it was made. */
  private async send(transaction: Transaction): Promise<Failure | null> {
    const { authority } = transaction;
    try {
      if (authority === 'unlocked') await this.transact(transaction);
      else await authority.exclusively(() => this.transact(transaction));
      return null;
    } catch (error) {
      return failureOf(error as Error, transaction);
    }
  }

  private async transact({ authority, writes, token }: Transaction): Promise<void> {
    const fence = authority === 'unlocked' ? [] : [this.fenceItem(authority)];
    const { client, timer } = this.options;
    const command = new TransactWriteItemsCommand({
      TransactItems: [...fence, ...writes.map(({ item }) => item)],
      ClientRequestToken: token,
    });
    await inTime(timer, TRY_MS, (abortSignal) => client.send(command, { abortSignal }));
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

  /**
   * No more tries. What was refused may have been the repetition of a try that was made and whose answer was lost; and a
   * try without an answer may still be on its way, unless the store itself says what stands against it.
   */
  private async settle(transaction: Transaction, { kind, error }: Failure, unclear: boolean): Promise<void> {
    const applied = await this.wasApplied(transaction);
    if (applied === true) return;
    if (applied === false && (kind === 'refused' || !unclear)) throw error;
    throw new WriteUnknownError('nobody can say whether the write was made, or still will be', {
      cause: error,
    });
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

/** What the store throws when it, or the way to it, fails for a while: nothing is wrong with what was asked. */
export const isPassing = (error: Error): boolean =>
  error instanceof TransactionConflictException || isBusy(error) || isUnclear(error);

interface Failure {
  /**
   * `refused` by a condition; `busy`, nothing was written but the same may pass later; `unclear`, the answer was lost;
   * `lost`, the holder knows that its lock is gone; `wrong`, the request itself.
   */
  readonly kind: 'refused' | 'busy' | 'unclear' | 'lost' | 'wrong';
  readonly error: Error;
}

function failureOf(error: Error, transaction: Transaction): Failure {
  if (error instanceof LockLostError) return { kind: 'lost', error };
  if (error instanceof TransactionCanceledException) return cancellation(error, transaction);
  if (isBusy(error)) return { kind: 'busy', error };
  return { kind: isUnclear(error) ? 'unclear' : 'wrong', error };
}

/** Which condition failed, if one did. */
function cancellation(error: TransactionCanceledException, { authority, writes }: Transaction): Failure {
  const reasons = error.CancellationReasons ?? [];
  const failed = reasons.findIndex(({ Code }) => Code === 'ConditionalCheckFailed');
  if (failed === -1) return { kind: isBusy(error) ? 'busy' : 'wrong', error };
  const offset = authority === 'unlocked' ? 0 : 1;
  if (failed < offset) {
    return {
      kind: 'refused',
      error: new LockLostError('the lock belongs to somebody else now', { cause: error }),
    };
  }
  const found = reasons[failed]?.Item ?? null;
  return { kind: 'refused', error: writes[failed - offset]?.refused(found) ?? error };
}

function isBusy(error: Error): boolean {
  if (error instanceof TransactionCanceledException)
    return error.CancellationReasons?.some(({ Code }) => BUSY.has(Code ?? '')) ?? false;
  return (
    error instanceof TransactionInProgressException ||
    /throttl|ThroughputExceeded|RequestLimitExceeded/i.test(error.name)
  );
}

/** The server failed, or no answer came: a time-out, a connection that broke. The store did not say no. */
function isUnclear(error: Error): boolean {
  const { $fault, $metadata, code } = error as Error & {
    $fault?: string;
    $metadata?: { httpStatusCode?: number };
    code?: string;
  };
  if ($fault === 'server' || ($metadata?.httpStatusCode ?? 0) >= 500) return true;
  // Not by the message: it may quote what was sent.
  return (
    $metadata?.httpStatusCode === undefined &&
    /timeout|abort|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|UNREACH/i.test(`${error.name} ${code}`)
  );
}
