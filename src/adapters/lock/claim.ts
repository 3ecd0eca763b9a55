import { ServiceDownError } from '../../errors.ts';
import type { PastSighting, Sighting } from '../../ports/lock.ts';
import { isFree, isStill, type Condition } from './lock-conditions.ts';
import type { LockContext } from './lock-context.ts';
import type { NewRow, SeenRow } from './lock-row.ts';

/** A row that was last written by this client. */
export interface Claim {
  readonly key: string;
  readonly ownerName: string;
  readonly version: string;
  /** Before the write was sent: the lease counts from here. */
  readonly sentMs: number;
  readonly tookOver: boolean;
}

export type ClaimOutcome = { readonly claim: Claim } | { readonly busy: Sighting };

/** Free, dead, and free again because its holder gave it back in between. More than that is a busy lock. */
const ROUNDS = 3;
const TRIES = 3;
const FIRST_PAUSE_MS = 50;

/** Tries to make the row ours: if it is free, or if `past` proves that its holder is dead. */
export async function claimRow(
  context: LockContext,
  key: string,
  past: PastSighting | undefined,
): Promise<ClaimOutcome> {
  const mine = newRow(context, key);
  let condition = isFree();
  let row: SeenRow | null = null;
  let tookOver = false;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const outcome = await putUntilClear(context, mine, condition);
    if ('sentMs' in outcome) {
      return {
        claim: { key, ownerName: mine.ownerName, version: mine.version, sentMs: outcome.sentMs, tookOver },
      };
    }
    row = outcome.heldBy;
    const free = row === null || row.isReleased;
    if (row !== null && !free && !isDead(context, row, past)) break;
    tookOver = !free;
    condition = row === null || free ? isFree() : isStill(row.version);
  }
  return { busy: sightingOf(context, row) };
}

function newRow(context: LockContext, key: string): NewRow {
  return {
    key,
    ownerName: context.ids(),
    version: context.ids(),
    leaseMs: context.policy.leaseMs,
    acquiredAt: context.clock.now(),
    deleteOnSeconds: context.deleteOnSeconds(),
  };
}

/** Silent for more than its own lease, by the observer's clock, which started after the holder's did. */
function isDead(context: LockContext, row: SeenRow, past: PastSighting | undefined): boolean {
  if (past?.version !== row.version) return false;
  return past.elapsedMs > leaseOf(context, row) + context.policy.takeoverGraceMs;
}

/** A lease that cannot be read is taken for as long as our own: a dead holder is found late, a live one is never robbed. */
const leaseOf = (context: LockContext, row: SeenRow | null): number => row?.leaseMs ?? context.policy.leaseMs;

const sightingOf = (context: LockContext, row: SeenRow | null): Sighting => ({
  version: row?.version ?? '',
  leaseMs: leaseOf(context, row),
});

/** Sends the same put until DynamoDB has taken or refused it. A refusal by our own row means that it was taken before. */
async function putUntilClear(
  context: LockContext,
  mine: NewRow,
  condition: Condition,
): Promise<{ readonly sentMs: number } | { readonly heldBy: SeenRow | null }> {
  const { timer, requests } = context;
  const firstSentMs = timer.elapsedMs();
  let failure: Error | null = null;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    if (attempt > 0) await timer.sleep(FIRST_PAUSE_MS * 2 ** attempt);
    const sentMs = timer.elapsedMs();
    const answer = await requests.put(mine, condition);
    if (answer.kind === 'written') return { sentMs };
    if (answer.kind === 'refused') {
      return answer.row?.ownerName === mine.ownerName ? { sentMs: firstSentMs } : { heldBy: answer.row };
    }
    failure = answer.error;
  }
  // Writes may be throttled where reads are not.
  const row = await requests.read(mine.key).catch(() => null);
  if (row?.ownerName === mine.ownerName) return { sentMs: firstSentMs };
  throw new ServiceDownError('the table of the locks does not answer', { cause: failure });
}
