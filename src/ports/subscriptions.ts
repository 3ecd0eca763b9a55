import type { Instant } from '../domain/instant.ts';
import type { BillingStatus, Subscription, SubscriptionId } from '../domain/subscription.ts';
import type { Cause } from '../domain/transitions.ts';
import type { MalformedRowError } from '../errors.ts';
import type { Authority, Write } from './transaction.ts';

declare const opaque: unique symbol;

/** The row that a record was read from. Only the store looks inside. */
export interface RowAsRead {
  readonly [opaque]: 'RowAsRead';
}

/**
 * A record and the row it came from. Change it with a spread, `{ ...stored, billingStatus: 'PAUSED' }`: the row goes
 * along, so the store can insist that nobody changed it meanwhile and writes back untouched what was not changed.
 */
export interface StoredSubscription extends Subscription {
  readonly row: RowAsRead;
}

/** A record without `row` is new: it must not exist yet. */
export type SubscriptionToWrite = Subscription | StoredSubscription;

/** A cursor into an index, as text: it travels in jobs and run reports. */
export type PageKey = string & { readonly __brand: 'PageKey' };

export interface SubscriptionPage {
  readonly subscriptions: readonly StoredSubscription[];
  /** Rows that cannot be read. They are reported and the run goes on. */
  readonly malformed: readonly MalformedRowError[];
  /** Null after the last page. A page in the middle may well be empty. */
  readonly nextKey: PageKey | null;
}

export interface Partition {
  readonly subscriptions: readonly StoredSubscription[];
  readonly malformed: readonly MalformedRowError[];
}

export interface ChangeContext {
  readonly now: Instant;
  /** Why the records change. A change that the transition table does not allow for it is refused before it is sent. */
  readonly cause: Cause;
  /** Records among them that change for another reason. */
  readonly causes?: ReadonlyMap<SubscriptionId, Cause>;
  /**
   * The user's whole partition as read under the same lock: history stamps and free instants come from it. With a row in
   * it that cannot be read nothing is written, because that row may hold the instant or the newest stamp.
   */
  readonly partition: Partition;
  /** Goes into the history row only, as `data_*`: which attempt, event or person made the change. */
  readonly data?: Readonly<Record<string, string>>;
  /** What else must happen together with the change. */
  readonly also?: readonly Write[];
}

/**
 * The access patterns of the billing table, by the names that the Go service gives them. Every change is one
 * transaction: history rows, billing rows, whatever goes with them, and the proof that the lock is still held.
 * What is returned is what was written; it can be changed again without another read.
 */
export interface SubscriptionsRepository {
  /** A condition to go along with what only holds while the record is what was read. */
  unchanged(record: StoredSubscription): Write;
  add(
    authority: Authority,
    subscription: SubscriptionToWrite,
    context: ChangeContext,
  ): Promise<StoredSubscription>;
  /**
   * All or nothing up to 48 records; above that one transaction per record, in the order of their dates. New records
   * that are not SCHEDULED move by whole hours when their instant is taken.
   */
  addAll(
    authority: Authority,
    subscriptions: readonly SubscriptionToWrite[],
    context: ChangeContext,
  ): Promise<StoredSubscription[]>;
  /** A change that may move the billing date, which is part of the key: deletes and puts in the same transaction. */
  adminUpdate(
    authority: Authority,
    original: StoredSubscription,
    updated: Subscription,
    context: ChangeContext,
  ): Promise<StoredSubscription>;

  /** Eventually consistent, through an index. */
  getByID(subscriptionID: string): Promise<StoredSubscription | null>;
  /** Consistent, oldest billing date first, to the end. */
  listByUserID(userID: string): Promise<Partition>;
  /** Newest billing date first, one page. */
  getRecentSubscriptions(userID: string): Promise<Partition>;
  /** SCHEDULED before `date`. */
  getScheduledSubscriptionPage(date: Instant, startKey: PageKey | null): Promise<SubscriptionPage>;
  /** ERROR after `date`. */
  getRetrySubscriptionPage(date: Instant, startKey: PageKey | null): Promise<SubscriptionPage>;
  /** ERROR up to and with `date`. */
  getStaleSubscriptionPage(date: Instant, startKey: PageKey | null): Promise<SubscriptionPage>;
  /** PAUSED before `date`. */
  getPausedSubscriptionPage(date: Instant, startKey: PageKey | null): Promise<SubscriptionPage>;
  /** From `billingDate` to before `billingEndDate`. */
  getNotificationSubscriptionPage(
    status: BillingStatus,
    billingDate: Instant,
    billingEndDate: Instant,
    startKey: PageKey | null,
  ): Promise<SubscriptionPage>;
}

/** One change of a record, with the `data_*` that say who made it. */
export interface HistoryEntry {
  /** With its row, where it was read: what was not changed keeps its bytes. */
  readonly subscription: SubscriptionToWrite;
  readonly data: Readonly<Record<string, string>>;
}

export interface HistoryRepository {
  /** Every change of one record, oldest first. */
  getByID(subscriptionID: string): Promise<{ entries: HistoryEntry[]; malformed: MalformedRowError[] }>;
  /** A row for a change that is not also a change of the billing row. Must not exist, and must have a `last_run_date`. */
  add(authority: Authority, entry: HistoryEntry): Promise<void>;
  addAll(authority: Authority, entries: readonly HistoryEntry[]): Promise<void>;
}
