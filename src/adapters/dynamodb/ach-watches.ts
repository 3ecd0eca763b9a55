import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { firstLook, nextLook } from '../../domain/ach/settlement.ts';
import type { Instant } from '../../domain/instant.ts';
import type { SubscriptionId } from '../../domain/subscription.ts';
import type { AchWatch, AchWatchPage, AchWatches } from '../../ports/ach-watches.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { Write } from '../../ports/transaction.ts';
import { ACH_WATCH, readWatch, watchKey, writeWatch } from './ach-watch-items.ts';
import type { Condition } from './conditions.ts';
import { unlessRefused } from './conditions.ts';
import { duePage } from './due-page.ts';
import { unconditional } from './transaction.ts';

export interface AchWatchesOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

export class DynamoAchWatches implements AchWatches {
  private readonly options: AchWatchesOptions;

  constructor(options: AchWatchesOptions) {
    this.options = options;
  }

  begin(watch: AchWatch): Write {
    const Item = writeWatch(watch, firstLook(watch.sentAt));
    return unconditional({ Put: { TableName: this.options.table, Item } });
  }

  end(subscriptionId: SubscriptionId): Write {
    const Key = marshall(watchKey(subscriptionId));
    return unconditional({ Delete: { TableName: this.options.table, Key } });
  }

  add(watch: AchWatch): Promise<boolean> {
    return this.put(watch, firstLook(watch.sentAt), isNewOrOfAnother(watch));
  }

  async get(subscriptionId: SubscriptionId): Promise<AchWatch | null> {
    const { Item } = await this.options.client.send(
      new GetItemCommand({
        TableName: this.options.table,
        Key: marshall(watchKey(subscriptionId)),
        ConsistentRead: true,
      }),
    );
    return Item === undefined ? null : readWatch(Item);
  }

  async due(asOf: Instant, key: PageKey | null): Promise<AchWatchPage> {
    const { found, ...page } = await duePage(this.options, { list: ACH_WATCH, asOf, key }, readWatch);
    return { watches: found, ...page };
  }

  async askAgainLater(watch: AchWatch, now: Instant): Promise<void> {
    await this.put({ ...watch, checks: watch.checks + 1 }, nextLook(now), isStill(watch));
  }

  async forget(watch: AchWatch): Promise<void> {
    const { client, table: TableName } = this.options;
    const Key = marshall(watchKey(watch.subscriptionId));
    await unlessRefused(() => client.send(new DeleteItemCommand({ TableName, Key, ...isStill(watch) })));
  }

  private put(watch: AchWatch, lookAt: Instant, condition: Condition): Promise<boolean> {
    const Item = writeWatch(watch, lookAt);
    const request = new PutItemCommand({ TableName: this.options.table, Item, ...condition });
    return unlessRefused(() => this.options.client.send(request));
  }
}

/** The same entry, and no janitor has asked about it since. */
const isStill = ({ confirmationId, checks }: AchWatch): Condition => ({
  ConditionExpression: '#confirmationId = :confirmationId AND #checks = :checks',
  ExpressionAttributeNames: { '#confirmationId': 'confirmationId', '#checks': 'checks' },
  ExpressionAttributeValues: { ':confirmationId': { S: confirmationId }, ':checks': { N: String(checks) } },
});

/** A watch on another entry was left behind: the record has gone on to this one, in other hands. */
const isNewOrOfAnother = ({ confirmationId }: AchWatch): Condition => ({
  ConditionExpression: 'attribute_not_exists(pk) OR #confirmationId <> :confirmationId',
  ExpressionAttributeNames: { '#confirmationId': 'confirmationId' },
  ExpressionAttributeValues: { ':confirmationId': { S: confirmationId } },
});
