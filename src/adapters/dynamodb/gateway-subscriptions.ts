import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { isActive } from '../../domain/gateways/status.ts';
import type {
  GatewayName,
  GatewaySubscription,
  GatewaySubscriptionId,
  Slot,
} from '../../domain/gateways/subscription.ts';
import { isLegalForGateway } from '../../domain/gateways/transitions.ts';
import type { Instant } from '../../domain/instant.ts';
import { IllegalTransitionError, RecordChangedError } from '../../errors.ts';
import type {
  GatewaySubscriptionPage,
  GatewaySubscriptions,
  SubscriptionChange,
} from '../../ports/gateways.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { Condition } from './conditions.ts';
import { rowIsNew } from './conditions.ts';
import { duePage, listPage } from './due-page.ts';
import { eventAsRead } from './gateway-events.ts';
import {
  COLLISIONS,
  LAPSING,
  gatewayKeys,
  readGatewaySubscription,
  readSubscriptionId,
  writeDone,
  writeGatewaySubscription,
  writeLink,
} from './gateway-items.ts';
import type { PipelineKey } from './item-codec.ts';
import { queryToTheEnd } from './query.ts';
import type { RawItem } from './raw-item.ts';
import { readRows } from './read-rows.ts';
import type { DynamoWrite, Transactor } from './transaction.ts';

export const SUBSCRIPTIONS_BY_OWNER = 'owner_id-sku-index';

export interface GatewaySubscriptionsOptions {
  readonly client: DynamoDBClient;
  readonly transactor: Transactor;
  readonly table: string;
  readonly pipelineTable: string;
  /** Names transactions. Must never repeat. */
  readonly ids: () => string;
}

export class DynamoGatewaySubscriptions implements GatewaySubscriptions {
  private readonly options: GatewaySubscriptionsOptions;

  constructor(options: GatewaySubscriptionsOptions) {
    this.options = options;
  }

  async get(id: GatewaySubscriptionId): Promise<GatewaySubscription | null> {
    const item = await this.item(this.options.table, { id });
    return item === undefined ? null : readGatewaySubscription(item);
  }

  byRef(gateway: GatewayName, ref: string): Promise<GatewaySubscriptionId | null> {
    return this.named(gatewayKeys.link(gateway, ref));
  }

  holderOf(slot: Slot): Promise<GatewaySubscriptionId | null> {
    return this.named(gatewayKeys.slot(slot));
  }

  async listByOwner(ownerId: string, sku?: string): Promise<Omit<GatewaySubscriptionPage, 'nextKey'>> {
    const items = await queryToTheEnd(this.options.client, {
      TableName: this.options.table,
      IndexName: SUBSCRIPTIONS_BY_OWNER,
      KeyConditionExpression: `owner_id = :owner${sku === undefined ? '' : ' AND sku = :sku'}`,
      ExpressionAttributeValues: {
        ':owner': { S: ownerId },
        ...(sku === undefined ? {} : { ':sku': { S: sku } }),
      },
    });
    const { found: subscriptions, malformed: unreadable } = readRows(items, readGatewaySubscription);
    return { subscriptions, unreadable };
  }

  async save({ before, after, because }: SubscriptionChange): Promise<GatewaySubscription> {
    if (!isLegalForGateway(before.status, after.status)) {
      throw new IllegalTransitionError(
        `gateway subscription ${after.id} does not go from ${before.status} to ${after.status}`,
      );
    }
    const token = this.options.ids();
    const written = { ...after, lockVersion: before.lockVersion + 1 };
    const writes = [
      this.rowWrite(before, writeGatewaySubscription(written, token)),
      ...this.slotWrites(before, after),
      ...this.linkWrites(before, after),
      ...(because === null ? [] : [this.eventWrite(because)]),
    ];
    const evidence = { table: this.options.table, key: marshall({ id: after.id }), attribute: 'change_id' };
    await this.options.transactor.commit({ authority: 'unlocked', writes, token, evidence });
    return written;
  }

  async lapsed(asOf: Instant, key: PageKey | null): Promise<GatewaySubscriptionPage> {
    const { found, ...page } = await duePage(
      this.options,
      { list: LAPSING, asOf, key },
      readGatewaySubscription,
    );
    return { subscriptions: found, ...page };
  }

  async collisions(key: PageKey | null): Promise<GatewaySubscriptionPage> {
    const { found, ...page } = await listPage(
      this.options,
      { list: COLLISIONS, key },
      readGatewaySubscription,
    );
    return { subscriptions: found, ...page };
  }

  private rowWrite(before: GatewaySubscription, Item: RawItem): DynamoWrite {
    const condition = before.lockVersion === 0 ? rowIsNew('id') : versionIs(before.lockVersion);
    return {
      item: { Put: { TableName: this.options.table, Item, ...condition } },
      refused: changed('the subscription was changed meanwhile'),
    };
  }

  /**
   *   not active ──► active       takes the slot, if it is free
   *   active ──► not active       leaves it
   *   kept back by a collision    the other one has it still
   */
  private slotWrites(before: GatewaySubscription, after: GatewaySubscription): DynamoWrite[] {
    const { pipelineTable: TableName } = this.options;
    const key = gatewayKeys.slot(after);
    const had = before.lockVersion > 0 && isActive(before.status);
    const has = isActive(after.status);
    const { collision } = after;
    if (has && !had) {
      const Item = writeLink(key, after.id);
      return [
        {
          item: { Put: { TableName, Item, ...isFreeFor(after.id) } },
          refused: changed('the slot was taken'),
        },
      ];
    }
    if (had && !has) {
      const Delete = { TableName, Key: marshall(key), ...isHeldBy(after.id) };
      return [{ item: { Delete }, refused: changed('the slot is not its own') }];
    }
    if (collision === null || collision === before.collision) return [];
    const ConditionCheck = { TableName, Key: marshall(key), ...isHeldBy(collision.heldBy) };
    return [{ item: { ConditionCheck }, refused: changed('the slot was left') }];
  }

  private linkWrites(before: GatewaySubscription, after: GatewaySubscription): DynamoWrite[] {
    const isLinked = before.lockVersion > 0 && before.gatewayRef !== null;
    if (after.gatewayRef === null || isLinked) return [];
    const Item = writeLink(gatewayKeys.link(after.gateway, after.gatewayRef), after.id);
    return [
      {
        item: { Put: { TableName: this.options.pipelineTable, Item, ...rowIsNew('pk') } },
        refused: changed('the gateway’s id was linked meanwhile'),
      },
    ];
  }

  private eventWrite({ event, outcome }: NonNullable<SubscriptionChange['because']>): DynamoWrite {
    const Item = writeDone({ ...event, outcome });
    return {
      item: { Put: { TableName: this.options.pipelineTable, Item, ...eventAsRead(event) } },
      refused: changed('the event was applied meanwhile'),
    };
  }

  private async named(key: PipelineKey): Promise<GatewaySubscriptionId | null> {
    const item = await this.item(this.options.pipelineTable, key);
    return item === undefined ? null : readSubscriptionId(item);
  }

  private async item(TableName: string, key: object): Promise<RawItem | undefined> {
    const { Item } = await this.options.client.send(
      new GetItemCommand({ TableName, Key: marshall(key), ConsistentRead: true }),
    );
    return Item;
  }
}

const changed = (what: string) => (): RecordChangedError => new RecordChangedError(what);

const versionIs = (lockVersion: number): Condition => ({
  ConditionExpression: 'lock_version = :read',
  ExpressionAttributeValues: { ':read': { N: String(lockVersion) } },
});

const isHeldBy = (id: GatewaySubscriptionId): Condition => ({
  ConditionExpression: 'subscriptionId = :holder',
  ExpressionAttributeValues: { ':holder': { S: id } },
});

const isFreeFor = (id: GatewaySubscriptionId): Condition => ({
  ConditionExpression: 'attribute_not_exists(pk) OR subscriptionId = :holder',
  ExpressionAttributeValues: { ':holder': { S: id } },
});
