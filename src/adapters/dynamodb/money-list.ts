import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import type { SubscriptionId } from '../../domain/subscription.ts';
import type { MoneyList, MoneyToDecide, MoneyToDecidePage } from '../../ports/money-to-decide.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { Write } from '../../ports/transaction.ts';
import { instant, money } from '../codecs.ts';
import { duePage } from './due-page.ts';
import type { PipelineKey } from './item-codec.ts';
import { dueAttributes, read, subscriptionId, userId, write } from './item-codec.ts';
import { countOfParts } from './list-parts.ts';
import { DUE_LIST_INDEX } from './pipeline-items.ts';
import type { RawItem } from './raw-item.ts';
import { unconditional } from './transaction.ts';

/** Stored as `returnCode` for both lists, for the sake of rows already written; the port calls it `code`. */
const item = z.object({
  userId,
  subscriptionId,
  confirmationId: z.string(),
  returnCode: z.string().nullable(),
  amount: money,
  at: instant,
});

export interface MoneyListOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

/** What a list is called, and its items. */
export interface MoneyListName {
  readonly list: string;
  readonly sk: string;
}

export const STALE_RETURNS: MoneyListName = { list: 'stale-returns', sk: 'STALE_RETURN' };
export const REFUSED_REFUNDS: MoneyListName = { list: 'refused-refunds', sk: 'REFUSED_REFUND' };

export class DynamoMoneyList implements MoneyList {
  private readonly options: MoneyListOptions;
  private readonly name: MoneyListName;

  constructor(options: MoneyListOptions, name: MoneyListName) {
    this.options = options;
    this.name = name;
  }

  note({ code: returnCode, ...rest }: MoneyToDecide): Write {
    const { subscriptionId: id, at } = rest;
    const key = { ...this.keyOf(id), ...dueAttributes(id, { list: this.name.list, at }) };
    const Item = write(item, { ...rest, returnCode }, key);
    return unconditional({ Put: { TableName: this.options.table, Item } });
  }

  forget(id: SubscriptionId): Write {
    return unconditional({ Delete: { TableName: this.options.table, Key: marshall(this.keyOf(id)) } });
  }

  async list(asOf: Instant, key: PageKey | null): Promise<MoneyToDecidePage> {
    const { found: items, ...page } = await duePage(
      this.options,
      { list: this.name.list, asOf, key },
      moneyOf,
    );
    return { items, ...page };
  }

  async size(): Promise<number> {
    const { client, table } = this.options;
    return countOfParts(client, this.name.list, (part) => ({
      TableName: table,
      IndexName: DUE_LIST_INDEX,
      KeyConditionExpression: 'dueList = :part',
      ExpressionAttributeValues: { ':part': { S: part } },
    }));
  }

  private keyOf(id: SubscriptionId): PipelineKey {
    return { pk: `SUB#${id}`, sk: this.name.sk };
  }
}

function moneyOf(raw: RawItem): MoneyToDecide {
  const { returnCode: code, ...rest } = read(item, raw);
  return { ...rest, code };
}
