import { QUEUE_OF_STREAM } from '../queues/jobs.ts';
import type { DemoMember } from '../src/demo/population.ts';
import type { EventOutcome } from '../src/ports/inbox.ts';
import type { Bench } from './bench.ts';
import type { Measured } from './figures.ts';
import { median } from './figures.ts';
import { dueMembers } from './members.ts';
import { lastEventMs, waitFor } from './scheduled-run.ts';
import type { Site } from './site.ts';
import { openSite } from './site.ts';
import type { UsersStream } from './users-stream.ts';
import { usersStream } from './users-stream.ts';

const ROUNDS = 4;
const WARM_UP = 50;
export const QUEUE = QUEUE_OF_STREAM.users;

/** Members who cancel: a bridge and a worker, from the stream to the change of their record. */
export async function measureApplied({ ground, records, say }: Bench): Promise<Measured> {
  const site = await openSite(ground);
  const stream = usersStream(ground);
  const bridge = await ground.bridge(site.environment);
  const worker = await ground.worker({ ...site.environment, QUEUES: QUEUE });
  // The worker's own look at how things went keeps the last thousand only.
  const events = Math.min(records, 1_000);
  try {
    await apply(site, stream, WARM_UP);
    const rates: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      rates.push((events * 1_000) / (await apply(site, stream, events)));
      say(`round ${round}: ${rates.at(-1)?.toFixed(1)}/s`);
    }
    return { events_applied_per_s: median(rates) };
  } finally {
    await Promise.all([bridge.stop(), worker.stop()]);
    stream.close();
    await site.close();
  }
}

/** From the first request to the stream to the last event applied. */
async function apply(site: Site, stream: UsersStream, count: number): Promise<number> {
  const members = dueMembers(count);
  await site.settle(members);
  return putAndWait(site, stream, members);
}

/** The same of members who are there. */
export async function putAndWait(
  site: Site,
  stream: UsersStream,
  members: readonly DemoMember[],
): Promise<number> {
  const queue = site.queues.get(QUEUE);
  const count = members.length;
  const beganMs = Date.now();
  await stream.put(members.map(({ bankUser }) => bankUser.user_id));
  await waitFor('all events are dealt with', async () =>
    (await queue.getJobCountByTypes('completed')) >= count ? true : null,
  );
  const elapsedMs = (await lastEventMs(site.redis, queue, 'completed')) - beganMs;
  const outcomes = (await queue.getCompleted(0, -1)).map(({ returnvalue }) => returnvalue as EventOutcome);
  const changed = outcomes.filter(({ result }) => result === 'changed').length;
  // A figure about events that changed nothing would be about something else.
  if (changed !== count) throw new Error(`${changed} of ${count} cancellations changed a record`);
  await site.redis.flushdb();
  return elapsedMs;
}
