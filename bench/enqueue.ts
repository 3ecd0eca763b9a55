import type { Queue } from 'bullmq';
import type { CollectionJob } from '../queues/jobs.ts';
import { collectionJobId } from '../queues/jobs.ts';
import type { DemoMember } from '../src/demo/population.ts';
import { runId } from '../src/domain/runs.ts';
import type { Bench } from './bench.ts';
import type { Measured } from './figures.ts';
import { median, medianRatio } from './figures.ts';
import { dueMembers, dueRecordOf } from './members.ts';
import { COLLECTIONS, begin, lastEventMs, nextTick, waitFor } from './scheduled-run.ts';
import type { Site } from './site.ts';
import { inParts, openSite } from './site.ts';

const ROUNDS = 5;
const DUE = 2_500;
/** As many as go into one call in the pipeline. */
const JOBS_AT_ONCE = 500;

/**
 * A worker that serves page jobs only, so that what they enqueue stays where it is; against a loop that adds the same
 * jobs and reads nothing.
 */
export async function measureEnqueue({ ground, say }: Bench): Promise<Measured> {
  const site = await openSite(ground);
  const bare = await openSite(ground);
  const worker = await ground.worker({ ...site.environment, QUEUES: 'collection-pages' });
  try {
    const members = dueMembers(DUE);
    await site.fill(members);
    await enqueueAll(site);
    await addBulk(bare, members);
    const [pages, bulks, bytes]: [number[], number[], number[]] = [[], [], []];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { elapsedMs, bytesPerJob } = await enqueueAll(site);
      pages.push((DUE * 1_000) / elapsedMs);
      bytes.push(bytesPerJob);
      bulks.push((DUE * 1_000) / (await addBulk(bare, members)));
      say(`round ${round}: pages ${pages.at(-1)?.toFixed(0)}/s, addBulk ${bulks.at(-1)?.toFixed(0)}/s`);
    }
    return {
      enqueue_per_s: median(pages),
      addbulk_per_s: median(bulks),
      enqueue_to_addbulk: medianRatio(pages, bulks),
      redis_bytes_per_job: median(bytes),
    };
  } finally {
    await worker.stop();
    await site.close();
    await bare.close();
  }
}

/** From the moment at which the run's first page is asked for to the last record added. */
async function enqueueAll(site: Site): Promise<{ elapsedMs: number; bytesPerJob: number }> {
  const { redis, queues } = site;
  const queue = queues.get(COLLECTIONS);
  await redis.flushdb();
  const before = await usedMemory(site);
  await begin(site);
  await allAdded(queue);
  const beganMs = await lastPageAskedMs(site);
  const elapsedMs = (await lastEventMs(redis, queue, 'added')) - beganMs;
  const bytesPerJob = ((await usedMemory(site)) - before) / DUE;
  await redis.flushdb();
  return { elapsedMs, bytesPerJob };
}

const allAdded = (queue: Queue): Promise<true> =>
  waitFor('all records are enqueued', async () =>
    (await queue.getJobCountByTypes('waiting')) >= DUE ? true : null,
  );

/** The first event of the flushed database: the page job of pass 1. */
async function lastPageAskedMs({ redis, queues }: Site): Promise<number> {
  const [first] = await redis.xrange(queues.get('collection-pages').toKey('events'), '-', '+', 'COUNT', 1);
  return Number(first?.[0].split('-')[0]);
}

async function usedMemory({ redis }: Site): Promise<number> {
  const [, bytes] = /used_memory:(\d+)/.exec(await redis.info('memory')) ?? [];
  return Number(bytes);
}

/** The same jobs, ids and options, with nothing to read before and nothing to note down after. */
async function addBulk({ redis, queues }: Site, members: readonly DemoMember[]): Promise<number> {
  await redis.flushdb();
  const queue = queues.get(COLLECTIONS);
  const id = runId('scheduled', nextTick());
  const jobs = members.map((member) => {
    const { userId, subscriptionId } = dueRecordOf(member);
    const data: CollectionJob = { runId: id, pass: 1, userId, subscriptionId };
    return { name: 'scheduled', data, opts: { jobId: collectionJobId(data) } };
  });
  const parts = inParts(jobs, JOBS_AT_ONCE);
  const beganMs = performance.now();
  for (const part of parts) await queue.addBulk(part);
  const elapsedMs = performance.now() - beganMs;
  await redis.flushdb();
  return elapsedMs;
}
