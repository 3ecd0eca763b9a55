import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { UserId } from '../../domain/subscription.ts';
import type { Bypass, Bypasses } from '../../ports/floats.ts';
import { readBypass, writeBypass } from './float-items.ts';
import type { RawItem } from './raw-item.ts';

export class DynamoBypasses implements Bypasses {
  private readonly options: { readonly client: DynamoDBClient; readonly table: string };

  constructor(options: { readonly client: DynamoDBClient; readonly table: string }) {
    this.options = options;
  }

  async get(userId: UserId): Promise<Bypass | null> {
    const { client, table: TableName } = this.options;
    const { Item } = await client.send(
      new GetItemCommand({ TableName, Key: keyOf(userId), ConsistentRead: true }),
    );
    return Item === undefined ? null : readBypass(Item);
  }

  async save(bypass: Bypass): Promise<void> {
    const { client, table: TableName } = this.options;
    await client.send(new PutItemCommand({ TableName, Item: writeBypass(bypass) }));
  }

  async remove(userId: UserId): Promise<boolean> {
    const { client, table: TableName } = this.options;
    const { Attributes } = await client.send(
      new DeleteItemCommand({ TableName, Key: keyOf(userId), ReturnValues: 'ALL_OLD' }),
    );
    return Attributes !== undefined;
  }
}

const keyOf = (userId: UserId): RawItem => ({ user_id: { S: userId } });
