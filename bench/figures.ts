/** A figure that is measured, and how good it ought to be. */
export interface Figure {
  readonly name: string;
  readonly what: string;
  readonly aim?: { readonly atLeast?: number; readonly atMost?: number };
}

/** Every figure of the bench, in the order in which people read them. A new one begins here. */
export const FIGURES = [
  { name: 'pipeline_per_s', what: 'collections per second, first record enqueued to last verdict' },
  { name: 'floor_per_s', what: 'the same requests from a bare loop' },
  { name: 'pipeline_to_floor', what: 'the first over the second', aim: { atLeast: 0.8 } },
  { name: 'worker_cpu_ms_per_collection', what: 'processor time of the worker, page jobs included' },
  { name: 'floor_cpu_ms_per_collection', what: 'processor time of the bare loop' },
  { name: 'dynamo_calls_per_collection', what: 'DynamoDB requests of one collection', aim: { atMost: 6 } },
  { name: 'dynamo_run_calls_per_collection', what: 'requests for pages, passes and the report, shared out' },
  { name: 'dynamo_heartbeats_per_collection', what: 'renewals of the lock, which take longer work' },
  { name: 'enqueue_per_s', what: 'records read from the index and enqueued by page jobs, per second' },
  { name: 'addbulk_per_s', what: 'the same jobs from a bare addBulk' },
  { name: 'enqueue_to_addbulk', what: 'the first over the second', aim: { atLeast: 0.5 } },
  {
    name: 'growth_10k_over_1k',
    what: 'time per record with 10,000 records in the table over that with 1,000',
    aim: { atLeast: 0.8, atMost: 1.2 },
  },
  {
    name: 'index_reads_per_due',
    what: 'items read from the index per record that is due',
    aim: { atMost: 1.1 },
  },
  { name: 'redis_bytes_per_job', what: 'memory of one waiting collection', aim: { atMost: 1_500 } },
  { name: 'worker_rss_mb_small', what: 'highest memory of the worker while it works through some records' },
  { name: 'worker_rss_mb_large', what: 'the same while it works through four times as many' },
  { name: 'worker_rss_growth', what: 'the second over the first', aim: { atMost: 1.2 } },
] as const satisfies readonly Figure[];

export type FigureName = (typeof FIGURES)[number]['name'];
export type Measured = Partial<Record<FigureName, number>>;

export type Outcome = 'ok' | 'miss' | '';

export function outcomeOf({ aim }: Figure, value: number): Outcome {
  if (aim === undefined) return '';
  const isMet = value >= (aim.atLeast ?? -Infinity) && value <= (aim.atMost ?? Infinity);
  return isMet ? 'ok' : 'miss';
}

export function aimText({ aim }: Figure): string {
  if (aim === undefined) return '';
  const { atLeast, atMost } = aim;
  if (atLeast !== undefined && atMost !== undefined) return `${atLeast} to ${atMost}`;
  return atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
}

/** Three digits say all that a shared machine can tell. */
export const rounded = (value: number): number => Number(value.toPrecision(value >= 1_000 ? 4 : 3));

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  if (low === undefined || high === undefined) throw new Error('nothing was measured');
  return (low + high) / 2;
}
