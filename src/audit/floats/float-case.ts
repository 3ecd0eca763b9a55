import type { AuditTables, PlainItem } from '../source.ts';
import type { Tally } from '../tally.ts';
import type { Circumstances, Collected } from '../user-case.ts';
import { readAll } from '../user-case.ts';
import { readAttempt } from '../record.ts';
import type { Attempt } from '../record.ts';
import type { FloatRow, LogRow, OpenSet } from './float-record.ts';
import {
  floatIdOfItem,
  oldestRowFirst,
  readFloatRow,
  readLogRow,
  readOpenSet,
  recordIdOf,
} from './float-record.ts';

/** Everything that is stored about one float. */
export interface FloatCase extends Collected {
  readonly floatId: string;
  /** As the row has it, also where the rest of it cannot be read. */
  readonly userId: string;
  /** Null: it cannot be read. */
  readonly row: FloatRow | null;
  /** Oldest first. */
  readonly log: readonly LogRow[];
  readonly openSet: OpenSet | null;
  /** What is wrong with items that cannot be read. The rules go on without them. */
  readonly unreadable: readonly string[];
}

export interface FloatCircumstances extends Circumstances {
  readonly floatLimits: FloatLimits;
}

/** As they are configured: the rules keep no copy of a number that an operator may change. */
export interface FloatLimits {
  readonly failedAch: number;
  readonly webhooksPerDay: number;
  readonly daysPastDue: number;
  /** None after two failures in a row until support has the member's word. */
  readonly twoFailures: boolean;
}

/** One sentence that must be true of every float, as a function that finds where it is not. */
export type FloatRule = (float: FloatCase, circumstances: FloatCircumstances) => Iterable<string>;

export async function readFloatCase(
  tables: AuditTables,
  item: PlainItem,
  money: ReadonlyMap<string, Tally>,
): Promise<FloatCase> {
  const floatId = floatIdOfItem(item) ?? '?';
  const subscriptionId = recordIdOf(floatId);
  const userId = typeof item['user_id'] === 'string' ? item['user_id'] : '?';
  const [log, attempts, openSet] = await Promise.all([
    tables.logOf(floatId),
    tables.attemptsOf(subscriptionId),
    tables.openFloatsOf(userId),
  ]);
  const unreadable: string[] = [];
  const read = <T>(items: readonly PlainItem[], reader: (one: PlainItem) => T): T[] =>
    readAll(items, reader, (_, detail) => unreadable.push(detail));
  return {
    floatId,
    userId,
    subscriptionId,
    row: read([item], readFloatRow)[0] ?? null,
    log: read(log, readLogRow).sort(oldestRowFirst),
    attempts: read(attempts, readAttempt),
    openSet: read(openSet === undefined ? [] : [openSet], readOpenSet)[0] ?? null,
    tally: money.get(subscriptionId) ?? null,
    unreadable,
  };
}

/**
 * What the log told when an attempt was begun. The stamps of a float's changes grow whatever the clocks say, and nothing
 * is logged while an attempt is open: so it is what comes before its own first row.
 */
export function logBefore({ log }: FloatCase, { id, openedAt, resolution }: Attempt): readonly LogRow[] {
  const own = log.findIndex(({ attemptId }) => attemptId === id);
  if (own !== -1) return log.slice(0, own);
  return resolution === null ? log : log.filter(({ runTime }) => runTime <= openedAt);
}
