import { redisTimeMs } from '../queues/connection.ts';
import type { SightingInJob } from '../queues/jobs.ts';
import type { PastSighting, Sighting } from '../src/ports/lock.ts';
import type { WorkerContext } from './context.ts';
import type { TakenJob } from './job.ts';
import { delay } from './put-off.ts';

/** A holder is taken for dead when it was silent for its lease and five seconds; a little more, to find it so. */
const BEYOND_LEASE_MS = 5_250;

const MOST_LOOKS = 3;
const SOON_MS = 500;

/** What this job saw of the lock before, by the clock that all workers share. */
export async function pastSighting(
  { redis }: Pick<WorkerContext, 'redis'>,
  seen: SightingInJob | undefined,
): Promise<PastSighting | undefined> {
  if (seen === undefined) return undefined;
  return { version: seen.version, elapsedMs: (await redisTimeMs(redis)) - seen.seenAtMs };
}

/**
 * A record can wait for the next run: it looks when it can be told whether the holder is alive, three times. Returns when
 * it has looked often enough.
 */
export async function lookAgainLater(
  context: Pick<WorkerContext, 'redis'>,
  taken: TakenJob,
  before: SightingInJob | undefined,
  busy: Sighting,
): Promise<void> {
  if ((before?.looks ?? 0) < MOST_LOOKS)
    await lookAgain(context, taken, before, busy, busy.leaseMs + BEYOND_LEASE_MS);
}

/** An event must be applied, and others wait behind it: it looks for as long as it takes. */
export const lookAgainSoon = (
  context: Pick<WorkerContext, 'redis'>,
  taken: TakenJob,
  before: SightingInJob | undefined,
  busy: Sighting,
): Promise<never> => lookAgain(context, taken, before, busy, SOON_MS);

/**
 * Another job works on this user. This one remembers what it saw: the same version after the holder's lease means a dead
 * holder, whose lock can be taken over.
 */
async function lookAgain(
  context: Pick<WorkerContext, 'redis'>,
  taken: TakenJob,
  before: SightingInJob | undefined,
  busy: Sighting,
  waitMs: number,
): Promise<never> {
  const isSame = before?.version === busy.version;
  const seen: SightingInJob = {
    version: busy.version,
    leaseMs: busy.leaseMs,
    seenAtMs: isSame ? before.seenAtMs : await redisTimeMs(context.redis),
    looks: (before?.looks ?? 0) + 1,
  };
  await taken.job.updateData({ ...(taken.job.data as object), seen });
  return delay(taken, waitMs);
}
