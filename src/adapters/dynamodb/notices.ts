import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { CalendarDate } from '../../domain/calendar-date.ts';
import { addDays, midnightOf, parseDate } from '../../domain/calendar-date.ts';
import type { SubscriptionId } from '../../domain/subscription.ts';
import type { Notice, Notices } from '../../ports/notices.ts';
import { instant } from '../codecs.ts';
import { rowIsNew, unlessRefused } from './conditions.ts';
import type { PipelineKey } from './item-codec.ts';
import { read, subscriptionId, ttlSeconds, write } from './item-codec.ts';

/** As long as the verdict that says the same. */
const KEPT_DAYS = 90;

const notice = z.object({
  subscriptionId,
  day: z.custom<CalendarDate>((value) => typeof value === 'string' && parseDate(value) !== null, 'a day'),
  triggerId: z.string(),
  at: instant,
}) satisfies z.ZodType<Notice>;

const keyOf = (id: SubscriptionId, day: CalendarDate): PipelineKey => ({
  pk: `SUB#${id}`,
  sk: `NOTICE#three_day#${day}`,
});

export interface NoticesOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

export class DynamoNotices implements Notices {
  private readonly options: NoticesOptions;

  constructor(options: NoticesOptions) {
    this.options = options;
  }

  async find(id: SubscriptionId, day: CalendarDate): Promise<Notice | null> {
    const { client, table: TableName } = this.options;
    const Key = marshall(keyOf(id, day));
    const { Item } = await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }));
    return Item === undefined ? null : read(notice, Item);
  }

  async put(told: Notice): Promise<void> {
    const { client, table: TableName } = this.options;
    const Item = write(notice, told, {
      ...keyOf(told.subscriptionId, told.day),
      expires_at: ttlSeconds(midnightOf(addDays(told.day, KEPT_DAYS))),
    });
    await unlessRefused(() => client.send(new PutItemCommand({ TableName, Item, ...rowIsNew('pk') })));
  }
}
