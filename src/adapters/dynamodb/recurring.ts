import type { DynamoDBClient, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { CalendarDate } from '../../domain/calendar-date.ts';
import type { Instant } from '../../domain/instant.ts';
import { sortableText } from '../../domain/instant.ts';
import type { RecurringChange } from '../../domain/recurring/outcomes.ts';
import type {
  AccountId,
  NewReceipt,
  Receipt,
  RecurringSubscription,
} from '../../domain/recurring/recurring.ts';
import { isLegalForRecurring } from '../../domain/recurring/transitions.ts';
import { IllegalTransitionError, RecordChangedError } from '../../errors.ts';
import type {
  DueList,
  DueRecurringPage,
  ReceiptPage,
  RecurringLogEntry,
  RecurringOfAccount,
  RecurringRef,
  RecurringRepository,
} from '../../ports/recurring.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { Authority, Write } from '../../ports/transaction.ts';
import type { Condition } from './conditions.ts';
import { rowIsNew } from './conditions.ts';
import { ttlSeconds } from './item-codec.ts';
import { queryPage, queryToTheEnd } from './query.ts';
import type { RawItem } from './raw-item.ts';
import { readRows } from './read-rows.ts';
import {
  NEVER_CHANGED,
  readChange,
  readCounter,
  readMark,
  readReceipt,
  readRecurring,
  recurringAttributes,
  recurringKeys,
  recurringPrefixes,
  refOf,
  writeChange,
  writeReceipt,
  writeRecurring,
} from './recurring-items.ts';
import type { DynamoWrite, Transactor } from './transaction.ts';
import { asWrite, fromWrite, unconditional } from './transaction.ts';

/** Both are sparse: what is over, and what has been told of, is not in them. Named as in the table's design. */
export const REMINDERS_BY_DAY = 'GSI-1';
export const PAYMENTS_BY_DAY = 'GSI-2';

export interface RecurringOptions {
  readonly client: DynamoDBClient;
  readonly transactor: Transactor;
  readonly table: string;
  readonly pageSize: number;
  /** Names transactions. Must never repeat. */
  readonly ids: () => string;
}

export class DynamoRecurring implements RecurringRepository {
  private readonly options: RecurringOptions;

  constructor(options: RecurringOptions) {
    this.options = options;
  }

  async createSubscription(authority: Authority, created: RecurringChange): Promise<void> {
    const { subscription } = created;
    const changeId = this.options.ids();
    const Item = writeRecurring(subscription, changeId);
    const refused = () => new RecordChangedError('there is a subscription of this id');
    const put = { item: { Put: { ...this.table, Item, ...rowIsNew('PK') } }, refused };
    await this.commit(authority, subscription, changeId, [put, this.log(created)]);
  }

  async createReceipt(receipt: NewReceipt): Promise<readonly Write[]> {
    const counter = recurringKeys.counter(receipt.accountId);
    const found = await this.item(counter);
    const last = found === undefined ? null : readCounter(found);
    const numbered: Receipt = { ...receipt, number: (last ?? 0) + 1 };
    const taken = () => new RecordChangedError('the account has another receipt of this number');
    const Item = marshall({ ...counter, ReceiptNumber: numbered.number });
    const isNext = last === null ? rowIsNew('PK') : hasNumber(last);
    return [
      asWrite({ item: { Put: { ...this.table, Item, ...isNext } }, refused: taken }),
      asWrite({
        item: { Put: { ...this.table, Item: writeReceipt(numbered), ...rowIsNew('PK') } },
        refused: taken,
      }),
    ];
  }

  async updateSubscription(
    authority: Authority,
    before: RecurringSubscription,
    change: RecurringChange,
    also: readonly Write[] = [],
  ): Promise<void> {
    const { subscription, cause } = change;
    if (!isLegalForRecurring(before.status, subscription.status, cause))
      throw new IllegalTransitionError(
        `a recurring subscription does not go from ${before.status} to ${subscription.status} because of ${cause}`,
      );
    const changeId = this.options.ids();
    const changes =
      before.sku === subscription.sku
        ? [this.update(before, subscription, changeId)]
        : await this.move(before, subscription, changeId);
    // What was sent and what came of it stands in the attempt.
    const log = cause === 'attempt-opened' ? [] : [this.log(change)];
    await this.commit(authority, subscription, changeId, [...changes, ...log, ...also.map(fromWrite)]);
  }

  getDueRemindersByDate(date: CalendarDate, key: PageKey | null): Promise<DueRecurringPage> {
    return this.dueOn(REMINDERS_BY_DAY, 'NextReminderDate', date, key);
  }

  getDuePaymentsByDate(date: CalendarDate, key: PageKey | null): Promise<DueRecurringPage> {
    return this.dueOn(PAYMENTS_BY_DAY, 'NextPaymentDate', date, key);
  }

  async getSubscriptionsByAccount(accountId: AccountId): Promise<RecurringOfAccount> {
    const rows = await this.ofAccount(accountId, recurringPrefixes.subscriptions);
    const { found: subscriptions, malformed } = readRows(rows, readRecurring);
    return { subscriptions, malformed };
  }

  async getReceiptsByAccount(
    accountId: AccountId,
    { now, limit, key }: { readonly now: Instant; readonly limit: number; readonly key: PageKey | null },
  ): Promise<ReceiptPage> {
    const query = this.query(accountId, recurringPrefixes.receipts);
    const { items, nextKey } = await queryPage(
      this.options.client,
      {
        ...query,
        // DynamoDB takes its time with what has expired.
        FilterExpression: '#ttl > :now',
        ExpressionAttributeNames: { '#ttl': 'TTL' },
        ExpressionAttributeValues: {
          ...query.ExpressionAttributeValues,
          ':now': { N: String(ttlSeconds(now)) },
        },
        ScanIndexForward: false,
        Limit: limit,
      },
      key,
    );
    const { found: receipts, malformed } = readRows(items, readReceipt);
    return { receipts, malformed, nextKey };
  }

  async getSubscription({ accountId, recurringId }: RecurringRef): Promise<RecurringSubscription | null> {
    const [row] = await this.ofAccount(accountId, recurringPrefixes.subscription(recurringId));
    return row === undefined ? null : readRecurring(row);
  }

  async getReceipt(accountId: AccountId, number: number): Promise<Receipt | null> {
    const [row] = await this.ofAccount(accountId, recurringPrefixes.receipt(number));
    return row === undefined ? null : readReceipt(row);
  }

  async changesOf({ accountId, recurringId }: RecurringRef): Promise<readonly RecurringLogEntry[]> {
    return (await this.ofAccount(accountId, recurringPrefixes.changes(recurringId))).map(readChange);
  }

  async dueSince(list: DueList): Promise<CalendarDate | null> {
    const item = await this.item(recurringKeys.mark(list));
    return item === undefined ? null : readMark(item);
  }

  async noteDueSince(list: DueList, day: CalendarDate): Promise<void> {
    const Item = marshall({ ...recurringKeys.mark(list), Since: day });
    await this.options.client.send(new PutItemCommand({ ...this.table, Item }));
  }

  private get table(): { readonly TableName: string } {
    return { TableName: this.options.table };
  }

  private commit(
    authority: Authority,
    subscription: RecurringSubscription,
    token: string,
    writes: DynamoWrite[],
  ): Promise<void> {
    const key = marshall(recurringKeys.subscription(subscription));
    const evidence = { table: this.options.table, key, attribute: 'ChangeId' };
    return this.options.transactor.commit({ authority, writes, token, evidence });
  }

  /** What other systems may have added to the row stays. */
  private update(before: RecurringSubscription, after: RecurringSubscription, changeId: string): DynamoWrite {
    const attributes = { ...recurringAttributes(after), ChangeId: changeId };
    const names = Object.keys(attributes);
    const isSet = (name: string): boolean => attributes[name as keyof typeof attributes] !== null;
    const set = names.filter(isSet).map((name) => `#${name} = :${name}`);
    const remove = names.filter((name) => !isSet(name)).map((name) => `#${name}`);
    const values = Object.entries(attributes).filter(([name]) => isSet(name));
    const condition = isAsRead(before);
    const Update = {
      ...this.table,
      Key: marshall(recurringKeys.subscription(before)),
      UpdateExpression: [
        `SET ${set.join(', ')}`,
        ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')}`] : []),
      ].join(' '),
      ConditionExpression: condition.ConditionExpression,
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...marshall(Object.fromEntries(values.map(([name, value]) => [`:${name}`, value]))),
        ...condition.ExpressionAttributeValues,
      },
    };
    return { item: { Update }, refused: changedMeanwhile };
  }

  /** The SKU is part of the key, so the row moves: with all that is in it. */
  private async move(
    before: RecurringSubscription,
    after: RecurringSubscription,
    changeId: string,
  ): Promise<DynamoWrite[]> {
    const from = recurringKeys.subscription(before);
    const row = (await this.item(from)) ?? {};
    const ours = new Set(Object.keys(recurringAttributes(before)));
    const others = Object.fromEntries(Object.entries(row).filter(([name]) => !ours.has(name)));
    const Item = { ...others, ...writeRecurring(after, changeId) };
    const Key = marshall(from);
    return [
      { item: { Delete: { ...this.table, Key, ...isAsRead(before) } }, refused: changedMeanwhile },
      { item: { Put: { ...this.table, Item, ...rowIsNew('PK') } }, refused: changedMeanwhile },
    ];
  }

  private log(change: RecurringChange): DynamoWrite {
    return fromWrite(unconditional({ Put: { ...this.table, Item: writeChange(change) } }));
  }

  private async dueOn(
    index: string,
    attribute: string,
    date: CalendarDate,
    key: PageKey | null,
  ): Promise<DueRecurringPage> {
    const { items, nextKey } = await queryPage(
      this.options.client,
      {
        ...this.table,
        IndexName: index,
        KeyConditionExpression: '#day = :day',
        ExpressionAttributeNames: { '#day': attribute },
        ExpressionAttributeValues: { ':day': { S: date } },
        Limit: this.options.pageSize,
      },
      key,
    );
    const { found: due, malformed } = readRows(items, refOf);
    return { due, malformed, nextKey };
  }

  private ofAccount(accountId: AccountId, prefix: string): Promise<RawItem[]> {
    return queryToTheEnd(this.options.client, this.query(accountId, prefix));
  }

  private query(accountId: AccountId, prefix: string): QueryCommandInput {
    return {
      ...this.table,
      KeyConditionExpression: 'PK = :pk AND begins_with(SK, :prefix)',
      ExpressionAttributeValues: {
        ':pk': { S: recurringKeys.counter(accountId).PK },
        ':prefix': { S: prefix },
      },
      ConsistentRead: true,
    };
  }

  private async item(key: { readonly PK: string; readonly SK: string }): Promise<RawItem | undefined> {
    const { Item } = await this.options.client.send(
      new GetItemCommand({ ...this.table, Key: marshall(key), ConsistentRead: true }),
    );
    return Item;
  }
}

const changedMeanwhile = () => new RecordChangedError('the recurring subscription was changed meanwhile');

/** No two changes of a subscription have the same stamp; a row of another system has none. */
const isAsRead = ({ changedDate }: RecurringSubscription): Condition =>
  changedDate === NEVER_CHANGED
    ? { ConditionExpression: 'attribute_exists(PK) AND attribute_not_exists(ChangedDate)' }
    : {
        ConditionExpression: 'ChangedDate = :read',
        ExpressionAttributeValues: { ':read': { S: sortableText(changedDate) } },
      };

const hasNumber = (number: number): Condition => ({
  ConditionExpression: 'ReceiptNumber = :last',
  ExpressionAttributeValues: { ':last': { N: String(number) } },
});
