import type { Bench } from './bench.ts';
import type { Child } from './child.ts';
import type { Measured } from './figures.ts';
import { median } from './figures.ts';
import { dueMembers } from './members.ts';
import { timedRun } from './scheduled-run.ts';
import type { Site } from './site.ts';
import { openSite } from './site.ts';

const ROUNDS = 3;
const WARM_UP = 50;
const SIZES = [1, 2, 4] as const;
type Size = (typeof SIZES)[number];

/**
 * The same run with one, two and four worker processes, in turns. As many collections in flight in all: the limit is one
 * over all processes.
 */
export async function measureWorkers({ ground, records, say }: Bench): Promise<Measured> {
  const site = await openSite(ground);
  const workers: Child[] = [];
  const perS: Record<Size, number[]> = { 1: [], 2: [], 4: [] };
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const size of SIZES) {
        while (workers.length > size) await workers.pop()?.stop();
        while (workers.length < size) workers.push(await ground.worker(site.environment));
        await collect(site, WARM_UP);
        // The first round warms the store up.
        if (round > 0) perS[size].push(await collect(site, records));
      }
      if (round > 0)
        say(
          `round ${round}: ${SIZES.map((size) => `${size}: ${perS[size].at(-1)?.toFixed(1)}/s`).join(', ')}`,
        );
    }
    return {
      per_s_with_1_worker: median(perS[1]),
      per_s_with_2_workers: median(perS[2]),
      per_s_with_4_workers: median(perS[4]),
    };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await site.close();
  }
}

async function collect(site: Site, records: number): Promise<number> {
  await site.settle(dueMembers(records));
  const { elapsedMs } = await timedRun(site, records);
  return (records * 1_000) / elapsedMs;
}
