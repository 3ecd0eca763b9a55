import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { CalendarDate } from '../../domain/calendar-date.ts';
import { parseDate, partsOf } from '../../domain/calendar-date.ts';
import type { Instant } from '../../domain/instant.ts';
import { instantFromMs, isoText, msOf, sortableText } from '../../domain/instant.ts';
import { formatMoney } from '../../domain/money.ts';
import type { RecurringChange } from '../../domain/recurring/outcomes.ts';
import { receiptKey, receiptKeyPrefix } from '../../domain/recurring/receipt-key.ts';
import { recurringRecordId } from '../../domain/recurring/record-id.ts';
import type {
  AccountId,
  Receipt,
  RecurringId,
  RecurringSubscription,
} from '../../domain/recurring/recurring.ts';
import { RECURRING_STATUSES } from '../../domain/recurring/recurring.ts';
import { RECURRING_CAUSES } from '../../domain/recurring/transitions.ts';
import type { DueList, RecurringLogEntry, RecurringRef } from '../../ports/recurring.ts';
import { instant, money } from '../codecs.ts';
import { attemptId, ttlSeconds } from './item-codec.ts';
import type { RawItem } from './raw-item.ts';
import { keyText } from './raw-item.ts';
import type { RowName } from './read-rows.ts';
import { malformedRow, readRow } from './read-rows.ts';

/*
 *   ACC#id     SUB#id#SKU#sku              a subscription
 *   ACC#id     REC#numbertime#SKU#sku      a receipt; in neither index, for it has none of their keys
 *   ACC#id     CHG#id#time                 what changed on a subscription
 *   ACC#id     COUNTER                     the number of the account's last receipt
 *   DUE#list   MARK                        from which day on there may be something due
 */

const SUBSCRIPTIONS = 'SUB#';
const RECEIPTS = 'REC#';
const COUNTER = 'COUNTER';

type Key = { readonly PK: string; readonly SK: string };

const accountKey = (accountId: AccountId): string => `ACC#${accountId}`;

export const recurringKeys = {
  subscription: ({
    accountId,
    recurringId,
    sku,
  }: Pick<RecurringSubscription, 'accountId' | 'recurringId' | 'sku'>): Key => ({
    PK: accountKey(accountId),
    SK: `${SUBSCRIPTIONS}${recurringId}#SKU#${sku}`,
  }),
  receipt: (receipt: Receipt): Key => ({ PK: accountKey(receipt.accountId), SK: receiptKey(receipt) }),
  change: ({ accountId, recurringId, changedDate }: RecurringSubscription): Key => ({
    PK: accountKey(accountId),
    SK: `${changesOf(recurringId)}${sortableText(changedDate)}`,
  }),
  counter: (accountId: AccountId): Key => ({ PK: accountKey(accountId), SK: COUNTER }),
  mark: (list: DueList): Key => ({ PK: `DUE#${list}`, SK: 'MARK' }),
} as const;

const changesOf = (recurringId: RecurringId): string => `CHG#${recurringId}#`;

/** Whatever of an account begins so. */
export const recurringPrefixes = {
  subscriptions: SUBSCRIPTIONS,
  /** Whatever its SKU is by now. */
  subscription: (recurringId: RecurringId): string => `${SUBSCRIPTIONS}${recurringId}#SKU#`,
  receipts: RECEIPTS,
  receipt: receiptKeyPrefix,
  changes: changesOf,
} as const;

const day = z.string().transform((text, context): CalendarDate => {
  const parsed = parseDate(text);
  if (parsed === null) context.addIssue('not a date');
  return parsed ?? z.NEVER;
});
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null);
/** Numbers come as their text. */
const count = z
  .string()
  .regex(/^\d{1,15}$/, 'not a number')
  .transform(Number);
const dayOfMonth = count.refine((value) => value >= 1 && value <= 31, 'not a day of the month');

/** Another system wrote the day that it is paid on as a date of its own. */
const paymentDate = z.union([dayOfMonth, day.transform((date) => partsOf(date).day)]);

const TOKEN = 'token';

const subscriptionRow = z.object({
  SKU: z.string().min(1),
  Email: z.string(),
  PaymentAmount: money,
  PaymentDay: dayOfMonth.optional(),
  PaymentDate: paymentDate.optional().catch(undefined),
  PaymentDetails: z.record(z.string(), z.string()).default({}),
  NextPaymentDate: optional(day),
  NextReminderDate: optional(day),
  LastPaymentDate: instant,
  LastReminderDate: instant,
  CreatedDate: instant,
  // Rows of another system have none of these.
  Status: z.enum(RECURRING_STATUSES).default('ACTIVE'),
  PeriodDate: optional(day),
  FailedTries: count.default(0),
  Error: z.string().default(''),
  ChangedDate: optional(instant),
});

/** A row that was never changed here: it has no stamp. */
export const NEVER_CHANGED = instantFromMs(0);

export function readRecurring(item: RawItem): RecurringSubscription {
  const ref = refOf(item);
  const row = read(subscriptionRow, item, ref);
  const { [TOKEN]: paymentToken = '', ...paymentDetails } = row.PaymentDetails;
  return {
    ...ref,
    sku: row.SKU,
    status: row.Status,
    email: row.Email,
    paymentAmount: row.PaymentAmount,
    paymentDay: row.PaymentDay ?? row.PaymentDate ?? malformed(item, ref, 'PaymentDay', 'is missing'),
    paymentToken,
    paymentDetails,
    periodDate:
      row.PeriodDate ?? row.NextPaymentDate ?? malformed(item, ref, 'NextPaymentDate', 'is missing'),
    nextPaymentDate: row.NextPaymentDate,
    nextReminderDate: row.NextReminderDate,
    lastPaymentDate: row.LastPaymentDate,
    lastReminderDate: row.LastReminderDate,
    failedTries: row.FailedTries,
    error: row.Error,
    createdDate: row.CreatedDate,
    changedDate: row.ChangedDate ?? NEVER_CHANGED,
  };
}

/** Everything but the key. What is null is not there: an item without an index's key is not in it. */
export const recurringAttributes = (content: RecurringSubscription) => ({
  SKU: content.sku,
  Status: content.status,
  Email: content.email,
  PaymentAmount: formatMoney(content.paymentAmount),
  PaymentDay: content.paymentDay,
  PaymentDetails: { ...content.paymentDetails, [TOKEN]: content.paymentToken },
  PeriodDate: content.periodDate,
  NextPaymentDate: content.nextPaymentDate,
  NextReminderDate: content.nextReminderDate,
  LastPaymentDate: timeText(content.lastPaymentDate),
  LastReminderDate: timeText(content.lastReminderDate),
  FailedTries: content.failedTries,
  Error: content.error,
  CreatedDate: timeText(content.createdDate),
  ChangedDate: sortableText(content.changedDate),
});

/** As the table's design has it: to the millisecond, always three digits, so that texts sort by time. */
const timeText = (at: Instant): string => isoText(msOf(at));

export function writeRecurring(content: RecurringSubscription, changeId: string): RawItem {
  const attributes = Object.entries(recurringAttributes(content)).filter(([, value]) => value !== null);
  return marshall({
    ...recurringKeys.subscription(content),
    ...Object.fromEntries(attributes),
    ChangeId: changeId,
  });
}

const receiptRow = z.object({
  SKU: z.string().min(1),
  Email: z.string(),
  ReceiptNumber: count,
  SubscriptionId: z.custom<RecurringId>((value) => typeof value === 'string'),
  ProcessedDate: instant,
  ProcessedAmount: money,
  PeriodDate: day,
  RemindedDate: instant,
  AttemptId: attemptId,
  ConfirmationId: z.string(),
  TTL: count,
});

export function readReceipt(item: RawItem): Receipt {
  const accountId = accountOf(item);
  const row = read(receiptRow, item, { accountId, recurringId: '?' as RecurringId });
  return {
    accountId,
    number: row.ReceiptNumber,
    recurringId: row.SubscriptionId,
    sku: row.SKU,
    email: row.Email,
    processedDate: row.ProcessedDate,
    processedAmount: row.ProcessedAmount,
    periodDate: row.PeriodDate,
    remindedDate: row.RemindedDate,
    attemptId: row.AttemptId,
    confirmationId: row.ConfirmationId,
    expiresAt: instantFromMs(row.TTL * 1_000),
  };
}

export const writeReceipt = (receipt: Receipt): RawItem =>
  marshall({
    ...recurringKeys.receipt(receipt),
    SKU: receipt.sku,
    Email: receipt.email,
    ReceiptNumber: receipt.number,
    SubscriptionId: receipt.recurringId,
    ProcessedDate: timeText(receipt.processedDate),
    ProcessedAmount: formatMoney(receipt.processedAmount),
    PeriodDate: receipt.periodDate,
    RemindedDate: timeText(receipt.remindedDate),
    AttemptId: receipt.attemptId,
    ConfirmationId: receipt.confirmationId,
    TTL: ttlSeconds(receipt.expiresAt),
  });

const changeRow = z.object({
  ChangedDate: instant,
  Cause: z.enum(RECURRING_CAUSES),
  By: optional(z.string()),
  AttemptId: optional(attemptId),
  Status: z.enum(RECURRING_STATUSES),
  SKU: z.string(),
  PaymentAmount: money,
  PaymentDay: dayOfMonth,
  PeriodDate: day,
  PaymentOn: optional(day),
  ReminderOn: optional(day),
});

export function readChange(item: RawItem): RecurringLogEntry {
  const row = read(changeRow, item, { accountId: accountOf(item), recurringId: '?' as RecurringId });
  return {
    at: row.ChangedDate,
    cause: row.Cause,
    by: row.By,
    attemptId: row.AttemptId,
    status: row.Status,
    sku: row.SKU,
    paymentAmount: row.PaymentAmount,
    paymentDay: row.PaymentDay,
    periodDate: row.PeriodDate,
    nextPaymentDate: row.PaymentOn,
    nextReminderDate: row.ReminderOn,
  };
}

/** The days under other names than the keys of the indexes: what is told of is not due. */
export const writeChange = ({ subscription, cause, by, attemptId: attempt }: RecurringChange): RawItem =>
  marshall(
    {
      ...recurringKeys.change(subscription),
      ChangedDate: sortableText(subscription.changedDate),
      Cause: cause,
      By: by ?? undefined,
      AttemptId: attempt ?? undefined,
      Status: subscription.status,
      SKU: subscription.sku,
      PaymentAmount: formatMoney(subscription.paymentAmount),
      PaymentDay: subscription.paymentDay,
      PeriodDate: subscription.periodDate,
      PaymentOn: subscription.nextPaymentDate ?? undefined,
      ReminderOn: subscription.nextReminderDate ?? undefined,
    },
    { removeUndefinedValues: true },
  );

const counterRow = z.object({ ReceiptNumber: count });
const markRow = z.object({ Since: day });

export const readCounter = (item: RawItem): number =>
  read(counterRow, item, { accountId: accountOf(item), recurringId: '?' as RecurringId }).ReceiptNumber;
export const readMark = (item: RawItem): CalendarDate =>
  read(markRow, item, { accountId: accountOf(item), recurringId: '?' as RecurringId }).Since;

/**
 * Which subscription an item is, by its key: all that an index has to tell. One with a point in its id, which we never
 * make, would be looked for in another account and be passed over in silence.
 */
export function refOf(item: RawItem): RecurringRef {
  const accountId = accountOf(item);
  const [, recurringId] = /^SUB#([^#.]+)#SKU#/.exec(item['SK']?.S ?? '') ?? [];
  if (recurringId === undefined)
    return malformed(item, { accountId, recurringId: '?' as RecurringId }, 'SK', 'names no subscription');
  return { accountId, recurringId: recurringId as RecurringId };
}

const accountOf = (item: RawItem): AccountId => (item['PK']?.S ?? '').replace(/^ACC#/, '') as AccountId;

/** Numbers as they are written: a double would round what money cannot spare. */
const AS_WRITTEN = { wrapNumbers: (text: string) => text };

const read = <T>(schema: z.ZodType<T>, item: RawItem, ref: RecurringRef): T =>
  readRow(schema, item, nameOf(item, ref), AS_WRITTEN);

function malformed(item: RawItem, ref: RecurringRef, attribute: string, message: string): never {
  throw malformedRow(nameOf(item, ref), attribute, `${attribute}: ${message}`);
}

const nameOf = (item: RawItem, ref: RecurringRef): RowName => ({
  name: `row ${keyText(item, 'PK', 'SK')}`,
  userId: ref.accountId,
  subscriptionId: recurringRecordId(ref),
});
