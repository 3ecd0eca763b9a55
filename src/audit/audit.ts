import type { Bucket } from './bucket.ts';
import { EVERYBODY, holds } from './bucket.ts';
import { FreezeLog } from './freezes.ts';
import { violationsOf } from './rules.ts';
import { lookAgain } from './second-look.ts';
import type { AuditLedger, AuditTables, UserRows } from './source.ts';
import type { Tally, TalliedLedger } from './tally.ts';
import { tallyLedger } from './tally.ts';
import type { Circumstances } from './user-case.ts';
import { readUser } from './user-case.ts';
import type { AuditTotals, Violation } from './violation.ts';

export interface AuditSource {
  readonly tables: AuditTables;
  /** Null: nobody told where it is. */
  readonly ledger: AuditLedger | null;
}

export interface AuditOptions {
  /** Billing time, in nanoseconds since 1970. */
  readonly now: bigint;
  /** An attempt that is open for longer is a violation. Default: a day. */
  readonly abandonAfterMs?: number;
  /** So many references of the ledger are held in memory at a time; more cost another pass. Default: 500,000. */
  readonly mostReferences?: number;
  /** Users looked at side by side. Default: 16. */
  readonly concurrency?: number;
}

export type OnProgress = (totals: AuditTotals) => void;

type Settings = Required<AuditOptions>;
type Counts = { -readonly [K in keyof AuditTotals]: AuditTotals[K] };

const DEFAULTS = { abandonAfterMs: 86_400_000, mostReferences: 500_000, concurrency: 16 };

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
  const circumstances = { ...settings, freezes: await FreezeLog.read(tables.freezeLog()) };
  const unclaimed = new Map(tallies);
  const check = (user: UserRows) => auditUser(tables, user, tallies, unclaimed, circumstances, counts);
  let together: UserRows[] = [];
  for await (const user of tables.users()) {
    if (!holds(bucket, user.userId)) continue;
    together.push(user);
    if (together.length < settings.concurrency) continue;
    yield* (await Promise.all(together.map(check))).flat();
    together = [];
  }
  yield* (await Promise.all(together.map(check))).flat();
  yield* debitsOfNoRecord(tables, unclaimed);
}

async function auditUser(
  tables: AuditTables,
  { userId, rows }: UserRows,
  tallies: ReadonlyMap<string, Tally>,
  unclaimed: Map<string, Tally>,
  circumstances: Circumstances,
  counts: Counts,
): Promise<Violation[]> {
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

/** Money moved for something that no user has, as far as the scan could see; so the user is asked once more. */
async function* debitsOfNoRecord(
  tables: AuditTables,
  unclaimed: ReadonlyMap<string, Tally>,
): AsyncGenerator<Violation> {
  for (const [subscriptionId, { userId }] of unclaimed) {
    const rows = await tables.rowsOf(userId);
    if (rows.some((row) => row['subscription_id'] === subscriptionId)) continue;
    yield {
      rule: 2,
      user_id: userId,
      subscription_id: subscriptionId,
      detail: 'money moved for a record that this user does not have',
    };
  }
}
