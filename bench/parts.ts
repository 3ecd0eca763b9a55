import { measureApplied } from './applied.ts';
import type { Bench } from './bench.ts';
import { measureBridge } from './bridge.ts';
import { measureEnqueue } from './enqueue.ts';
import { measureEventRequests } from './event-requests.ts';
import type { Measured, Part } from './figures.ts';
import { PARTS } from './figures.ts';
import { measureGrowth } from './growth.ts';
import { measurePay } from './pay.ts';
import { measureRequests } from './requests.ts';
import type { StepTime } from './steps.ts';
import { measureThroughput } from './throughput.ts';
import { measureWorkers } from './workers.ts';
import type { WriteUnits } from './write-units.ts';

/** What the bench found out. */
export interface Found {
  readonly figures: Measured;
  /** Of the parts that follow one collection through its steps. */
  readonly steps?: readonly StepTime[];
  /** Of one collection, by table and index. */
  readonly writeUnits?: readonly WriteUnits[];
}

/** Each measurement on servers of its own: DynamoDB Local becomes slower with all that it was ever asked. */
export type OnFreshGround = <T>(part: Part, work: (bench: Bench) => Promise<T>) => Promise<T>;

type Measure = (onFreshGround: OnFreshGround) => Promise<Found>;

const alone =
  (part: Part, measure: (bench: Bench) => Promise<Measured>): Measure =>
  async (onFreshGround) => ({ figures: await onFreshGround(part, measure) });

const MEASURES: Readonly<Record<Part, readonly [what: string, measure: Measure]>> = {
  collections: ['what a collection asks for; then the pipeline against a bare loop', measureCollections],
  pages: ['page jobs against a bare addBulk', alone('pages', measureEnqueue)],
  growth: ['a small table against a large one', alone('growth', measureGrowth)],
  workers: ['one, two and four worker processes', alone('workers', measureWorkers)],
  bridge: ['the bridge against a bare loop, then how far it is behind', alone('bridge', measureBridge)],
  events: ['events, from the stream to applied', measureEvents],
  pay: [
    'payments by hand against a handler that only enqueues, then who was charged',
    alone('pay', measurePay),
  ],
};

async function measureCollections(onFreshGround: OnFreshGround): Promise<Found> {
  const { template, figures, ...more } = await onFreshGround('collections', measureRequests);
  const throughput = await onFreshGround('collections', (bench) => measureThroughput(bench, template));
  return { figures: { ...figures, ...throughput }, ...more };
}

async function measureEvents(onFreshGround: OnFreshGround): Promise<Found> {
  const applied = await onFreshGround('events', measureApplied);
  const requests = await onFreshGround('events', measureEventRequests);
  return { figures: { ...applied, ...requests } };
}

/** These parts one after the other, in the order of the figures. */
export async function measureParts(
  wanted: readonly Part[],
  say: Bench['say'],
  onFreshGround: OnFreshGround,
): Promise<Found> {
  let found: Found = { figures: {} };
  const parts = PARTS.filter((part) => wanted.includes(part));
  for (const [number, part] of parts.entries()) {
    const [what, measure] = MEASURES[part];
    say(`${number + 1} of ${parts.length}, ${part}: ${what}`);
    const { figures, ...more } = await measure(onFreshGround);
    found = { ...found, ...more, figures: { ...found.figures, ...figures } };
  }
  return found;
}
