import { isDeepStrictEqual } from 'node:util';
import { FreezeLog } from '../freezes.ts';
import { LOOKS } from '../second-look.ts';
import type { AccountItems, AuditTables, PlainItem, RowKey } from '../source.ts';
import type { Tally } from '../tally.ts';
import type { Violation } from '../violation.ts';
import type { RecurringCircumstances } from './recurring-case.ts';
import { readAccount } from './recurring-case.ts';
import { isOf, periodId } from './recurring-record.ts';
import { accountViolationsOf } from './rules.ts';

export interface AuditedAccount {
  readonly subscriptions: number;
  readonly attempts: number;
  /** The payments whose money was looked at, by the names that the ledger has for them. */
  readonly claimed: readonly string[];
  /** Null: it looked wrong and changed at every look. */
  readonly violations: readonly Violation[] | null;
}

export async function auditAccount(
  tables: AuditTables,
  { accountId, items }: AccountItems,
  money: ReadonlyMap<string, Tally>,
  circumstances: RecurringCircumstances,
): Promise<AuditedAccount> {
  const account = await readAccount(tables, accountId, items, money);
  const suspected = accountViolationsOf(account, circumstances);
  const violations = suspected.length === 0 ? [] : await lookAgain(tables, accountId, money, circumstances);
  return {
    subscriptions: account.subscriptions.length,
    attempts: account.subscriptions.reduce((sum, { attempts }) => sum + attempts.length, 0),
    claimed: account.subscriptions.flatMap(({ subscriptionId, periods }) =>
      periods.map(({ period }) => periodId(subscriptionId, period)),
    ),
    violations,
  };
}

/** DynamoDB reads a hundred items at one moment. */
const MOST_ROWS = 100;

/**
 * Looks again at an account that seemed to break a rule; see `second-look.ts`. Whatever changes, a subscription's row is
 * stamped in the same transaction. Read as part of a transaction the rows show that none is under way; so if they are the
 * same before and after, everything that was read in between is of one moment.
 */
async function lookAgain(
  tables: AuditTables,
  accountId: string,
  money: ReadonlyMap<string, Tally>,
  circumstances: RecurringCircumstances,
): Promise<readonly Violation[] | null> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const items = await tables.itemsOfAccount(accountId);
    const keys = rowsOf(items);
    const before = await settled(tables, keys);
    if (before === null) continue;
    const account = await readAccount(tables, accountId, await tables.itemsOfAccount(accountId), money);
    const freezes = await FreezeLog.read(tables.freezeLog());
    const dueSince = await tables.dueSince();
    const violations = accountViolationsOf(account, { ...circumstances, freezes, dueSince });
    if (violations.length === 0 || isDeepStrictEqual(before, await settled(tables, keys))) return violations;
  }
  return null;
}

const rowsOf = (items: readonly PlainItem[]): RowKey[] =>
  items
    .filter((item) => isOf(item, 'SUB#'))
    .slice(0, MOST_ROWS)
    .map((item) => ({ table: 'recurring', pk: String(item['PK']), sk: String(item['SK']) }));

/** Null: another process was writing one of them just now. */
const settled = async (
  tables: AuditTables,
  keys: readonly RowKey[],
): Promise<readonly (PlainItem | undefined)[] | null> => (keys.length === 0 ? [] : tables.readTogether(keys));
