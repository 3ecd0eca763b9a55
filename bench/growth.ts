import type { Bench } from './bench.ts';
import type { Child } from './child.ts';
import type { Measured } from './figures.ts';
import { medianRatio } from './figures.ts';
import { RECORDS_EACH, dueMembers, membersNotDue } from './members.ts';
import { timedRun } from './scheduled-run.ts';
import type { Site } from './site.ts';
import { openSite } from './site.ts';

const ROUNDS = 5;
const DUE = 80;
const SIZES = [1_000, 10_000] as const;

interface Place {
  readonly site: Site;
  readonly worker: Child;
  readonly msPerRecord: number[];
}

/** The same batch, due in a small table and in a large one, in turns. */
export async function measureGrowth({ ground, say }: Bench): Promise<Measured> {
  const places: Place[] = [];
  try {
    for (const size of SIZES) {
      const site = await openSite(ground);
      await site.fill(membersNotDue(size / RECORDS_EACH - DUE));
      places.push({ site, worker: await ground.worker(site.environment), msPerRecord: [] });
    }
    for (const { site } of places) await collectAndForget(site);
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const { site, msPerRecord } of places) msPerRecord.push(await collectAndForget(site));
      const [small, large] = places.map(({ msPerRecord }) => (msPerRecord.at(-1) ?? 0).toFixed(2));
      say(`round ${round}: ${small} ms per record among 1,000, ${large} ms among 10,000`);
    }
    const [small = [], large = []] = places.map(({ msPerRecord }) => msPerRecord);
    return { growth_10k_over_1k: medianRatio(large, small) };
  } finally {
    await Promise.all(places.map(({ worker }) => worker.stop()));
    await Promise.all(places.map(({ site }) => site.close()));
  }
}

/** What was collected is taken away again: the tables must keep their size from round to round. */
async function collectAndForget(site: Site): Promise<number> {
  const members = dueMembers(DUE);
  await site.settle(members);
  const { elapsedMs } = await timedRun(site, DUE);
  await site.remove(members);
  return elapsedMs / DUE;
}
