import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { FreezeOrder, FreezeStore, FreezeTarget } from '../../ports/freezes.ts';
import type { Instant } from '../../domain/instant.ts';
import { unlessRefused } from './conditions.ts';
import { items, keys } from './pipeline-items.ts';
import { queryToTheEnd } from './query.ts';

export interface FreezesOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

export class DynamoFreezes implements FreezeStore {
  private readonly options: FreezesOptions;

  constructor(options: FreezesOptions) {
    this.options = options;
  }

  async freeze(order: FreezeOrder): Promise<void> {
    const TableName = this.options.table;
    const put = [
      items.freeze.write(order, keys.freeze(order.target)),
      items.freeze.write(order, keys.freezeList(order.target)),
      items.freeze.writeLog(order, 'frozen'),
    ];
    await this.options.client.send(
      new TransactWriteItemsCommand({ TransactItems: put.map((Item) => ({ Put: { TableName, Item } })) }),
    );
  }

  async unfreeze(
    target: FreezeTarget,
    { who, at }: { readonly who: string; readonly at: Instant },
  ): Promise<boolean> {
    const { client, table: TableName } = this.options;
    const order: FreezeOrder = { target, reason: '', who, at, until: null };
    return unlessRefused(() =>
      client.send(
        new TransactWriteItemsCommand({
          TransactItems: [
            { Put: { TableName, Item: items.freeze.writeLog(order, 'lifted') } },
            {
              Delete: {
                TableName,
                Key: marshall(keys.freeze(target)),
                ConditionExpression: 'attribute_exists(pk)',
              },
            },
            { Delete: { TableName, Key: marshall(keys.freezeList(target)) } },
          ],
        }),
      ),
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
}
