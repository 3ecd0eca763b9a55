import type { DynamoDBClient, WriteRequest } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { firstLook } from '../../domain/ach/settlement.ts';
import type { PastAttempt } from '../../domain/attempt.ts';
import type { Float, LogEntry } from '../../domain/floats/float.ts';
import { isOpenFloat } from '../../domain/floats/float.ts';
import { recordIdOf } from '../../domain/floats/record-id.ts';
import type { RecurringChange } from '../../domain/recurring/outcomes.ts';
import { recurringRecordId } from '../../domain/recurring/record-id.ts';
import type { NewReceipt, RecurringSubscription } from '../../domain/recurring/recurring.ts';
import { compareInstants } from '../../domain/instant.ts';
import type { Subscription } from '../../domain/subscription.ts';
import type { AttemptRecord } from '../../ports/pipeline.ts';
import type { Timer } from '../../ports/timer.ts';
import { writeWatch } from './ach-watch-items.ts';
import { floatKeys, writeFloat, writeLogEntry } from './float-items.ts';
import { items } from './pipeline-items.ts';
import type { RawItem } from './raw-item.ts';
import { recurringKeys, writeChange, writeReceipt, writeRecurring } from './recurring-items.ts';
import { withData, writeSubscription } from './subscription-codec.ts';

export interface SeederOptions {
  readonly client: DynamoDBClient;
  readonly billingTable: string;
  readonly historyTable: string;
  readonly pipelineTable: string;
  readonly floatsTable: string;
  readonly collectionHistoryTable: string;
  readonly recurringTable: string;
  readonly timer: Timer;
  readonly random: () => number;
}

/** What a member has, as it was made up. */
export interface MadeUpMember {
  readonly records: readonly Subscription[];
  readonly floats: readonly MadeUpFloat[];
  readonly recurring: readonly MadeUpRecurring[];
}

export interface MadeUpFloat {
  readonly float: Float;
  readonly log: readonly LogEntry[];
  /** All of them answered. */
  readonly attempts: readonly AttemptRecord[];
  readonly past: readonly PastAttempt[];
}

export interface MadeUpRecurring {
  readonly subscription: RecurringSubscription;
  readonly changes: readonly RecurringChange[];
  readonly receipts: readonly NewReceipt[];
  /** All of them answered. */
  readonly attempts: readonly AttemptRecord[];
  readonly past: readonly PastAttempt[];
}

/** DynamoDB takes 25 items at once. */
const ITEMS_PER_BATCH = 25;
const MAX_TRIES = 10;

const doneMark = (prefix: string) => ({ pk: { S: `DEMO#${prefix}` }, sk: { S: 'SEEDED' } });

/**
 * Puts made-up records into the tables with BatchWriteItem, which knows no conditions: the caller sees to it that
 * nothing else works on these users.
 */
export class DynamoSeeder {
  private readonly options: SeederOptions;

  constructor(options: SeederOptions) {
    this.options = options;
  }

  async isEmpty(): Promise<boolean> {
    const { client, billingTable } = this.options;
    const { Items = [] } = await client.send(new ScanCommand({ TableName: billingTable, Limit: 1 }));
    return Items.length === 0;
  }

  async hasUser(userId: string): Promise<boolean> {
    const { client, billingTable } = this.options;
    const { Count = 0 } = await client.send(
      new QueryCommand({
        TableName: billingTable,
        KeyConditionExpression: 'user_id = :user',
        ExpressionAttributeValues: { ':user': { S: userId } },
        ConsistentRead: true,
        Limit: 1,
        Select: 'COUNT',
      }),
    );
    return Count > 0;
  }

  /** When a seeding was finished; one that was interrupted leaves no mark. */
  async isMarkedDone(prefix: string): Promise<boolean> {
    const { client, pipelineTable } = this.options;
    const { Item } = await client.send(
      new GetItemCommand({ TableName: pipelineTable, Key: doneMark(prefix), ConsistentRead: true }),
    );
    return Item !== undefined;
  }

  async markDone(prefix: string): Promise<void> {
    const { client, pipelineTable } = this.options;
    await client.send(new PutItemCommand({ TableName: pipelineTable, Item: doneMark(prefix) }));
  }

  /**
   * Recurring payments first, in as many batches as needed; then each member's records, history and floats in one
   * batch. A member without records is seeded again, so an interrupted seeding is repaired.
   */
  async write(members: readonly MadeUpMember[]): Promise<void> {
    const payments = members.map(({ recurring }) => this.recurringItems(recurring));
    const batches = [
      ...inBatches(payments.flatMap(({ past }) => past).map((one) => [one])),
      ...inBatches(payments.flatMap(({ rows }) => rows).map((one) => [one])),
      ...inBatches(members.map((member) => this.itemsOf(member))),
    ];
    for (const batch of batches) {
      const requests: Record<string, WriteRequest[]> = {};
      for (const { table, item } of batch) (requests[table] ??= []).push({ PutRequest: { Item: item } });
      await this.writeBatch(requests);
    }
  }

  private itemsOf({ records, floats }: MadeUpMember): TableItem[] {
    const { billingTable, historyTable } = this.options;
    const rows = records.map((record) => writeSubscription(record, null));
    return [
      ...rows.map((item) => ({ table: historyTable, item: withData(item, { cause: 'seeded' }) })),
      ...rows.map((item) => ({ table: billingTable, item })),
      ...floats.flatMap((made) => this.floatItems(made)),
    ];
  }

  private floatItems({ float, log, attempts, past }: MadeUpFloat): TableItem[] {
    const { floatsTable, collectionHistoryTable, pipelineTable } = this.options;
    const { floatId, userId, status } = float;
    const open = marshall({ ...floatKeys.openOf(userId), open_floats: new Set([floatId]) });
    const state = { revision: 1, open: null, checks: 0, past };
    return [
      { table: floatsTable, item: writeFloat(float, 'seeded') },
      ...(isOpenFloat(status) ? [{ table: floatsTable, item: open }] : []),
      ...log.map((row) => ({ table: collectionHistoryTable, item: writeLogEntry(row) })),
      ...[
        ...attempts.map((attempt) => items.attempt.write(attempt)),
        ...(past.length === 0 ? [] : [items.state.write(recordIdOf(floatId), state, null)]),
        ...watchesOf({ float, attempts }),
      ].map((item) => ({ table: pipelineTable, item })),
    ];
  }

  /**
   * Receipts are numbered through an account, whatever they are for. The rows are written after everything else: a run that
   * finds one must find its account's receipts counted.
   */
  private recurringItems(made: readonly MadeUpRecurring[]): {
    readonly past: TableItem[];
    readonly rows: TableItem[];
  } {
    const { recurringTable, pipelineTable } = this.options;
    const receipts = made
      .flatMap((one) => one.receipts)
      .sort((a, b) => compareInstants(a.processedDate, b.processedDate))
      .map((receipt, n) => ({ ...receipt, number: n + 1 }));
    const last = receipts.at(-1);
    const counter =
      last === undefined
        ? []
        : [marshall({ ...recurringKeys.counter(last.accountId), ReceiptNumber: last.number })];
    const told = [
      ...made.flatMap(({ changes }) => changes.map(writeChange)),
      ...receipts.map(writeReceipt),
      ...counter,
    ];
    const tried = made.flatMap(({ subscription, attempts, past }) => [
      ...attempts.map((attempt) => items.attempt.write(attempt)),
      ...(past.length === 0
        ? []
        : [
            items.state.write(
              recurringRecordId(subscription),
              { revision: 1, open: null, checks: 0, past },
              null,
            ),
          ]),
    ]);
    const rows = made.map(({ subscription }) => writeRecurring(subscription, 'seeded'));
    return {
      past: [
        ...told.map((item) => ({ table: recurringTable, item })),
        ...tried.map((item) => ({ table: pipelineTable, item })),
      ],
      rows: rows.map((item) => ({ table: recurringTable, item })),
    };
  }

  private async writeBatch(batch: Record<string, WriteRequest[]>): Promise<void> {
    let left = batch;
    for (let tries = 0; Object.keys(left).length > 0; tries += 1) {
      if (tries === MAX_TRIES) throw new Error('DynamoDB keeps leaving items of a batch unprocessed');
      if (tries > 0) await this.options.timer.sleep(this.options.random() * Math.min(2_000, 50 * 2 ** tries));
      const { UnprocessedItems = {} } = await this.options.client.send(
        new BatchWriteItemCommand({ RequestItems: left }),
      );
      left = UnprocessedItems;
    }
  }
}

interface TableItem {
  readonly table: string;
  readonly item: RawItem;
}

/** The janitor has to ask what becomes of what is on its way through the bank. */
function watchesOf({ float, attempts }: Pick<MadeUpFloat, 'float' | 'attempts'>): RawItem[] {
  const sent = attempts.at(-1);
  if (float.status !== 'ACHSENT' || sent === undefined) return [];
  const { subscriptionId, userId, attemptId, openedAt: sentAt } = sent;
  const watch = {
    subscriptionId,
    userId,
    attemptId,
    confirmationId: float.confirmationId,
    sentAt,
    checks: 0,
  };
  return [writeWatch(watch, firstLook(sentAt))];
}

function inBatches(members: readonly (readonly TableItem[])[]): TableItem[][] {
  const batches: TableItem[][] = [];
  for (const all of members) {
    const last = batches.at(-1);
    if (last !== undefined && last.length + all.length <= ITEMS_PER_BATCH) last.push(...all);
    else batches.push([...all]);
  }
  return batches;
}
