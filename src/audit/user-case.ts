import type { FreezeLog } from './freezes.ts';
import type { Attempt, Change, RecordState } from './record.ts';
import { UnreadableItem, oldestFirst, readAttempt, readChange, readState } from './record.ts';
import type { AuditTables, PlainItem } from './source.ts';
import type { Tally } from './tally.ts';
import type { Finding } from './violation.ts';

/** What is collected: a billing record or a float. */
export interface Collected {
  readonly subscriptionId: string;
  readonly attempts: readonly Attempt[];
  /** Null: no money moved for it, or the ledger cannot be read. */
  readonly tally: Tally | null;
}

/** Everything that is stored about one billing record. */
export interface RecordCase extends Collected {
  /** Null: there is history, but no billing row. */
  readonly row: RecordState | null;
  /** Oldest first. */
  readonly changes: readonly Change[];
}

export interface UserCase {
  readonly userId: string;
  readonly records: readonly RecordCase[];
  /** Items that cannot be read. The rules go on without them. */
  readonly unreadable: readonly Finding[];
}

/** What a rule needs to know beside the user. */
export interface Circumstances {
  readonly now: bigint;
  readonly abandonAfterMs: number;
  /** False: what the bank has is not known. */
  readonly isLedgerRead: boolean;
  readonly freezes: FreezeLog;
}

/** One sentence that must be true of every user, as a function that finds where it is not. */
export type Rule = (user: UserCase, circumstances: Circumstances) => Iterable<Finding>;

export async function readUser(
  tables: AuditTables,
  userId: string,
  rows: readonly PlainItem[],
  money: ReadonlyMap<string, Tally>,
): Promise<UserCase> {
  const unreadable: Finding[] = [];
  const note = (item: PlainItem, detail: string) => unreadable.push({ subscriptionId: idOf(item), detail });
  const states = readAll(rows, readState, note);
  const changes = byRecord(readAll(await tables.historyOf(userId), readChange, note));
  const withRow = new Set(rows.map(idOf));
  const lost = [...changes.keys()].filter((id) => !withRow.has(id));
  const records: RecordCase[] = [];
  // One after the other: many users are read at once already.
  for (const found of [...states, ...lost]) {
    const row = typeof found === 'string' ? null : found;
    const id = typeof found === 'string' ? found : found.subscriptionId;
    records.push({
      subscriptionId: id,
      row,
      changes: changes.get(id) ?? [],
      attempts: readAll(await tables.attemptsOf(id), readAttempt, note),
      tally: money.get(id) ?? null,
    });
  }
  return { userId, records, unreadable };
}

export function readAll<T>(
  items: readonly PlainItem[],
  read: (item: PlainItem) => T,
  onUnreadable: (item: PlainItem, detail: string) => void,
): T[] {
  return items.flatMap((item) => {
    try {
      return [read(item)];
    } catch (error) {
      if (!(error instanceof UnreadableItem)) throw error;
      onUnreadable(item, `an item cannot be read: ${error.message}`);
      return [];
    }
  });
}

function byRecord(changes: readonly Change[]): Map<string, Change[]> {
  const grouped = new Map<string, Change[]>();
  for (const change of [...changes].sort(oldestFirst)) {
    const group = grouped.get(change.subscriptionId);
    if (group === undefined) grouped.set(change.subscriptionId, [change]);
    else group.push(change);
  }
  return grouped;
}

/** Also of an item that cannot be read otherwise. */
function idOf(item: PlainItem): string {
  const id = item['subscription_id'] ?? item['subscriptionId'];
  return typeof id === 'string' ? id : '?';
}
