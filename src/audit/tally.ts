import type { Bucket } from './bucket.ts';
import { halves, holds } from './bucket.ts';
import type { AuditLedger, LedgerEntry } from './source.ts';

/** What the processor did under one idempotency key. */
export interface KeyTally {
  readonly key: string;
  debits: number;
  credits: number;
  firstDebitAt: bigint | null;
}

/** What moved for one billing record, float or recurring payment of a month. This is kept per reference while the tables are read: keep it small. */
export interface Tally {
  readonly userId: string;
  debitedCents: number;
  creditedCents: number;
  readonly keys: KeyTally[];
}

export interface TalliedLedger {
  /** The users that the tallies are complete for: as many as asked for, or fewer if there were too many references. */
  readonly bucket: Bucket;
  readonly tallies: ReadonlyMap<string, Tally>;
  /** What is left of the users asked for. */
  readonly rest: readonly Bucket[];
  readonly debits: number;
}

/**
 * Adds up the ledger for a bucket of users. When that gives more than `mostReferences`, half of the users are put off
 * to a later pass over the ledger, and so on: memory has a bound, whatever the ledger's length.
 */
export async function tallyLedger(
  ledger: AuditLedger,
  asked: Bucket,
  mostReferences: number,
): Promise<TalliedLedger> {
  const tallies = new Map<string, Tally>();
  const rest: Bucket[] = [];
  let bucket = asked;
  for await (const entry of ledger.entries()) {
    if (!holds(bucket, entry.userId)) continue;
    add(tallies, entry);
    while (tallies.size > mostReferences && bucket.of < MOST_BUCKETS) {
      const [kept, putOff] = halves(bucket);
      rest.push(putOff);
      bucket = kept;
      for (const [id, { userId }] of tallies) if (!holds(kept, userId)) tallies.delete(id);
    }
  }
  return { bucket, tallies, rest, debits: debitsOf(tallies) };
}

/** One user alone may have more references than asked for; splitting does not help there. */
const MOST_BUCKETS = 2 ** 20;

function add(tallies: Map<string, Tally>, entry: LedgerEntry): void {
  let tally = tallies.get(entry.recordId);
  if (tally === undefined) {
    tally = { userId: entry.userId, debitedCents: 0, creditedCents: 0, keys: [] };
    tallies.set(entry.recordId, tally);
  }
  let key = tally.keys.find(({ key: known }) => known === entry.idempotencyKey);
  if (key === undefined) {
    key = { key: entry.idempotencyKey, debits: 0, credits: 0, firstDebitAt: null };
    tally.keys.push(key);
  }
  if (entry.effect === 'credit') {
    key.credits += 1;
    tally.creditedCents += entry.cents;
    return;
  }
  key.debits += 1;
  tally.debitedCents += entry.cents;
  if (key.firstDebitAt === null || entry.at < key.firstDebitAt) key.firstDebitAt = entry.at;
}

function debitsOf(tallies: ReadonlyMap<string, Tally>): number {
  let debits = 0;
  for (const { keys } of tallies.values()) for (const key of keys) debits += key.debits;
  return debits;
}
