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
  { name: 'bridge_per_s', what: 'events read from a stream, stored and enqueued by the bridge, per second' },
  { name: 'bare_per_s', what: 'the same from a bare loop of GetRecords and addBulk, which stores nothing' },
  { name: 'bridge_to_bare', what: 'the first over the second', aim: { atLeast: 0.5 } },
  { name: 'storing_per_s', what: 'the bare loop, if it also stores each event, as one item' },
  { name: 'bridge_to_storing', what: 'the bridge over that' },
  { name: 'bridge_cpu_ms_per_event', what: 'processor time of the bridge' },
  { name: 'bare_cpu_ms_per_event', what: 'processor time of the bare loop' },
  { name: 'events_applied_per_s', what: 'membership events from PutRecords to applied, per second' },
  { name: 'steady_put_per_s', what: 'events per second that were put to see the lag; 500 are wanted' },
  { name: 'steady_stored_per_s', what: 'how many of them per second the bridge stored' },
  { name: 'bridge_lag_ms_at_500', what: "from PutRecords' answer to stored: of half of them, at most" },
  { name: 'bridge_lag_p99_ms_at_500', what: 'the same of 99 in 100' },
  {
    name: 'pay_per_s',
    what: 'payments by hand accepted by the API per second, of 1,000 at once for 200 records',
  },
  { name: 'bare_pay_per_s', what: 'the same by a bare Express handler that only enqueues' },
  { name: 'pay_to_bare', what: 'the first over the second' },
  { name: 'pay_p99_ms', what: 'until 99 in 100 of the 1,000 were answered by the API' },
  { name: 'bare_pay_p99_ms', what: 'the same by the bare handler' },
  {
    name: 'pay_most_charges',
    what: 'how often a record was charged at most',
    aim: { atLeast: 1, atMost: 1 },
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

/** What so many in a hundred are not above. */
export function percentile(values: readonly number[], hundredths: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const found = sorted[Math.max(0, Math.ceil((sorted.length * hundredths) / 100) - 1)];
  if (found === undefined) throw new Error('nothing was measured');
  return found;
}

/** Of the ratios within rounds: both had the same neighbours. */
export const medianRatio = (ones: readonly number[], others: readonly number[]): number =>
  median(ones.map((one, round) => one / (others[round] ?? Number.NaN)));

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  if (low === undefined || high === undefined) throw new Error('nothing was measured');
  return (low + high) / 2;
}
