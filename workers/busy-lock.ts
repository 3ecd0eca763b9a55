import { redisTimeMs } from '../queues/connection.ts';
import type { SightingInJob } from '../queues/jobs.ts';
import type { PastSighting, Sighting } from '../src/ports/lock.ts';
import type { WorkerContext } from './context.ts';
import type { TakenJob } from './job.ts';
import { delay } from './put-off.ts';

/** How often a job looks at a busy lock again, and how soon. */
export interface Patience {
  readonly mostLooks: number;
  readonly waitMs: (busy: Sighting) => number;
}

/** A holder is taken for dead when it was silent for its lease and five seconds; a little more, to find it so. */
const BEYOND_LEASE_MS = 5_250;

/** A record can wait for the next run: it looks when it can be told whether the holder is alive, three times. */
export const AFTER_THE_LEASE: Patience = { mostLooks: 3, waitMs: ({ leaseMs }) => leaseMs + BEYOND_LEASE_MS };

/** An event must be applied, and others wait behind it. */
export const SOON_AND_ALWAYS: Patience = { mostLooks: Number.POSITIVE_INFINITY, waitMs: () => 500 };

/** What this job saw of the lock before, by the clock that all workers share. */
export async function pastSighting(
  { redis }: Pick<WorkerContext, 'redis'>,
  seen: SightingInJob | undefined,
): Promise<PastSighting | undefined> {
  if (seen === undefined) return undefined;
  return { version: seen.version, elapsedMs: (await redisTimeMs(redis)) - seen.seenAtMs };
}

/**
 * Another job works on this user. This one remembers what it saw and looks again after the holder's lease: the same
 * version then means a dead holder, whose lock can be taken over. Returns when it has looked often enough.
 */
export async function lookAgainLater(
  context: Pick<WorkerContext, 'redis'>,
  taken: TakenJob,
  before: SightingInJob | undefined,
  busy: Sighting,
  { mostLooks, waitMs }: Patience = AFTER_THE_LEASE,
): Promise<void> {
  const looks = (before?.looks ?? 0) + 1;
  if (looks > mostLooks) return;
  const isSame = before?.version === busy.version;
  const seen: SightingInJob = {
    version: busy.version,
    leaseMs: busy.leaseMs,
    seenAtMs: isSame ? before.seenAtMs : await redisTimeMs(context.redis),
    looks,
  };
  await taken.job.updateData({ ...(taken.job.data as object), seen });
  await delay(taken, waitMs(busy));
}
