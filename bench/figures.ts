/** A figure that is measured, and how good it ought to be. */
export interface Figure {
  readonly name: string;
  readonly what: string;
  readonly aim?: { readonly atLeast?: number; readonly atMost?: number };
  /** Of a ratio that has none: why. */
  readonly noAim?: string;
}

/** Every figure of the bench, by the part that measures it, in the order in which people read them. A new one begins here. */
const FIGURES_OF_PART = {
  collections: [
    { name: 'pipeline_per_s', what: 'collections per second, first record enqueued to last verdict' },
    { name: 'floor_per_s', what: 'the same requests from a bare loop' },
    {
      name: 'pipeline_to_floor',
      what: 'the first over the second, median of the rounds’ ratios',
      aim: { atLeast: 0.8 },
    },
    { name: 'worker_cpu_ms_per_collection', what: 'processor time of the worker, page jobs included' },
    { name: 'floor_cpu_ms_per_collection', what: 'processor time of the bare loop' },
    { name: 'redis_cpu_ms_per_collection', what: 'processor time of Redis, from the page job to done' },
    { name: 'dynamo_calls_per_collection', what: 'DynamoDB requests of one collection', aim: { atMost: 6 } },
    { name: 'lock_requests_per_collection', what: 'those of them that only take or release the lock' },
    {
      name: 'dynamo_run_calls_per_collection',
      what: 'requests for pages, passes and the report, shared out',
    },
    { name: 'dynamo_heartbeats_per_collection', what: 'renewals of the lock, which take longer work' },
    {
      name: 'table_write_units_per_collection',
      what: 'write units of one collection, in tables, by AWS’s rules',
    },
    { name: 'index_write_units_per_collection', what: 'the same in their indexes' },
    { name: 'busiest_key_units_per_collection', what: 'those of them on the busiest key of an index' },
    { name: 'read_units_per_collection', what: 'read units of one collection, without the run’s own' },
    { name: 'run_read_units_per_collection', what: 'read units of pages, passes and the report, shared out' },
    {
      name: 'index_reads_per_due',
      what: 'items read from the index per record that is due',
      aim: { atMost: 1.1 },
    },
    { name: 'billing_row_bytes', what: 'a billing row after its collection, as DynamoDB counts' },
    { name: 'history_row_bytes', what: 'a row of the history' },
    { name: 'attempt_bytes', what: 'an attempt, resolved' },
    { name: 'state_bytes', what: 'what is open on a record, and its past attempts' },
    { name: 'verdict_bytes', what: 'a verdict; it goes after 90 days' },
    { name: 'lock_row_bytes', what: 'a lock that is held' },
    { name: 'kept_bytes_per_collection', what: 'what a collection leaves for good, in indexes too' },
    { name: 'passing_bytes_per_collection', what: 'what it leaves that goes by itself, in indexes too' },
    { name: 'worker_rss_mb_small', what: 'highest memory of the worker while it works through some records' },
    { name: 'worker_rss_mb_large', what: 'the same while it works through four times as many' },
    { name: 'worker_rss_growth', what: 'the second over the first', aim: { atMost: 1.2 } },
  ],
  pages: [
    { name: 'enqueue_per_s', what: 'records read from the index and enqueued by page jobs, per second' },
    { name: 'addbulk_per_s', what: 'the same jobs from a bare addBulk' },
    {
      name: 'enqueue_to_addbulk',
      what: 'the first over the second, median of the rounds’ ratios',
      aim: { atLeast: 0.5 },
    },
    { name: 'redis_bytes_per_job', what: 'memory of one waiting collection', aim: { atMost: 1_500 } },
  ],
  growth: [
    {
      name: 'growth_10k_over_1k',
      what: 'time per record with 10,000 records in the table over that with 1,000, median of the rounds’ ratios',
      aim: { atLeast: 0.8, atMost: 1.2 },
    },
  ],
  workers: [
    { name: 'per_s_with_1_worker', what: 'collections per second with one worker process' },
    { name: 'per_s_with_2_workers', what: 'the same run with two' },
    { name: 'per_s_with_4_workers', what: 'the same run with four' },
  ],
  bridge: [
    {
      name: 'bridge_per_s',
      what: 'events read from a stream, stored and enqueued by the bridge, per second',
    },
    { name: 'bare_per_s', what: 'the same from a bare loop of GetRecords and addBulk, which stores nothing' },
    {
      name: 'bridge_to_bare',
      what: 'the first over the second, median of the rounds’ ratios',
      aim: { atLeast: 0.5 },
    },
    { name: 'storing_per_s', what: 'the bare loop, if it also stores each event, as one item' },
    {
      name: 'bridge_to_storing',
      what: 'the bridge over that, median of the rounds’ ratios',
      noAim: 'it shows where the miss of the ratio before comes from',
    },
    { name: 'bridge_cpu_ms_per_event', what: 'processor time of the bridge' },
    { name: 'bare_cpu_ms_per_event', what: 'processor time of the bare loop' },
    { name: 'steady_put_per_s', what: 'events per second that were put to see the lag; 500 are wanted' },
    { name: 'steady_stored_per_s', what: 'how many of them per second the bridge stored' },
    { name: 'bridge_lag_ms_at_500', what: "from PutRecords' answer to stored: of half of them, at most" },
    { name: 'bridge_lag_p99_ms_at_500', what: 'the same of 99 in 100' },
  ],
  events: [
    { name: 'events_applied_per_s', what: 'membership events from PutRecords to applied, per second' },
    { name: 'dynamo_calls_per_event', what: 'DynamoDB requests of one event, by the bridge and the worker' },
    {
      name: 'write_units_per_event',
      what: 'write units of one event, indexes included, as DynamoDB Local counts',
    },
    { name: 'read_units_per_event', what: 'read units of one event' },
  ],
  pay: [
    {
      name: 'pay_per_s',
      what: 'payments by hand accepted by the API per second, of 1,000 at once for 200 records',
    },
    { name: 'bare_pay_per_s', what: 'the same by a bare Express handler that only enqueues' },
    {
      name: 'pay_to_bare',
      what: 'the first over the second, median of the rounds’ ratios',
      noAim: 'the bare handler looks at nothing and stores nothing',
    },
    { name: 'pay_p99_ms', what: 'until 99 in 100 of the 1,000 were answered by the API' },
    { name: 'bare_pay_p99_ms', what: 'the same by the bare handler' },
    {
      name: 'pay_most_charges',
      what: 'how often a record was charged at most',
      aim: { atLeast: 1, atMost: 1 },
    },
  ],
} as const satisfies Readonly<Record<string, readonly Figure[]>>;

export type Part = keyof typeof FIGURES_OF_PART;
export const PARTS = Object.keys(FIGURES_OF_PART) as readonly Part[];

export type FigureName = (typeof FIGURES_OF_PART)[Part][number]['name'];
export type Measured = Partial<Record<FigureName, number>>;

export const FIGURES: readonly (Figure & { readonly name: FigureName; readonly part: Part })[] =
  PARTS.flatMap((part) => FIGURES_OF_PART[part].map((figure) => ({ ...figure, part })));

/** Which command measures a part alone. */
export const commandOf = (part: Part): string => `npm run bench -- --only ${part}`;

export type Outcome = 'ok' | 'miss' | '';

export function outcomeOf({ aim }: Figure, value: number): Outcome {
  if (aim === undefined) return '';
  const isMet = value >= (aim.atLeast ?? -Infinity) && value <= (aim.atMost ?? Infinity);
  return isMet ? 'ok' : 'miss';
}

export function aimText({ aim, noAim }: Figure): string {
  if (aim === undefined) return noAim === undefined ? '' : `none: ${noAim}`;
  const { atLeast, atMost } = aim;
  if (atLeast === atMost) return `exactly ${atLeast}`;
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
