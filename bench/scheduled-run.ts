import type { Queue } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { QueueName } from '../queues/queue-names.ts';
import { startRun } from '../src/app/run-collections.ts';
import type { Instant } from '../src/domain/instant.ts';
import { plusMs } from '../src/domain/instant.ts';
import type { Run } from '../src/ports/runs.ts';
import { NOW } from './ground.ts';
import type { Site } from './site.ts';

const LOOK_EVERY_MS = 50;
/** Slower than any machine on which the figures would mean something. */
const LIMIT_MS = 180_000;

export const COLLECTIONS: QueueName = 'collections-scheduled';

let ticks = 0;

/** Each run needs a tick of its own: two starts of one tick are one run. */
export function nextTick(): Instant {
  ticks += 1;
  return plusMs(NOW, ticks * 1_000);
}

/** A scheduled run over exactly `due` records; answers the time from the first record enqueued to the last verdict. */
export async function timedRun(
  site: Site,
  due: number,
  onLook: () => Promise<unknown> = async () => undefined,
): Promise<{ elapsedMs: number }> {
  const queue = site.queues.get(COLLECTIONS);
  const before = (await lastEvent(site.redis, queue)) ?? '0';
  const run = await begin(site);
  const firstMs = await waitFor('the first record is enqueued', () =>
    firstAddedMs(site.redis, queue, before),
  );
  const over = await waitFor('the run is over', async () => {
    await onLook();
    const found = await site.runs.get(run.runId);
    return found?.status === 'running' ? null : found;
  });
  assertAllCollected(over, due);
  return { elapsedMs: (await lastEventMs(site.redis, queue, 'completed')) - firstMs };
}

/** Starts a run as the command line does. */
export async function begin(site: Site): Promise<Run> {
  const tick = nextTick();
  const run = await startRun({ runs: site.runs, clock: { now: () => tick } }, 'scheduled', tick);
  await site.queues.addPage(run);
  return run;
}

/** A figure about records that were not collected would be about something else. */
function assertAllCollected({ status, due, report }: Run, wanted: number): void {
  const collected = report?.byVerdict.collected?.count ?? 0;
  if (status === 'complete' && due === wanted && collected === wanted) return;
  throw new Error(
    `the run is ${status}: ${due} due and ${collected} collected where ${wanted} were to be; ` +
      JSON.stringify(report?.byVerdict),
  );
}

export async function waitFor<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  const endMs = performance.now() + LIMIT_MS;
  while (performance.now() < endMs) {
    const found = await look();
    if (found !== null) return found;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`not in time: ${what}`);
}

/*
 * Redis writes down when it heard of what happened to a job: the id of each event begins with its own clock's
 * milliseconds. Read afterwards, this costs the measured processes nothing.
 */

const msOf = (eventId: string): number => Number(eventId.split('-')[0]);

async function lastEvent(redis: Redis, queue: Queue): Promise<string | null> {
  const [last] = await redis.xrevrange(queue.toKey('events'), '+', '-', 'COUNT', 1);
  return last?.[0] ?? null;
}

async function firstAddedMs(redis: Redis, queue: Queue, after: string): Promise<number | null> {
  const events = await redis.xrange(queue.toKey('events'), `(${after}`, '+', 'COUNT', 100);
  const added = events.find(([, fields]) => fields.includes('added'));
  return added === undefined ? null : msOf(added[0]);
}

export async function lastEventMs(redis: Redis, queue: Queue, name: 'completed' | 'added'): Promise<number> {
  const events = await redis.xrevrange(queue.toKey('events'), '+', '-', 'COUNT', 1_000);
  const found = events.find(([, fields]) => fields.includes(name));
  if (found === undefined) throw new Error(`no job of ${queue.name} was ${name}`);
  return msOf(found[0]);
}
