import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { CalendarDate } from '../../domain/calendar-date.ts';
import type { GatewayName } from '../../domain/gateways/subscription.ts';
import type { Instant } from '../../domain/instant.ts';
import type {
  GatewayEventPage,
  GatewayEvents,
  GatewayOutcome,
  StoredGatewayEvent,
} from '../../ports/gateways.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { Condition } from './conditions.ts';
import { rowIsNew, unlessRefused } from './conditions.ts';
import { duePage, listPage } from './due-page.ts';
import {
  TROUBLED_EVENTS,
  WAITING,
  eventKey,
  eventsOfDay,
  readGatewayEvent,
  refPartition,
  writeDone,
  writeWaiting,
} from './gateway-items.ts';
import { queryToTheEnd } from './query.ts';
import type { RawItem } from './raw-item.ts';
import { readRows } from './read-rows.ts';

export interface GatewayEventsOptions {
  readonly client: DynamoDBClient;
  /** The pipeline table. */
  readonly table: string;
}

export class DynamoGatewayEvents implements GatewayEvents {
  private readonly options: GatewayEventsOptions;

  constructor(options: GatewayEventsOptions) {
    this.options = options;
  }

  add(event: StoredGatewayEvent): Promise<boolean> {
    return this.put(writeWaiting(event), rowIsNew('pk'));
  }

  async get(eventId: string): Promise<StoredGatewayEvent | null> {
    const key = eventKey(eventId);
    if (key === null) return null;
    const { Item } = await this.options.client.send(
      new GetItemCommand({ TableName: this.options.table, Key: marshall(key), ConsistentRead: true }),
    );
    return Item === undefined ? null : readGatewayEvent(Item);
  }

  close(event: StoredGatewayEvent, outcome: GatewayOutcome): Promise<boolean> {
    return this.put(writeDone({ ...event, outcome }), eventAsRead(event));
  }

  async reopen(event: StoredGatewayEvent, at: Instant): Promise<StoredGatewayEvent | null> {
    const next = { ...event, outcome: null, replays: event.replays + 1 };
    return (await this.put(writeWaiting(next, at), eventAsRead(event))) ? next : null;
  }

  async ofRef(gateway: GatewayName, ref: string): Promise<Omit<GatewayEventPage, 'nextKey'>> {
    const items = await queryToTheEnd(this.options.client, {
      TableName: this.options.table,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :event)',
      ExpressionAttributeValues: { ':pk': { S: refPartition(gateway, ref) }, ':event': { S: 'EVENT#' } },
      ConsistentRead: true,
    });
    const { found: events, malformed: unreadable } = readRows(items, readGatewayEvent);
    return { events, unreadable };
  }

  async waiting(before: Instant, key: PageKey | null): Promise<GatewayEventPage> {
    const { found, ...page } = await duePage(
      this.options,
      { list: WAITING, asOf: before, key },
      readGatewayEvent,
    );
    return { events: found, ...page };
  }

  async troubled(key: PageKey | null): Promise<GatewayEventPage> {
    const { found, ...page } = await listPage(this.options, { list: TROUBLED_EVENTS, key }, readGatewayEvent);
    return { events: found, ...page };
  }

  async ofDay(day: CalendarDate, key: PageKey | null): Promise<GatewayEventPage> {
    const { found, ...page } = await listPage(
      this.options,
      { list: eventsOfDay(day), key, newestFirst: true },
      readGatewayEvent,
    );
    return { events: found, ...page };
  }

  private put(Item: RawItem, condition: Condition): Promise<boolean> {
    const request = new PutItemCommand({ TableName: this.options.table, Item, ...condition });
    return unlessRefused(() => this.options.client.send(request));
  }
}

/** It was not applied, nor replayed, since it was read. */
export const eventAsRead = ({ outcome, replays }: StoredGatewayEvent): Condition => ({
  ConditionExpression: `#replays = :replays AND ${outcome === null ? '' : 'NOT '}attribute_type(#outcome, :null)`,
  ExpressionAttributeNames: { '#replays': 'replays', '#outcome': 'outcome' },
  ExpressionAttributeValues: { ':replays': { N: String(replays) }, ':null': { S: 'NULL' } },
});
