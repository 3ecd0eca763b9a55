import type { Attempt } from '../record.ts';
import { UnreadableItem, cents, instant, optionalText, parseCents, readAttempt, text } from '../record.ts';
import type { PlainItem } from '../source.ts';

/** A recurring payment, as its row has it. Dates are `YYYY-MM-DD`. */
export interface RecurringRow {
  readonly item: PlainItem;
  readonly recurringId: string;
  readonly sku: string;
  readonly status: string;
  readonly amountCents: number;
  readonly paymentDay: number;
  readonly periodDate: string;
  readonly nextPaymentDate: string | null;
  readonly nextReminderDate: string | null;
  readonly hasIndexKeys: boolean;
  readonly paymentDetails: readonly string[];
  /** Null: another system wrote it, and it was never changed here. */
  readonly changedDate: bigint | null;
}

/** What changed, and what it was then. */
export interface RecurringChange {
  readonly recurringId: string;
  readonly at: bigint;
  readonly cause: string;
  readonly attemptId: string | null;
  readonly status: string;
  readonly sku: string;
  readonly amountCents: number;
  readonly paymentDay: number;
  readonly periodDate: string;
  readonly nextPaymentDate: string | null;
  readonly nextReminderDate: string | null;
}

export interface ReceiptRow {
  readonly number: number;
  readonly recurringId: string;
  readonly periodDate: string;
  readonly amountCents: number;
  readonly processedDate: bigint;
  readonly remindedDate: bigint;
  readonly attemptId: string;
  /** Seconds since 1970. */
  readonly ttl: number;
}

export interface RecurringAttempt extends Attempt {
  readonly period: string;
  readonly amountCents: number;
  /** It never came to a card: the processor did not know of it, and it was given up. */
  readonly isAbandoned: boolean;
}

/** How a recurring payment is called among the records: attempts, verdicts and violations name it so. */
export const recurringRecordId = (accountId: string, recurringId: string): string =>
  `recurring.${accountId}.${recurringId}`;

/** By what name the ledger has the payment of a period. */
export const periodId = (recordId: string, period: string): string => `${recordId}.${period}`;

/** The same the other way round. Null: it is of another product. */
export function readPeriodId(id: string): { readonly recordId: string; readonly period: string } | null {
  const [, recordId, period] = /^(recurring\..+)\.(\d{4}-\d\d-\d\d)$/.exec(id) ?? [];
  return recordId === undefined || period === undefined ? null : { recordId, period };
}

/** Whether a charge for the period was intended: the attempts as they are stored. */
export const isPeriodTried = (attempts: readonly PlainItem[], period: string): boolean =>
  attempts.some((attempt) => attempt['period'] === period);

/** Which kind of item it is, by its sort key. */
export const isOf = (item: PlainItem, kind: 'SUB#' | 'REC#' | 'CHG#' | 'COUNTER'): boolean =>
  String(item['SK']).startsWith(kind);

export function readRecurringRow(item: PlainItem): RecurringRow {
  const [, recurringId] = /^SUB#([^#]+)#SKU#(.+)$/.exec(String(item['SK'])) ?? [];
  if (recurringId === undefined) throw new UnreadableItem('SK names no subscription');
  const nextPaymentDate = dateOrNull(item, 'NextPaymentDate');
  const periodDate = dateOrNull(item, 'PeriodDate') ?? nextPaymentDate;
  if (periodDate === null) throw new UnreadableItem('PeriodDate is missing');
  const changedDate = optionalText(item, 'ChangedDate');
  return {
    item,
    recurringId,
    sku: text(item, 'SKU'),
    status: optionalText(item, 'Status') || 'ACTIVE',
    amountCents: amount(item),
    paymentDay: dayOfMonth(item),
    periodDate,
    nextPaymentDate,
    nextReminderDate: dateOrNull(item, 'NextReminderDate'),
    hasIndexKeys: ['LastPaymentDate', 'LastReminderDate'].every((name) => optionalText(item, name) !== ''),
    paymentDetails: textsIn(item['PaymentDetails'] ?? {}),
    changedDate: changedDate === '' ? null : instant(item, 'ChangedDate'),
  };
}

/** Every name and value, however deep: another system may have written what we would not. */
const textsIn = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner)])
    : [String(value)];

export function readRecurringChange(item: PlainItem): RecurringChange {
  const [, recurringId] = /^CHG#([^#]+)#/.exec(String(item['SK'])) ?? [];
  if (recurringId === undefined) throw new UnreadableItem('SK names no subscription');
  return {
    recurringId,
    at: instant(item, 'ChangedDate'),
    cause: text(item, 'Cause'),
    attemptId: optionalText(item, 'AttemptId') || null,
    status: text(item, 'Status'),
    sku: text(item, 'SKU'),
    amountCents: cents(item, 'PaymentAmount'),
    paymentDay: number(item, 'PaymentDay'),
    periodDate: date(item, 'PeriodDate'),
    nextPaymentDate: dateOrNull(item, 'PaymentOn'),
    nextReminderDate: dateOrNull(item, 'ReminderOn'),
  };
}

export const readReceiptRow = (item: PlainItem): ReceiptRow => ({
  number: number(item, 'ReceiptNumber'),
  recurringId: text(item, 'SubscriptionId'),
  periodDate: date(item, 'PeriodDate'),
  amountCents: cents(item, 'ProcessedAmount'),
  processedDate: instant(item, 'ProcessedDate'),
  remindedDate: instant(item, 'RemindedDate'),
  attemptId: text(item, 'AttemptId'),
  ttl: number(item, 'TTL'),
});

export const readCounter = (item: PlainItem): number => number(item, 'ReceiptNumber');

export const readRecurringAttempt = (item: PlainItem): RecurringAttempt => ({
  ...readAttempt(item),
  period: date(item, 'period'),
  amountCents: cents(item, 'amount'),
  isAbandoned: (item['resolution'] as PlainItem | null | undefined)?.['errorCode'] === 'abandoned',
});

/** Another system wrote the day that it is paid on as a date of its own. */
function dayOfMonth(item: PlainItem): number {
  if (item['PaymentDay'] !== undefined) return number(item, 'PaymentDay');
  const written = item['PaymentDate'];
  return typeof written === 'number' ? written : Number(date(item, 'PaymentDate').slice(8));
}

/** Another system wrote it as a number. */
function amount(item: PlainItem): number {
  const found = parseCents(String(item['PaymentAmount']));
  if (found === null) throw new UnreadableItem('PaymentAmount is no amount');
  return found;
}

function date(item: PlainItem, name: string): string {
  const found = dateOrNull(item, name);
  if (found === null) throw new UnreadableItem(`${name} is missing`);
  return found;
}

function dateOrNull(item: PlainItem, name: string): string | null {
  const found = optionalText(item, name);
  if (found === '') return null;
  if (!/^\d{4}-\d\d-\d\d$/.test(found) || Number.isNaN(Date.parse(found)))
    throw new UnreadableItem(`${name} is no date`);
  return found;
}

function number(item: PlainItem, name: string): number {
  const value = item[name];
  if (typeof value !== 'number') throw new UnreadableItem(`${name} is no number`);
  return value;
}
