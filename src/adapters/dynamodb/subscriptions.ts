import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DescribeTableCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import { compareInstants, lowerBoundText, plusNanos, upperBoundText } from '../../domain/instant.ts';
import type { BillingStatus, Subscription } from '../../domain/subscription.ts';
import type {
  ChangeContext,
  PageKey,
  Partition,
  StoredSubscription,
  SubscriptionPage,
  SubscriptionToWrite,
  SubscriptionsRepository,
} from '../../ports/subscriptions.ts';
import type { Authority, Write } from '../../ports/transaction.ts';
import { queryPage, queryToTheEnd } from './query.ts';
import type { RawItem } from './raw-item.ts';
import { store, storeAll } from './stored-row.ts';
import type { PreparedChange } from './subscription-changes.ts';
import { prepareChanges, prepareMove, rowCheck, writesOf } from './subscription-changes.ts';
import type { Transactor } from './transaction.ts';
import { asWrite, fromWrite } from './transaction.ts';

export interface SubscriptionsOptions {
  readonly client: DynamoDBClient;
  readonly transactor: Transactor;
  readonly billingTable: string;
  readonly historyTable: string;
  readonly pageSize: number;
  /** Names transactions. Must never repeat. */
  readonly ids: () => string;
}

/** Two items each beside the lock's check and what else goes along: 48 records fit into one transaction. */
const MAX_RECORDS_AT_ONCE = 48;

export const STATUS_INDEX = 'billing_status-index';
export const DUE_INDEX = 'billing_status-billing_date-index';
export const ID_INDEX = 'subscription_id-index';

/** A range of billing dates: the key condition's text bounds, and the exact test by instant behind them. */
interface DueRange {
  readonly isEmpty?: boolean;
  readonly condition: string;
  readonly values: RawItem;
  readonly contains: (billingDate: Instant) => boolean;
}

export class DynamoSubscriptions implements SubscriptionsRepository {
  private readonly options: SubscriptionsOptions;
  private hasDueIndex: Promise<boolean> | null = null;

  constructor(options: SubscriptionsOptions) {
    this.options = options;
  }

  async add(
    authority: Authority,
    subscription: SubscriptionToWrite,
    context: ChangeContext,
  ): Promise<StoredSubscription> {
    const [written] = await this.addAll(authority, [subscription], context);
    if (written === undefined) throw new Error('one record in, one record out');
    return written;
  }

  async addAll(
    authority: Authority,
    subscriptions: readonly SubscriptionToWrite[],
    context: ChangeContext,
  ): Promise<StoredSubscription[]> {
    const changes = prepareChanges(authority, subscriptions, context);
    if (changes.length > MAX_RECORDS_AT_ONCE) await this.commitOneByOne(authority, changes, context);
    else if (changes.length > 0) await this.commit(authority, changes, context);
    return changes.map(({ item }) => store(item));
  }

  async adminUpdate(
    authority: Authority,
    original: StoredSubscription,
    updated: Subscription,
    context: ChangeContext,
  ): Promise<StoredSubscription> {
    const change = prepareMove(authority, original, updated, context);
    await this.commit(authority, [change], context);
    return store(change.item);
  }

  unchanged(record: StoredSubscription): Write {
    return asWrite(rowCheck(this.options.billingTable, record));
  }

  async getByID(subscriptionID: string): Promise<StoredSubscription | null> {
    const items = await queryToTheEnd(this.options.client, {
      TableName: this.options.billingTable,
      IndexName: ID_INDEX,
      KeyConditionExpression: 'subscription_id = :id',
      ExpressionAttributeValues: { ':id': { S: subscriptionID } },
    });
    // More than one only while a date change by the Go service is between its delete and its put: the newest counts.
    const newestFirst = items.map(store).sort((a, b) => compareInstants(stampOf(b), stampOf(a)));
    return newestFirst[0] ?? null;
  }

  async listByUserID(userID: string): Promise<Partition> {
    const items = await queryToTheEnd(this.options.client, {
      ...this.partitionQuery(userID),
      ConsistentRead: true,
    });
    const { subscriptions, malformed } = storeAll(items);
    // Texts with fractions do not sort by time.
    return {
      subscriptions: subscriptions.sort((a, b) => compareInstants(a.billingDate, b.billingDate)),
      malformed,
    };
  }

  async getRecentSubscriptions(userID: string): Promise<Partition> {
    const { Items = [] } = await this.options.client.send(
      new QueryCommand({ ...this.partitionQuery(userID), ScanIndexForward: false }),
    );
    const { subscriptions, malformed } = storeAll(Items);
    return {
      subscriptions: subscriptions.sort((a, b) => compareInstants(b.billingDate, a.billingDate)),
      malformed,
    };
  }

  getScheduledSubscriptionPage(date: Instant, startKey: PageKey | null): Promise<SubscriptionPage> {
    return this.duePage('SCHEDULED', before(date), startKey);
  }

  getRetrySubscriptionPage(date: Instant, startKey: PageKey | null): Promise<SubscriptionPage> {
    return this.duePage('ERROR', after(date), startKey);
  }

  getStaleSubscriptionPage(date: Instant, startKey: PageKey | null): Promise<SubscriptionPage> {
    return this.duePage('ERROR', upTo(date), startKey);
  }

  getPausedSubscriptionPage(date: Instant, startKey: PageKey | null): Promise<SubscriptionPage> {
    return this.duePage('PAUSED', before(date), startKey);
  }

  getNotificationSubscriptionPage(
    status: BillingStatus,
    billingDate: Instant,
    billingEndDate: Instant,
    startKey: PageKey | null,
  ): Promise<SubscriptionPage> {
    return this.duePage(status, between(billingDate, billingEndDate), startKey);
  }

  /** One page. With the index by date it reads only what is due; without, all of a status, filtered after reading. */
  private async duePage(
    status: BillingStatus,
    range: DueRange,
    startKey: PageKey | null,
  ): Promise<SubscriptionPage> {
    if (range.isEmpty) return { subscriptions: [], malformed: [], nextKey: null };
    const { index, start } = await this.indexFor(startKey);
    const inStatus = 'billing_status = :status';
    const { items, nextKey } = await queryPage(
      this.options.client,
      {
        TableName: this.options.billingTable,
        IndexName: index,
        Limit: this.options.pageSize,
        ExpressionAttributeValues: { ':status': { S: status }, ...range.values },
        ...(index === DUE_INDEX
          ? { KeyConditionExpression: `${inStatus} AND ${range.condition}` }
          : { KeyConditionExpression: inStatus, FilterExpression: range.condition }),
      },
      start,
    );
    const { subscriptions, malformed } = storeAll(items);
    return {
      subscriptions: subscriptions.filter(({ billingDate }) => range.contains(billingDate)),
      malformed,
      nextKey: nextKey === null ? null : (`${index}:${nextKey}` as PageKey),
    };
  }

  /** A cursor belongs to the index that it was made by, also when a better one has appeared since. */
  private async indexFor(startKey: PageKey | null): Promise<{ index: string; start: PageKey | null }> {
    if (startKey === null)
      return { index: (await this.dueIndexIsThere()) ? DUE_INDEX : STATUS_INDEX, start: null };
    const [index = '', start = ''] = startKey.split(':');
    if (index !== DUE_INDEX && index !== STATUS_INDEX)
      throw new Error('that is no cursor of the due records');
    return { index, start: start as PageKey };
  }

  /** Asked once per process: an index appears by an operator's hand, and a restart is part of that. */
  private dueIndexIsThere(): Promise<boolean> {
    this.hasDueIndex ??= this.options.client
      .send(new DescribeTableCommand({ TableName: this.options.billingTable }))
      .then(({ Table }) =>
        (Table?.GlobalSecondaryIndexes ?? []).some(
          ({ IndexName, IndexStatus }) => IndexName === DUE_INDEX && IndexStatus === 'ACTIVE',
        ),
      )
      .catch((error: unknown) => {
        this.hasDueIndex = null;
        throw error;
      });
    return this.hasDueIndex;
  }

  private partitionQuery(userID: string) {
    return {
      TableName: this.options.billingTable,
      KeyConditionExpression: 'user_id = :user',
      ExpressionAttributeValues: { ':user': { S: userID } },
    };
  }

  /** What goes along comes with the last record: it says that all are done. */
  private async commitOneByOne(
    authority: Authority,
    changes: readonly PreparedChange[],
    context: ChangeContext,
  ): Promise<void> {
    for (const [index, change] of changes.entries()) {
      const last = index === changes.length - 1;
      await this.commit(authority, [change], last ? context : { ...context, also: [] });
    }
  }

  private async commit(
    authority: Authority,
    changes: readonly PreparedChange[],
    context: ChangeContext,
  ): Promise<void> {
    const token = this.options.ids();
    const [first] = changes;
    if (first === undefined) throw new Error('a transaction without a change');
    const { billingTable, historyTable, transactor } = this.options;
    const writes = changes.flatMap((change) =>
      writesOf(change, { billingTable, historyTable, token, context }),
    );
    await transactor.commit({
      authority,
      writes: [...writes, ...(context.also ?? []).map(fromWrite)],
      token,
      evidence: { table: historyTable, key: first.historyKey, attribute: 'data_change_id' },
    });
  }
}

const stampOf = ({ lastRunDate }: Subscription): Instant => lastRunDate ?? (0n as Instant);

const before = (date: Instant): DueRange => ({
  condition: 'billing_date < :end',
  values: { ':end': { S: upperBoundText(date) } },
  contains: (billingDate) => billingDate < date,
});

const upTo = (date: Instant): DueRange => before(plusNanos(date, 1n));

const after = (date: Instant): DueRange => ({
  condition: 'billing_date > :start',
  values: { ':start': { S: lowerBoundText(date) } },
  contains: (billingDate) => billingDate > date,
});

const between = (from: Instant, to: Instant): DueRange => ({
  // DynamoDB refuses bounds that are the wrong way round.
  isEmpty: from >= to,
  // The upper bound sorts before every text of its second, so BETWEEN, which includes, excludes that second.
  condition: 'billing_date BETWEEN :start AND :end',
  values: { ':start': { S: lowerBoundText(from) }, ':end': { S: upperBoundText(to) } },
  contains: (billingDate) => billingDate >= from && billingDate < to,
});
