import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { GetItemCommand, TransactWriteItemsCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import { formatInstant, plusMs } from '../../domain/instant.ts';
import type { FreezeOrder, FreezeStore, FreezeTarget } from '../../ports/freezes.ts';
import { freezeTargetName } from '../../ports/freezes.ts';
import type { Timer } from '../../ports/timer.ts';
import type { Condition } from './conditions.ts';
import { rowIsNew, unchangedIn, unlessRefused } from './conditions.ts';
import { items, keys } from './pipeline-items.ts';
import { queryToTheEnd } from './query.ts';
import type { RawItem } from './raw-item.ts';

export interface FreezesOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly timer: Timer;
}

/** Each time, another order has changed the same freeze between a read and a write. */
const TRIES = 5;

export class DynamoFreezes implements FreezeStore {
  private readonly options: FreezesOptions;

  constructor(options: FreezesOptions) {
    this.options = options;
  }

  async freeze(order: FreezeOrder): Promise<void> {
    const { table: TableName, timer } = this.options;
    const orderedMs = timer.elapsedMs();
    const put = (Item: RawItem, condition?: Condition) => ({ Put: { TableName, Item, ...condition } });
    await this.replace(order.target, (standing) => [
      put(items.freeze.write(order, keys.freeze(order.target)), stillStands(standing)),
      put(items.freeze.write(order, keys.freezeList(order.target))),
      put(items.freeze.writeLog(order, 'frozen')),
    ]);
    await this.acknowledge(order, plusMs(order.at, Math.ceil(timer.elapsedMs() - orderedMs)));
  }

  async unfreeze(
    target: FreezeTarget,
    { who, at }: { readonly who: string; readonly at: Instant },
  ): Promise<boolean> {
    const { table: TableName } = this.options;
    const order: FreezeOrder = { target, reason: '', who, at, until: null };
    return this.replace(target, (standing) =>
      standing === undefined
        ? null
        : [
            { Put: { TableName, Item: items.freeze.writeLog(order, 'lifted') } },
            { Delete: { TableName, Key: marshall(keys.freeze(target)), ...stillStands(standing) } },
            { Delete: { TableName, Key: marshall(keys.freezeList(target)) } },
          ],
    );
  }

  async list(): Promise<FreezeOrder[]> {
    const found = await queryToTheEnd(this.options.client, {
      TableName: this.options.table,
      KeyConditionExpression: 'pk = :list',
      ExpressionAttributeValues: { ':list': { S: 'FREEZES' } },
      ConsistentRead: true,
    });
    return found.map((item) => items.freeze.read(item));
  }

  /**
   * Only what was read is replaced: an order that hung on its way, and whose author has ordered something else since, must
   * not end a freeze or put an earlier one in its place. False when there was nothing to do.
   */
  private async replace(
    target: FreezeTarget,
    writesFor: (standing: RawItem | undefined) => TransactWriteItem[] | null,
  ): Promise<boolean> {
    const { client } = this.options;
    for (let tried = 0; tried < TRIES; tried += 1) {
      const TransactItems = writesFor(await this.standing(target));
      if (TransactItems === null) return tried > 0;
      if (await unlessRefused(() => client.send(new TransactWriteItemsCommand({ TransactItems }))))
        return true;
    }
    throw new Error(`others keep changing the freeze of ${freezeTargetName(target)}: try again`);
  }

  private async standing(target: FreezeTarget): Promise<RawItem | undefined> {
    const { client, table: TableName } = this.options;
    const Key = marshall(keys.freeze(target));
    const { Item } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
    return Item;
  }

  /** For the audit: the operator was told then that the freeze holds, and not when it was ordered. */
  private async acknowledge({ target, at: orderedAt }: FreezeOrder, at: Instant): Promise<void> {
    const { client, table: TableName } = this.options;
    await client.send(
      new UpdateItemCommand({
        TableName,
        Key: marshall(keys.freezeLog(target, orderedAt, 'frozen')),
        UpdateExpression: 'SET acknowledgedAt = :at',
        ExpressionAttributeValues: { ':at': { S: formatInstant(at) } },
      }),
    );
  }
}

const stillStands = (standing: RawItem | undefined): Condition =>
  standing === undefined ? rowIsNew('pk') : unchangedIn(standing, ['at']);
