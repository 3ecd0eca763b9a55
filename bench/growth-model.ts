import type { Assumed } from './assumptions.ts';
import type { FigureName, Measured } from './figures.ts';
import type { WriteUnits } from './write-units.ts';
import { sumOf } from './write-units.ts';

/*
 * How cost grows with the number of members, computed from what the bench has measured and from what is assumed. Pure, so
 * that the tables of docs/performance.md can be made again from the figures that are committed.
 */

/** The figures on which the model stands. */
const NEEDED = [
  'index_reads_per_due',
  'run_read_units_per_collection',
  'read_units_per_collection',
  'busiest_key_units_per_collection',
  'dynamo_calls_per_collection',
  'worker_cpu_ms_per_collection',
  'redis_cpu_ms_per_collection',
  'redis_bytes_per_job',
  'kept_bytes_per_collection',
  'passing_bytes_per_collection',
  'write_units_per_event',
  'read_units_per_event',
  'enqueue_per_s',
] as const satisfies readonly FigureName[];

/** Of one collection, by table and index. */
interface ByPlace {
  readonly write_units: readonly WriteUnits[];
}

export type Inputs = Readonly<Record<(typeof NEEDED)[number], number>> & ByPlace;

export function inputsOf(measured: Measured & Partial<ByPlace>): Inputs {
  const missing = ([...NEEDED, 'write_units'] as const).filter((name) => measured[name] === undefined);
  if (missing.length > 0) throw new Error(`the model needs ${missing.join(', ')}: measure it first`);
  return measured as Inputs;
}

const GB = 1e9;
const MILLION = 1e6;
const SECONDS_PER_HOUR = 3_600;

/** Of the run with most records in a week of even months. */
export interface BusiestRun {
  readonly due: number;
  readonly indexReads: number;
  readonly readUnits: number;
  /** How long page jobs take to hand all of it over, one page after the other. */
  readonly enqueueMinutes: number;
  /** Nothing holds pages back: all that is due waits in Redis at once, however small a page is. */
  readonly redisGb: number;
  readonly writeUnitsPerS: number;
  /** Limits and capacity are those of one table, or of one index. */
  readonly writeUnitsPerSByPlace: readonly WriteUnits[];
  readonly busiestKeyUnitsPerS: number;
}

/** `…PerS`: so that it is over in `runHours`. */
export function busiestRun(members: number, inputs: Inputs, assumed: Assumed): BusiestRun {
  const due = (members * assumed.dueDaysInBusiestRun) / assumed.daysPerMonth;
  const perS = due / (assumed.runHours * SECONDS_PER_HOUR);
  return {
    due,
    indexReads: due * inputs.index_reads_per_due,
    readUnits: due * (inputs.read_units_per_collection + inputs.run_read_units_per_collection),
    enqueueMinutes: due / inputs.enqueue_per_s / 60,
    redisGb: (due * inputs.redis_bytes_per_job) / GB,
    writeUnitsPerS: perS * sumOf(inputs.write_units),
    writeUnitsPerSByPlace: inputs.write_units.map((one) => ({ ...one, units: perS * one.units })),
    busiestKeyUnitsPerS: perS * inputs.busiest_key_units_per_collection,
  };
}

export interface Month {
  readonly collections: number;
  readonly writeDollars: number;
  readonly readDollars: number;
  /** What a year of it adds for good; a billing table keeps every period. */
  readonly gbPerYear: number;
  /** Of what is there after a year. */
  readonly storageDollars: number;
  readonly dollars: number;
}

export function month(members: number, inputs: Inputs, assumed: Assumed): Month {
  const collections = members * assumed.triesPerPeriod;
  const events = members * assumed.eventsPerMemberMonth;
  const writes = collections * sumOf(inputs.write_units) + events * inputs.write_units_per_event;
  const reads =
    collections * (inputs.read_units_per_collection + inputs.run_read_units_per_collection) +
    events * inputs.read_units_per_event;
  const gbPerYear = (12 * collections * inputs.kept_bytes_per_collection) / GB;
  const passingGb =
    ((collections * assumed.verdictDays) / assumed.daysPerMonth) * (inputs.passing_bytes_per_collection / GB);
  const writeDollars = (writes / MILLION) * assumed.dollarsPerMillionWrites;
  const readDollars = (reads / MILLION) * assumed.dollarsPerMillionReads;
  const storageDollars = (gbPerYear + passingGb) * assumed.dollarsPerGbMonth;
  return {
    collections,
    writeDollars,
    readDollars,
    gbPerYear,
    storageDollars,
    dollars: writeDollars + readDollars + storageDollars,
  };
}

export interface Crew {
  /** Worker processes, with a core each. */
  readonly workers: number;
  /** `COLLECTION_CONCURRENCY`, which counts over all of them. */
  readonly concurrency: number;
  /** `PROCESSOR_RATE_PER_S`; null where there is none. */
  readonly processorPerS: number | null;
}

export type Bound =
  'workers' | 'concurrency' | 'payments API' | 'busiest index key' | 'a table’s writes' | 'Redis';

export interface Pace {
  readonly perS: number;
  readonly boundBy: Bound;
}

/** How long one collection is under way where DynamoDB and the services answer as assumed. */
export function collectionMs(inputs: Inputs, assumed: Assumed): number {
  const transactions = 2;
  const requests = inputs.dynamo_calls_per_collection - transactions;
  const waiting = requests * assumed.requestMs + transactions * assumed.transactionMs;
  return waiting + assumed.servicesMs + assumed.chargeMs + inputs.worker_cpu_ms_per_collection;
}

/** As fast as the narrowest place lets it. */
export function pace({ workers, concurrency, processorPerS }: Crew, inputs: Inputs, assumed: Assumed): Pace {
  const limits: readonly Pace[] = [
    { boundBy: 'workers', perS: (workers * 1_000) / inputs.worker_cpu_ms_per_collection },
    { boundBy: 'concurrency', perS: (concurrency * 1_000) / collectionMs(inputs, assumed) },
    { boundBy: 'payments API', perS: processorPerS ?? Infinity },
    {
      boundBy: 'busiest index key',
      perS: assumed.keyWriteUnitsPerS / inputs.busiest_key_units_per_collection,
    },
    {
      boundBy: 'a table’s writes',
      perS: assumed.tableWriteUnitsPerS / Math.max(...inputs.write_units.map(({ units }) => units)),
    },
    { boundBy: 'Redis', perS: 1_000 / inputs.redis_cpu_ms_per_collection },
  ];
  return limits.reduce((narrowest, one) => (one.perS < narrowest.perS ? one : narrowest));
}

export const runHours = (due: number, { perS }: Pace): number => due / perS / SECONDS_PER_HOUR;
