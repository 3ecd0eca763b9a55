import type { Bench } from './bench.ts';
import type { Child } from './child.ts';
import type { Measured } from './figures.ts';
import { median, medianRatio } from './figures.ts';
import type { FloorDone, FloorWork } from './floor-main.ts';
import { AT_ONCE } from './ground.ts';
import { dueMembers } from './members.ts';
import { timedRun } from './scheduled-run.ts';
import type { Site } from './site.ts';
import { openSite } from './site.ts';
import type { Template } from './template.ts';

/** Many short ones tell more than few long ones where neighbours come and go. */
const ROUNDS = 6;
const WARM_UP = 100;
const LARGER = 4;
const MB = 1024 * 1024;

interface Round {
  readonly perS: number;
  readonly cpuMs: number;
}

interface PipelineRound extends Round {
  readonly redisCpuMs: number;
}

/**
 * The pipeline and the floor in turns, on the same tables and the same bank, after each has warmed up; then the worker's
 * memory over few and many records. One worker process against one process of the floor.
 */
export async function measureThroughput(bench: Bench, template: Template): Promise<Measured> {
  const { ground, records, say } = bench;
  const site = await openSite(ground);
  const worker = await ground.worker(site.environment);
  const floor = await ground.start('./floor-main.js', { env: site.environment, upWhen: 'message' });
  // The template names the tables of the site on which it was taken down.
  const here = template.on(site.environment);
  try {
    await pipelineRound(site, worker, WARM_UP);
    await floorRound(site, floor, here, WARM_UP);
    const [pipelines, floors]: [PipelineRound[], Round[]] = [[], []];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const measured: { pipeline?: PipelineRound; bare?: Round } = {};
      const turns = [
        async () => (measured.pipeline = await pipelineRound(site, worker, records)),
        async () => (measured.bare = await floorRound(site, floor, here, records)),
      ];
      // Tables grow and neighbours come: which one goes first changes with every round.
      for (const turn of round % 2 === 0 ? turns.reverse() : turns) await turn();
      const { pipeline, bare } = measured as Required<typeof measured>;
      pipelines.push(pipeline);
      floors.push(bare);
      say(`round ${round}: pipeline ${pipeline.perS.toFixed(1)}/s, floor ${bare.perS.toFixed(1)}/s`);
    }
    const [pipelinePerS, floorPerS] = [median(pipelines.map(perS)), median(floors.map(perS))];
    return {
      pipeline_per_s: pipelinePerS,
      floor_per_s: floorPerS,
      pipeline_to_floor: medianRatio(pipelines.map(perS), floors.map(perS)),
      worker_cpu_ms_per_collection: median(pipelines.map(cpuMs)),
      floor_cpu_ms_per_collection: median(floors.map(cpuMs)),
      redis_cpu_ms_per_collection: median(pipelines.map(({ redisCpuMs }) => redisCpuMs)),
      ...(await memory(site, worker, records)),
    };
  } finally {
    await Promise.all([worker.stop(), floor.stop()]);
    await site.close();
  }
}

const perS = (round: Round): number => round.perS;
const cpuMs = (round: Round): number => round.cpuMs;

async function pipelineRound(site: Site, worker: Child, records: number): Promise<PipelineRound> {
  await site.settle(dueMembers(records));
  const [before, redisBeforeMs] = [await worker.usage(), await redisCpuMs(site)];
  const { elapsedMs } = await timedRun(site, records);
  const [after, redisAfterMs] = [await worker.usage(), await redisCpuMs(site)];
  return {
    perS: (records * 1_000) / elapsedMs,
    cpuMs: (after.cpuMs - before.cpuMs) / records,
    redisCpuMs: (redisAfterMs - redisBeforeMs) / records,
  };
}

async function redisCpuMs({ redis }: Site): Promise<number> {
  const said = await redis.info('cpu');
  const seconds = [...said.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].map(([, text]) => Number(text));
  return seconds.reduce((sum, one) => sum + one, 0) * 1_000;
}

/** Settled after the pipeline's run is over, which would have taken them for its own. */
async function floorRound(site: Site, floor: Child, template: Template, records: number): Promise<Round> {
  const members = dueMembers(records);
  await site.settle(members);
  const work: FloorWork = { collections: members.map((member) => template.for(member)), atOnce: AT_ONCE };
  const done = await floor.ask<FloorDone>(work);
  return { perS: (records * 1_000) / done.elapsedMs, cpuMs: done.cpuMs / records };
}

/** The worker has seen thousands by now: what it still gains with the number of records, it keeps. */
async function memory(site: Site, worker: Child, records: number): Promise<Measured> {
  const few = Math.ceil(records / 2);
  const small = await highestRss(site, worker, few);
  const large = await highestRss(site, worker, few * LARGER);
  return {
    worker_rss_mb_small: small / MB,
    worker_rss_mb_large: large / MB,
    worker_rss_growth: large / small,
  };
}

async function highestRss(site: Site, worker: Child, records: number): Promise<number> {
  await site.settle(dueMembers(records));
  let highest = 0;
  await timedRun(site, records, async () => {
    highest = Math.max(highest, (await worker.usage()).rssBytes);
  });
  return highest;
}
