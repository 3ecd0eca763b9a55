import { byInstant, plusMs } from '../instant.ts';
import { CLOCK_DIFFERENCE_MS } from '../rules/2-no-debit-without-intent.ts';
import type { AuditTables, PlainItem } from '../source.ts';
import type { Tally } from '../tally.ts';
import type { Circumstances } from '../user-case.ts';
import { readAll } from '../user-case.ts';
import type { ReceiptRow, RecurringAttempt, RecurringChange, RecurringRow } from './recurring-record.ts';
import {
  isOf,
  periodId,
  readCounter,
  readReceiptRow,
  readRecurringAttempt,
  readRecurringChange,
  readRecurringRow,
  recurringRecordId,
} from './recurring-record.ts';

/** The payment of one period: its attempts, and what moved. */
export interface PeriodCase {
  readonly period: string;
  readonly subscriptionId: string;
  readonly attempts: readonly RecurringAttempt[];
  /** Null: no money moved for it, or the ledger cannot be read. */
  readonly tally: Tally | null;
}

/** Everything that is stored about one recurring payment. */
export interface RecurringCase {
  readonly subscriptionId: string;
  readonly userId: string;
  readonly row: RecurringRow;
  /** Oldest first. */
  readonly changes: readonly RecurringChange[];
  readonly receipts: readonly ReceiptRow[];
  readonly attempts: readonly RecurringAttempt[];
  readonly periods: readonly PeriodCase[];
}

export interface AccountCase {
  readonly userId: string;
  readonly subscriptions: readonly RecurringCase[];
  readonly receipts: readonly ReceiptRow[];
  /** The number of the last receipt. */
  readonly counter: number;
  /** Items that cannot be read. The rules go on without them. */
  readonly unreadable: readonly string[];
}

export interface RecurringCircumstances extends Circumstances {
  /** From which day on payments and reminders are looked for. Null: no run has looked yet. */
  readonly dueSince: { readonly payments: string | null; readonly reminders: string | null };
}

/** One sentence that must be true of every recurring payment, as a function that finds where it is not. */
export type RecurringRule = (
  subscription: RecurringCase,
  circumstances: RecurringCircumstances,
) => Iterable<string>;

export async function readAccount(
  tables: Pick<AuditTables, 'attemptsOf'>,
  userId: string,
  items: readonly PlainItem[],
  money: ReadonlyMap<string, Tally>,
): Promise<AccountCase> {
  const unreadable: string[] = [];
  const read = <T>(kind: Parameters<typeof isOf>[1], reader: (item: PlainItem) => T): T[] =>
    readAll(
      items.filter((item) => isOf(item, kind)),
      reader,
      (item, detail) => unreadable.push(`${String(item['SK'])}: ${detail}`),
    );
  const receipts = read('REC#', readReceiptRow);
  const changes = read('CHG#', readRecurringChange).sort((a, b) => byInstant(a.at, b.at));
  const subscriptions: RecurringCase[] = [];
  // One after the other: many accounts are read at once already.
  for (const row of read('SUB#', readRecurringRow)) {
    const { recurringId } = row;
    const subscriptionId = recurringRecordId(userId, recurringId);
    const attempts = readAll(await tables.attemptsOf(subscriptionId), readRecurringAttempt, (_, detail) =>
      unreadable.push(detail),
    );
    subscriptions.push({
      subscriptionId,
      userId,
      row,
      changes: changes.filter((change) => change.recurringId === recurringId),
      receipts: receipts.filter((receipt) => receipt.recurringId === recurringId),
      attempts,
      periods: periodsOf(subscriptionId, attempts, money),
    });
  }
  return { userId, subscriptions, receipts, counter: read('COUNTER', readCounter)[0] ?? 0, unreadable };
}

/**
 * What had been told when an attempt was begun: what comes before the change that tells how it ended. The stamps of a
 * subscription's changes grow whatever the clocks say; only its end may come in between.
 */
export function changesBefore(
  { changes }: RecurringCase,
  { id, openedAt }: RecurringAttempt,
): RecurringChange[] {
  const own = changes.findIndex(({ attemptId }) => attemptId === id);
  const earlier = own === -1 ? changes : changes.slice(0, own);
  return earlier.filter(
    ({ cause, at }) => cause !== 'cancelled' || at < plusMs(openedAt, -CLOCK_DIFFERENCE_MS),
  );
}

const periodsOf = (
  subscriptionId: string,
  attempts: readonly RecurringAttempt[],
  money: ReadonlyMap<string, Tally>,
): PeriodCase[] =>
  [...new Set(attempts.map(({ period }) => period))].map((period) => ({
    period,
    subscriptionId,
    attempts: attempts.filter((attempt) => attempt.period === period),
    tally: money.get(periodId(subscriptionId, period)) ?? null,
  }));
