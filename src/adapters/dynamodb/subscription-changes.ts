import { billingPeriod } from '../../domain/billing-dates.ts';
import { freeInstant } from '../../domain/collisions.ts';
import type { Instant } from '../../domain/instant.ts';
import { compareInstants, formatInstant, isWholeSecond, nextStamp } from '../../domain/instant.ts';
import type { Subscription, SubscriptionId } from '../../domain/subscription.ts';
import type { Cause } from '../../domain/transitions.ts';
import { BIRTH_STATUSES, isLegal } from '../../domain/transitions.ts';
import { IllegalTransitionError, PeriodTakenError, RecordChangedError } from '../../errors.ts';
import type { ChangeContext, StoredSubscription, SubscriptionToWrite } from '../../ports/subscriptions.ts';
import { subscriptionLockKey } from '../../ports/lock.ts';
import type { Authority } from '../../ports/transaction.ts';
import { rowIsNew, rowUnchanged } from './conditions.ts';
import type { RawItem } from './raw-item.ts';
import { keyText } from './raw-item.ts';
import { rowOf } from './stored-row.ts';
import { readSubscription, withData, writeSubscription } from './subscription-codec.ts';
import type { DynamoWrite } from './transaction.ts';

/** A change ready to be sent: the row as it will be, and the one it replaces. */
export interface PreparedChange {
  readonly item: RawItem;
  readonly before: RawItem | null;
  readonly historyKey: RawItem;
}

/** Stamped, placed and checked, in the order of their billing dates. */
export function prepareChanges(
  authority: Authority,
  subscriptions: readonly SubscriptionToWrite[],
  context: ChangeContext,
): PreparedChange[] {
  assertReadable(context);
  assertOneUser(authority, [...subscriptions, ...context.partition.subscriptions]);
  const stamp = stamper(subscriptions, context);
  const taken = takenInstants(context);
  return [...subscriptions]
    .sort((a, b) => compareInstants(a.billingDate, b.billingDate))
    .map((subscription) => {
      const row = rowOf(subscription);
      const placed = row === null ? place(asNew(subscription, context), taken) : inPlace(subscription, row);
      assertLegal(row, placed, context);
      return prepared({ ...placed, lastRunDate: stamp() }, row);
    });
}

/** A change that may move the row to another billing date. */
export function prepareMove(
  authority: Authority,
  original: StoredSubscription,
  updated: Subscription,
  context: ChangeContext,
): PreparedChange {
  assertReadable(context);
  assertOneUser(authority, [original, updated, ...context.partition.subscriptions]);
  const row = rowOf(original);
  if (row === null) throw new Error('only a stored record can be moved');
  const read = readSubscription(row);
  if (read.subscriptionId !== updated.subscriptionId) throw new Error('a move keeps the id');
  const placed =
    read.billingDate === updated.billingDate
      ? updated
      : movedTo(updated, place(updated, takenInstants(context)));
  assertLegal(row, placed, context);
  return prepared({ ...placed, lastRunDate: stamper([original, updated], context)() }, row);
}

function assertReadable({ partition }: ChangeContext): void {
  const [unreadable] = partition.malformed;
  if (unreadable !== undefined) throw unreadable;
}

/**
 * A fence proves that one user's lock is held, and stamps are increasing within one user: nothing of another user may
 * slip into the same call.
 */
export function assertOneUser(authority: Authority, subscriptions: readonly Subscription[]): void {
  const users = new Set(subscriptions.map(({ userId }) => userId));
  if (users.size > 1) throw new Error('one change is about one user');
  const [userId] = users;
  if (userId === undefined || authority === 'unlocked') return;
  if (authority.key !== subscriptionLockKey(userId))
    throw new Error(`the lock ${authority.key} does not protect ${userId}`);
}

/** The history row first, then the billing row: what the items of the transaction are, and what a refusal means. */
export function writesOf(
  { item, before }: PreparedChange,
  target: { billingTable: string; historyTable: string; token: string; context: ChangeContext },
): DynamoWrite[] {
  const { context, token } = target;
  const cause = causeOf(item['subscription_id']?.S ?? '', context);
  const history = withData(item, { ...context.data, cause, change_id: token });
  return [
    historyWrite(target.historyTable, history),
    ...(moves(item, before) ? [deletion(target.billingTable, before)] : []),
    billingWrite(target.billingTable, item, moves(item, before) ? null : before),
  ];
}

export function historyWrite(historyTable: string, history: RawItem): DynamoWrite {
  return {
    item: { Put: { TableName: historyTable, Item: history, ...rowIsNew('user_id') } },
    refused: () =>
      new RecordChangedError(
        `history row ${keyText(history, 'user_id', 'last_run_date')} exists: another change came first`,
      ),
  };
}

function billingWrite(billingTable: string, item: RawItem, before: RawItem | null): DynamoWrite {
  const key = keyText(item, 'user_id', 'billing_date');
  return {
    item: {
      Put: {
        TableName: billingTable,
        Item: item,
        ...(before === null ? rowIsNew('user_id') : rowUnchanged(before)),
      },
    },
    refused: (found) =>
      before === null
        ? new PeriodTakenError(`billing row ${key} exists already`)
        : new RecordChangedError(
            `billing row ${key} was changed ${found === null ? '(it is gone)' : 'meanwhile'}`,
          ),
  };
}

function deletion(billingTable: string, before: RawItem): DynamoWrite {
  return { item: { Delete: asItWasRead(billingTable, before) }, refused: () => changedMeanwhile(before) };
}

/** Nothing is written: what goes along with it holds only while the row is what was read. */
export function rowCheck(billingTable: string, record: StoredSubscription): DynamoWrite {
  const row = rowOf(record);
  if (row === null) throw new Error('a stored record has a row');
  return { item: { ConditionCheck: asItWasRead(billingTable, row) }, refused: () => changedMeanwhile(row) };
}

function asItWasRead(TableName: string, row: RawItem) {
  const { user_id, billing_date } = row;
  if (user_id === undefined || billing_date === undefined) throw new Error('a stored row has a key');
  return { TableName, Key: { user_id, billing_date }, ...rowUnchanged(row) };
}

const changedMeanwhile = (row: RawItem): RecordChangedError =>
  new RecordChangedError(`billing row ${keyText(row, 'user_id', 'billing_date')} was changed meanwhile`);

const moves = (item: RawItem, before: RawItem | null): before is RawItem =>
  before !== null && before['billing_date']?.S !== item['billing_date']?.S;

function prepared(record: Subscription & { lastRunDate: Instant }, before: RawItem | null): PreparedChange {
  return {
    item: writeSubscription(record, before),
    before,
    historyKey: { user_id: { S: record.userId }, last_run_date: { S: formatInstant(record.lastRunDate) } },
  };
}

/**
 * Strictly increasing over the user's records, so that n changes leave n history rows. What is being written counts too:
 * it may be newer than the partition that was read before.
 */
function stamper(subscriptions: readonly Subscription[], { now, partition }: ChangeContext): () => Instant {
  let latest = [...partition.subscriptions, ...subscriptions].reduce<Instant | null>(
    (max, { lastRunDate }) =>
      lastRunDate !== null && (max === null || lastRunDate > max) ? lastRunDate : max,
    null,
  );
  return () => {
    latest = nextStamp(now, latest);
    return latest;
  };
}

const takenInstants = ({ partition }: ChangeContext): Set<Instant> =>
  new Set(partition.subscriptions.map(({ billingDate }) => billingDate));

function asNew(subscription: Subscription, { partition }: ChangeContext): Subscription {
  const twin = partition.subscriptions.find(
    ({ subscriptionId }) => subscriptionId === subscription.subscriptionId,
  );
  if (twin !== undefined) throw new PeriodTakenError(`record ${subscription.subscriptionId} exists already`);
  return subscription;
}

/** Finds a free instant for a new row and takes it. */
function place(record: Subscription, taken: Set<Instant>): Subscription {
  if (!isWholeSecond(record.billingDate)) {
    throw new Error(
      `billing date ${formatInstant(record.billingDate)} is not a whole second: Go would spell it differently`,
    );
  }
  const billingDate = freeInstant(record.billingDate, record.billingStatus, taken);
  if (billingDate === null) {
    throw new PeriodTakenError(
      `user ${record.userId} has a record at ${formatInstant(record.billingDate)} already`,
    );
  }
  taken.add(billingDate);
  return billingDate === record.billingDate ? record : movedTo(record, { ...record, billingDate });
}

/** The period is told by the date, wherever it went. */
const movedTo = (record: Subscription, { billingDate }: Subscription): Subscription => ({
  ...record,
  billingDate,
  billingPeriod: billingPeriod(billingDate),
});

function inPlace(record: Subscription, row: RawItem): Subscription {
  const read = readSubscription(row);
  if (read.subscriptionId !== record.subscriptionId || read.userId !== record.userId) {
    throw new Error('a new record must be built anew: this one carries the row of another');
  }
  if (read.billingDate !== record.billingDate) throw new Error('a changed billing date needs adminUpdate');
  return record;
}

const causeOf = (subscriptionId: string, { cause, causes }: ChangeContext): Cause =>
  causes?.get(subscriptionId as SubscriptionId) ?? cause;

function assertLegal(row: RawItem | null, record: Subscription, context: ChangeContext): void {
  const cause = causeOf(record.subscriptionId, context);
  if (row === null) {
    if (BIRTH_STATUSES.includes(record.billingStatus)) return;
    throw new IllegalTransitionError(`a record cannot begin as ${record.billingStatus}`);
  }
  const from = readSubscription(row).billingStatus;
  if (isLegal(from, record.billingStatus, cause)) return;
  throw new IllegalTransitionError(`${cause} does not lead from ${from} to ${record.billingStatus}`);
}
