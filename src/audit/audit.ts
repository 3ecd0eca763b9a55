import type { Bucket } from './bucket.ts';
import { EVERYBODY, holds } from './bucket.ts';
import { auditFloat, floatsInSetAlone } from './floats/audit-float.ts';
import type { FloatCircumstances, FloatLimits } from './floats/float-case.ts';
import { floatIdOf, floatIdOfItem, ownerOfOpenSet } from './floats/float-record.ts';
import { FreezeLog } from './freezes.ts';
import { auditAccount } from './recurring/audit-account.ts';
import type { RecurringCircumstances } from './recurring/recurring-case.ts';
import { isPeriodTried, readPeriodId } from './recurring/recurring-record.ts';
import { violationsOf } from './rules.ts';
import { lookAgain } from './second-look.ts';
import type { AccountItems, AuditLedger, AuditTables, PlainItem, UserRows } from './source.ts';
import type { Tally, TalliedLedger } from './tally.ts';
import { tallyLedger } from './tally.ts';
import { readUser } from './user-case.ts';
import type { AuditTotals, Violation } from './violation.ts';

export interface AuditSource {
  readonly tables: AuditTables;
  /** Null: its address is not configured. */
  readonly ledger: AuditLedger | null;
}

export interface AuditOptions {
  /** Billing time, in nanoseconds since 1970. */
  readonly now: bigint;
  /** An attempt that is open for longer is a violation. Default: a day. */
  readonly abandonAfterMs?: number;
  /** So many references of the ledger are held in memory at a time; more cost another pass. Default: 500,000. */
  readonly mostReferences?: number;
  /** What floats are held to. Default: three failed ACH debits, two signals a day, ninety days. */
  readonly floatLimits?: FloatLimits;
  /** Users, and floats, looked at side by side. Default: 16. */
  readonly concurrency?: number;
}

export type OnProgress = (totals: AuditTotals) => void;

type Settings = Required<AuditOptions>;
type Counts = { -readonly [K in keyof AuditTotals]: AuditTotals[K] };

const DEFAULTS = {
  abandonAfterMs: 86_400_000,
  mostReferences: 500_000,
  concurrency: 16,
  floatLimits: { failedAch: 3, webhooksPerDay: 2, daysPastDue: 90, twoFailures: false },
};

/**
 * Checks every record against the rules while the system runs, and yields what it finds. The totals are the generator's
 * return value, and `onProgress` hears them on the way. The ledger is read before the tables: whatever a debit needs
 * was written before it, so it must be found there.
 */
export async function* audit(
  source: AuditSource,
  options: AuditOptions,
  onProgress: OnProgress = () => undefined,
): AsyncGenerator<Violation, AuditTotals> {
  const settings: Settings = { ...DEFAULTS, ...options };
  const ledger = source.ledger !== null && (await source.ledger.isReadable()) ? source.ledger : null;
  const counts: Counts = {
    users: 0,
    records: 0,
    floats: 0,
    recurring: 0,
    accountItems: 0,
    attempts: 0,
    debits: 0,
    violations: 0,
    unsettled: 0,
    ledgerRead: ledger !== null,
  };
  const waiting: Bucket[] = [EVERYBODY];
  for (let bucket = waiting.pop(); bucket !== undefined; bucket = waiting.pop()) {
    const money = await readMoney(ledger, bucket, settings);
    counts.debits += money.debits;
    waiting.push(...money.rest);
    for await (const violation of auditBucket(source.tables, money, settings, counts)) {
      counts.violations += 1;
      yield violation;
      onProgress({ ...counts });
    }
    onProgress({ ...counts });
  }
  return { ...counts };
}

const readMoney = (ledger: AuditLedger | null, bucket: Bucket, { mostReferences }: Settings) =>
  ledger === null
    ? { bucket, tallies: new Map<string, Tally>(), rest: [], debits: 0 }
    : tallyLedger(ledger, bucket, mostReferences);

async function* auditBucket(
  tables: AuditTables,
  { bucket, tallies }: TalliedLedger,
  settings: Settings,
  counts: Counts,
): AsyncGenerator<Violation> {
  const freezes = await FreezeLog.read(tables.freezeLog());
  const isLedgerRead = counts.ledgerRead;
  const circumstances = { ...settings, isLedgerRead, freezes, dueSince: await tables.dueSince() };
  const found: Found = { tables, tallies, unclaimed: new Map(tallies), circumstances, counts };
  const users = inBucket(tables.users(), bucket, ({ userId }) => userId);
  yield* aFewTogether(users, settings, (user) => auditUser(found, user));
  const floats = inBucket(tables.floats(), bucket, ownerOf);
  yield* aFewTogether(floats, settings, (item) => auditFloatItem(found, item));
  const accounts = inBucket(tables.accounts(), bucket, ({ accountId }) => accountId);
  yield* aFewTogether(accounts, settings, (account) => auditAccountItems(found, account));
  yield* debitsOfNothing(tables, found.unclaimed);
}

/** What the audit of one user or float works with, and what it leaves behind. */
interface Found {
  readonly tables: AuditTables;
  readonly tallies: ReadonlyMap<string, Tally>;
  /** Money that nothing has claimed yet. */
  readonly unclaimed: Map<string, Tally>;
  readonly circumstances: FloatCircumstances & RecurringCircumstances;
  readonly counts: Counts;
}

async function* inBucket<T>(
  items: AsyncIterable<T>,
  bucket: Bucket,
  ownerOfItem: (item: T) => string,
): AsyncGenerator<T> {
  for await (const item of items) if (holds(bucket, ownerOfItem(item))) yield item;
}

async function* aFewTogether<T>(
  items: AsyncIterable<T>,
  { concurrency }: Settings,
  check: (item: T) => Promise<readonly Violation[]>,
): AsyncGenerator<Violation> {
  let together: T[] = [];
  for await (const item of items) {
    together.push(item);
    if (together.length < concurrency) continue;
    yield* (await Promise.all(together.map(check))).flat();
    together = [];
  }
  yield* (await Promise.all(together.map(check))).flat();
}

async function auditUser(
  { tables, tallies, unclaimed, circumstances, counts }: Found,
  { userId, rows }: UserRows,
): Promise<readonly Violation[]> {
  const user = await readUser(tables, userId, rows, tallies);
  counts.users += 1;
  counts.records += rows.length;
  for (const { subscriptionId, attempts } of user.records) {
    counts.attempts += attempts.length;
    unclaimed.delete(subscriptionId);
  }
  if (violationsOf(user, circumstances).length === 0) return [];
  const confirmed = await lookAgain(tables, userId, tallies, circumstances);
  if (confirmed === null) counts.unsettled += 1;
  return confirmed ?? [];
}

const ownerOf = (item: PlainItem): string => ownerOfOpenSet(item) ?? String(item['user_id']);

async function auditFloatItem(found: Found, item: PlainItem): Promise<readonly Violation[]> {
  const { tables, tallies, unclaimed, circumstances, counts } = found;
  if (ownerOfOpenSet(item) !== null) return floatsInSetAlone(tables, item);
  if (floatIdOfItem(item) === null) return [];
  counts.floats += 1;
  const { subscriptionId, attempts, violations } = await auditFloat(tables, item, tallies, circumstances);
  counts.attempts += attempts;
  unclaimed.delete(subscriptionId);
  if (violations === null) counts.unsettled += 1;
  return violations ?? [];
}

async function auditAccountItems(found: Found, account: AccountItems): Promise<readonly Violation[]> {
  const { tables, tallies, unclaimed, circumstances, counts } = found;
  const audited = await auditAccount(tables, account, tallies, circumstances);
  counts.recurring += audited.subscriptions;
  counts.accountItems += account.items.length;
  counts.attempts += audited.attempts;
  for (const id of audited.claimed) unclaimed.delete(id);
  if (audited.violations === null) counts.unsettled += 1;
  return audited.violations ?? [];
}

/** Money moved for something that no user has, as far as the scans could see; so it is asked for once more. */
async function* debitsOfNothing(
  tables: AuditTables,
  unclaimed: ReadonlyMap<string, Tally>,
): AsyncGenerator<Violation> {
  for (const [subscriptionId, { userId }] of unclaimed) {
    if (await isThere(tables, userId, subscriptionId)) continue;
    const what = nameOf(subscriptionId);
    yield {
      rule: 2,
      user_id: userId,
      subscription_id: subscriptionId,
      detail: `money moved for a ${what} that this user does not have`,
    };
  }
}

function nameOf(recordId: string): string {
  if (readPeriodId(recordId) !== null) return 'recurring payment';
  return floatIdOf(recordId) === null ? 'record' : 'float';
}

async function isThere(tables: AuditTables, userId: string, subscriptionId: string): Promise<boolean> {
  const payment = readPeriodId(subscriptionId);
  if (payment !== null) return isPeriodTried(await tables.attemptsOf(payment.recordId), payment.period);
  const floatId = floatIdOf(subscriptionId);
  if (floatId !== null) return (await tables.floatOf(floatId))?.['user_id'] === userId;
  const rows = await tables.rowsOf(userId);
  return rows.some((row) => row['subscription_id'] === subscriptionId);
}
