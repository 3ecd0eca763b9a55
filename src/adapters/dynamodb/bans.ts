import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import { sortableText } from '../../domain/instant.ts';
import type { UserId } from '../../domain/subscription.ts';
import type { BanLog, BanNote } from '../../ports/bans.ts';
import { instant } from '../codecs.ts';
import { read, userId, write } from './item-codec.ts';
import { queryToTheEnd } from './query.ts';

const ban = z.object({
  userId,
  who: z.string(),
  reason: z.string(),
  at: instant,
}) satisfies z.ZodType<BanNote>;

const PREFIX = 'BAN#';
const partitionOf = (id: UserId): string => `USER#${id}`;

export class DynamoBans implements BanLog {
  private readonly options: { readonly client: DynamoDBClient; readonly table: string };

  constructor(options: { readonly client: DynamoDBClient; readonly table: string }) {
    this.options = options;
  }

  async note(note: BanNote): Promise<void> {
    const key = { pk: partitionOf(note.userId), sk: `${PREFIX}${sortableText(note.at)}#${note.who}` };
    const Item = write(ban, note, key);
    await this.options.client.send(new PutItemCommand({ TableName: this.options.table, Item }));
  }

  async of(id: UserId): Promise<BanNote[]> {
    const found = await queryToTheEnd(this.options.client, {
      TableName: this.options.table,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :ban)',
      ExpressionAttributeValues: { ':pk': { S: partitionOf(id) }, ':ban': { S: PREFIX } },
      ConsistentRead: true,
    });
    return found.map((item) => read(ban, item));
  }
}
