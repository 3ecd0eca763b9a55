import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { AchCounts } from '../../domain/ach/return-rates.ts';
import { RETURN_CLASSES, RETURN_RATE_DAYS } from '../../domain/ach/return-rates.ts';
import type { CalendarDate } from '../../domain/calendar-date.ts';
import { addDays, midnightOf } from '../../domain/calendar-date.ts';
import type { SubscriptionId } from '../../domain/subscription.ts';
import type { AchMeters } from '../../ports/ach-meters.ts';
import { partOf, partsOfList, read, ttlSeconds } from './item-codec.ts';
import { queryToTheEnd } from './query.ts';

const ACH_METER = 'ach-meter';
/** A day is kept a while longer than it is read. */
const KEPT_DAYS = RETURN_RATE_DAYS + 30;

const count = z.int().default(0);
const dayCounts = z.object({ debits: count, unauthorized: count, administrative: count, overall: count });

export interface AchMetersOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

/** Counters by day, each in several parts: on a busy morning thousands of entries are settled in a minute. */
export class DynamoAchMeters implements AchMeters {
  private readonly options: AchMetersOptions;

  constructor(options: AchMetersOptions) {
    this.options = options;
  }

  async add(
    subscriptionId: SubscriptionId,
    day: CalendarDate,
    { debits, returns }: AchCounts,
  ): Promise<void> {
    const counted = Object.entries({ debits, ...returns }).filter(([, more]) => more > 0);
    if (counted.length === 0) return;
    const expiresAt = ttlSeconds(midnightOf(addDays(day, KEPT_DAYS)));
    await this.options.client.send(
      new UpdateItemCommand({
        TableName: this.options.table,
        Key: marshall({ pk: partOf(ACH_METER, subscriptionId), sk: day }),
        UpdateExpression: `SET expires_at = :expires ADD ${counted.map(([name]) => `${name} :${name}`).join(', ')}`,
        ExpressionAttributeValues: marshall({
          ':expires': expiresAt,
          ...Object.fromEntries(counted.map(([name, more]) => [`:${name}`, more])),
        }),
      }),
    );
  }

  async total(from: CalendarDate, to: CalendarDate): Promise<AchCounts> {
    const parts = await Promise.all(partsOfList(ACH_METER).map((part) => this.days(part, from, to)));
    const days = parts.flat();
    const sum = (name: keyof (typeof days)[number]): number =>
      days.reduce((total, day) => total + day[name], 0);
    return {
      debits: sum('debits'),
      returns: Object.fromEntries(RETURN_CLASSES.map((name) => [name, sum(name)])) as AchCounts['returns'],
    };
  }

  private async days(part: string, from: CalendarDate, to: CalendarDate) {
    const found = await queryToTheEnd(this.options.client, {
      TableName: this.options.table,
      KeyConditionExpression: 'pk = :part AND sk BETWEEN :from AND :to',
      ExpressionAttributeValues: { ':part': { S: part }, ':from': { S: from }, ':to': { S: to } },
    });
    return found.map((item) => read(dayCounts, item));
  }
}
