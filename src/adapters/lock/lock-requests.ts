import {
  ConditionalCheckFailedException,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
  type DynamoDBClient,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { Timer } from '../../ports/timer.ts';
import { inTime } from '../in-time.ts';
import { formatGoDuration } from './go-duration.ts';
import type { Condition } from './lock-conditions.ts';
import {
  attribute,
  keyOf,
  newItem,
  RELEASED,
  seenRow,
  type Item,
  type NewRow,
  type SeenRow,
} from './lock-row.ts';

/**
 * What is known after a conditional write. `unclear` is every error but a refusal, throttling included: the SDK may
 * have sent the request several times, and an earlier one may have been applied.
 *
 * An unclear write is cleared up by sending it again, the very same one: where it had been applied, the repetition is
 * refused and shows our own row.
 */
export type Answer =
  | { readonly kind: 'written' }
  | { readonly kind: 'refused'; readonly row: SeenRow | null }
  | { readonly kind: 'unclear'; readonly error: Error };

export interface Renewal {
  readonly version: string;
  readonly leaseMs: number;
  readonly deleteOnSeconds: number;
}

/** The requests that the lock sends, each with a time limit of its own: a hung one must not use up the lease. */
export class LockRequests {
  readonly #client: DynamoDBClient;
  readonly #table: string;
  readonly #timer: Timer;
  readonly #timeoutMs: number;

  constructor(client: DynamoDBClient, table: string, timer: Timer, timeoutMs: number) {
    this.#client = client;
    this.#table = table;
    this.#timer = timer;
    this.#timeoutMs = timeoutMs;
  }

  async read(key: string): Promise<SeenRow | null> {
    const command = new GetItemCommand({ TableName: this.#table, Key: keyOf(key), ConsistentRead: true });
    const { Item: item } = await this.#inTime((abortSignal) => this.#client.send(command, { abortSignal }));
    return item === undefined ? null : seenRow(item);
  }

  /** Replaces the whole row: whatever an earlier holder left in it is gone, `isReleased` first of all. */
  put(row: NewRow, condition: Condition): Promise<Answer> {
    const command = new PutItemCommand({
      TableName: this.#table,
      Item: newItem(row),
      ...conditionInput(condition),
    });
    return this.#write(row.key, (abortSignal) => this.#client.send(command, { abortSignal }));
  }

  renew(key: string, condition: Condition, renewal: Renewal): Promise<Answer> {
    return this.#update(key, condition, {
      UpdateExpression: 'SET #version = :next, #leaseDuration = :lease, #deleteOn = :deleteOn',
      ExpressionAttributeNames: {
        '#version': attribute.version,
        '#leaseDuration': attribute.leaseDuration,
        '#deleteOn': attribute.deleteOn,
      },
      ExpressionAttributeValues: {
        ':next': { S: renewal.version },
        ':lease': { S: formatGoDuration(renewal.leaseMs) },
        ':deleteOn': { N: String(renewal.deleteOnSeconds) },
      },
    });
  }

  /**
   * The version changes too, which dynamolock does not do and does not mind: a heartbeat that is still on its way finds
   * its version gone, instead of putting `deleteOn` back into a row that Go will copy.
   */
  release(key: string, condition: Condition, version: string): Promise<Answer> {
    return this.#update(key, condition, {
      UpdateExpression: 'SET #isReleased = :released, #version = :next REMOVE #deleteOn, #owner',
      ExpressionAttributeNames: {
        '#version': attribute.version,
        '#isReleased': attribute.isReleased,
        '#deleteOn': attribute.deleteOn,
        '#owner': attribute.owner,
      },
      ExpressionAttributeValues: { ':released': { S: RELEASED }, ':next': { S: version } },
    });
  }

  #update(
    key: string,
    condition: Condition,
    change: Omit<UpdateItemCommandInput, 'TableName' | 'Key'>,
  ): Promise<Answer> {
    const guard = conditionInput(condition);
    const command = new UpdateItemCommand({
      TableName: this.#table,
      Key: keyOf(key),
      ...guard,
      ...change,
      ExpressionAttributeNames: { ...guard.ExpressionAttributeNames, ...change.ExpressionAttributeNames },
      ExpressionAttributeValues: { ...guard.ExpressionAttributeValues, ...change.ExpressionAttributeValues },
    });
    return this.#write(key, (abortSignal) => this.#client.send(command, { abortSignal }));
  }

  async #write(key: string, send: (abortSignal: AbortSignal) => Promise<unknown>): Promise<Answer> {
    try {
      await this.#inTime(send);
      return { kind: 'written' };
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return this.#refusal(key, error.Item);
      return { kind: 'unclear', error: asError(error) };
    }
  }

  /** The refusal shows the row that refused, unless there is none. */
  async #refusal(key: string, item: Item | undefined): Promise<Answer> {
    if (item !== undefined) return { kind: 'refused', row: seenRow(item) };
    try {
      return { kind: 'refused', row: await this.read(key) };
    } catch (error) {
      return { kind: 'unclear', error: asError(error) };
    }
  }

  #inTime<T>(send: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    return inTime(this.#timer, this.#timeoutMs, send);
  }
}

const conditionInput = (condition: Condition) => ({
  ConditionExpression: condition.expression,
  ExpressionAttributeNames: condition.names,
  ExpressionAttributeValues: condition.values,
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
});

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('DynamoDB request failed', { cause: error });
