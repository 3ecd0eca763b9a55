import type { CalendarDate } from '../domain/calendar-date.ts';
import type { Instant } from '../domain/instant.ts';
import type { RecurringChange } from '../domain/recurring/outcomes.ts';
import type {
  AccountId,
  NewReceipt,
  Receipt,
  RecurringId,
  RecurringSubscription,
} from '../domain/recurring/recurring.ts';
import type { MalformedRowError } from '../errors.ts';
import type { PageKey } from './subscriptions.ts';
import type { Authority, Write } from './transaction.ts';

export interface RecurringRef {
  readonly accountId: AccountId;
  readonly recurringId: RecurringId;
}

/** Those of one day. From an index, so that one made or moved just now may be missing. */
export interface DueRecurringPage {
  readonly due: readonly RecurringRef[];
  readonly malformed: readonly MalformedRowError[];
  readonly nextKey: PageKey | null;
}

export interface RecurringOfAccount {
  readonly subscriptions: readonly RecurringSubscription[];
  readonly malformed: readonly MalformedRowError[];
}

export interface ReceiptPage {
  readonly receipts: readonly Receipt[];
  readonly malformed: readonly MalformedRowError[];
  readonly nextKey: PageKey | null;
}

/** What changed, and what it was then. The attempts themselves are kept elsewhere. */
export interface RecurringLogEntry
  extends
    Pick<RecurringChange, 'cause' | 'by' | 'attemptId'>,
    Pick<
      RecurringSubscription,
      | 'status'
      | 'sku'
      | 'paymentAmount'
      | 'paymentDay'
      | 'periodDate'
      | 'nextPaymentDate'
      | 'nextReminderDate'
    > {
  readonly at: Instant;
}

export const DUE_LISTS = ['payments', 'reminders'] as const;
export type DueList = (typeof DUE_LISTS)[number];

/**
 * The access patterns of the table, by the names that its design gives them. Every change is one transaction: the
 * subscription, the line that tells of it, whatever goes along, and the proof that the lock is still held.
 */
export interface RecurringRepository {
  createSubscription(authority: Authority, created: RecurringChange): Promise<void>;
  /** Takes effect with the change that it goes along with: only then is the account's next number used. */
  createReceipt(receipt: NewReceipt): Promise<readonly Write[]>;
  /** A RecordChangedError says that somebody else changed it meanwhile. */
  updateSubscription(
    authority: Authority,
    before: RecurringSubscription,
    change: RecurringChange,
    also?: readonly Write[],
  ): Promise<void>;
  getDueRemindersByDate(date: CalendarDate, key: PageKey | null): Promise<DueRecurringPage>;
  getDuePaymentsByDate(date: CalendarDate, key: PageKey | null): Promise<DueRecurringPage>;
  /** Consistent. */
  getSubscriptionsByAccount(accountId: AccountId): Promise<RecurringOfAccount>;
  /** Newest first, without those that are to go by `now`. */
  getReceiptsByAccount(
    accountId: AccountId,
    page: { readonly now: Instant; readonly limit: number; readonly key: PageKey | null },
  ): Promise<ReceiptPage>;

  /** Consistent. */
  getSubscription(ref: RecurringRef): Promise<RecurringSubscription | null>;
  getReceipt(accountId: AccountId, number: number): Promise<Receipt | null>;
  /** Oldest first, consistent. */
  changesOf(ref: RecurringRef): Promise<readonly RecurringLogEntry[]>;
  /** Before this day nothing is due any more. Null: nobody has looked yet. */
  dueSince(list: DueList): Promise<CalendarDate | null>;
  noteDueSince(list: DueList, day: CalendarDate): Promise<void>;
}
