import type { AttemptId } from '../attempt.ts';
import type { CalendarDate } from '../calendar-date.ts';
import type { Instant } from '../instant.ts';
import type { Cents } from '../money.ts';

export type AccountId = string & { readonly __brand: 'AccountId' };
export type RecurringId = string & { readonly __brand: 'RecurringId' };

/** PAST_DUE is tried again; FAILED and CANCELLED are ends, and nobody is charged any more. */
export const RECURRING_STATUSES = ['ACTIVE', 'PAST_DUE', 'FAILED', 'CANCELLED'] as const;
export type RecurringStatus = (typeof RECURRING_STATUSES)[number];

/** What an account pays every month for one SKU. It has one period per calendar month, and one payment in each. */
export interface RecurringSubscription {
  readonly accountId: AccountId;
  readonly recurringId: RecurringId;
  readonly sku: string;
  readonly status: RecurringStatus;
  readonly email: string;
  readonly paymentAmount: Cents;
  /** 1 to 31: the day of the month on which it is paid where the month has it; otherwise on the month's last. */
  readonly paymentDay: number;
  /** Names what is charged at the processor's. Never a card number. */
  readonly paymentToken: string;
  /** For people: what they know the token by. */
  readonly paymentDetails: Readonly<Record<string, string>>;
  /** The day for which the payment of this period was meant, also when it is tried later. */
  readonly periodDate: CalendarDate;
  /** When it is charged next. Null: never again. */
  readonly nextPaymentDate: CalendarDate | null;
  /** When the account is told of this period's payment. Null: it has been, or there is nothing to tell. */
  readonly nextReminderDate: CalendarDate | null;
  /** When it was last paid and told of; both begin with its creation. */
  readonly lastPaymentDate: Instant;
  readonly lastReminderDate: Instant;
  /** How often this period's payment was declined. */
  readonly failedTries: number;
  /** Why it is not paid, mostly in the processor's words; empty where nothing went wrong. */
  readonly error: string;
  readonly createdDate: Instant;
  /** When it was last changed. No two changes of it have the same, so that a writer can tell whether it is current. */
  readonly changedDate: Instant;
}

/** What the account has paid for, for it to see. The number is the account's own count. */
export interface Receipt {
  readonly accountId: AccountId;
  readonly number: number;
  readonly recurringId: RecurringId;
  readonly sku: string;
  readonly email: string;
  readonly processedDate: Instant;
  readonly processedAmount: Cents;
  readonly periodDate: CalendarDate;
  /** When the account was told of this payment. */
  readonly remindedDate: Instant;
  readonly attemptId: AttemptId;
  readonly confirmationId: string;
  /** When it goes. */
  readonly expiresAt: Instant;
}

/** The store gives the number, in the transaction that writes it. */
export type NewReceipt = Omit<Receipt, 'number'>;

export const isCharged = (status: RecurringStatus): boolean => status === 'ACTIVE' || status === 'PAST_DUE';

/**
 * Whether the account has been told of this period's payment. In rows of another writer `nextReminderDate` then already
 * names the following period's reminder.
 */
export const isReminded = ({
  nextReminderDate,
  nextPaymentDate,
}: Pick<RecurringSubscription, 'nextReminderDate' | 'nextPaymentDate'>): boolean =>
  nextReminderDate === null || (nextPaymentDate !== null && nextReminderDate > nextPaymentDate);
