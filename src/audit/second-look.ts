import { isDeepStrictEqual } from 'node:util';
import { FreezeLog } from './freezes.ts';
import { violationsOf } from './rules.ts';
import type { AuditTables, PlainItem, RowKey } from './source.ts';
import type { Tally } from './tally.ts';
import type { Circumstances, RecordCase, UserCase } from './user-case.ts';
import { readUser } from './user-case.ts';
import type { Violation } from './violation.ts';

export const LOOKS = 5;
/** DynamoDB reads a hundred items at one moment: a row and its newest history row for each of these. */
const MOST_RECORDS = 50;

/**
 * Looks again at a user who seemed to break a rule. The tables are read one after the other while workers write, so
 * rows of different moments may have been held against each other. Here everything is read anew, and then the rows once
 * more, all in one transaction: only if none has moved was it one moment, and only then is it reported. Every change of
 * a record stamps its row, so equal rows prove that nothing happened. Null: it changed at every look.
 */
export async function lookAgain(
  tables: AuditTables,
  userId: string,
  money: ReadonlyMap<string, Tally>,
  circumstances: Omit<Circumstances, 'freezes'>,
): Promise<Violation[] | null> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const user = await readUser(tables, userId, await tables.rowsOf(userId), money);
    // After the attempts: a freeze that was lifted before one of them must be known as lifted.
    const freezes = await FreezeLog.read(tables.freezeLog());
    const violations = violationsOf(user, { ...circumstances, freezes });
    if (violations.length === 0 || (await stoodStill(tables, user, violations))) return violations;
  }
  return null;
}

async function stoodStill(
  tables: AuditTables,
  user: UserCase,
  violations: readonly Violation[],
): Promise<boolean> {
  const suspects = new Set(violations.map(({ subscription_id }) => subscription_id));
  const first = [...user.records]
    .sort((a, b) => Number(suspects.has(b.subscriptionId)) - Number(suspects.has(a.subscriptionId)))
    .slice(0, MOST_RECORDS)
    .flatMap(rowsSeen);
  // Two rows of one record share their history, and a transaction reads an item once.
  const seen = [...new Map(first.map((one) => [JSON.stringify(one.key), one])).values()];
  if (seen.length === 0) return true;
  const found = await tables.readTogether(seen.map(({ key }) => key));
  return found !== null && seen.every(({ item }, i) => isDeepStrictEqual(item, found[i]));
}

interface Seen {
  readonly key: RowKey;
  /** Undefined: there was none. */
  readonly item: PlainItem | undefined;
}

function rowsSeen({ row, changes }: RecordCase): Seen[] {
  const newest = changes.at(-1);
  const state = row ?? newest;
  if (state === undefined) return [];
  const { userId, billingDateText, lastRunDateText } = state;
  return [
    { key: { table: 'billing', userId, sortKey: billingDateText }, item: row?.item },
    {
      // A row whose history came in between has one by now, under the row's own stamp.
      key: { table: 'history', userId, sortKey: newest?.lastRunDateText ?? lastRunDateText },
      item: newest?.item,
    },
  ];
}
