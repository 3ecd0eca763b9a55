import { describe, expect, it } from 'vitest';
import type { Assumed } from '../../../bench/assumptions.ts';
import type { Inputs } from '../../../bench/growth-model.ts';
import { busiestRun, collectionMs, inputsOf, month, pace, runHours } from '../../../bench/growth-model.ts';

const inputs: Inputs = {
  index_reads_per_due: 1,
  run_read_units_per_collection: 1,
  read_units_per_collection: 3,
  write_units: [
    { table: 'billing', units: 24 },
    { table: 'billing', index: 'by-status', units: 10 },
    { table: 'locks', units: 6 },
  ],
  busiest_key_units_per_collection: 4,
  dynamo_calls_per_collection: 6,
  worker_cpu_ms_per_collection: 20,
  redis_cpu_ms_per_collection: 1,
  redis_bytes_per_job: 1_000,
  kept_bytes_per_collection: 5_000,
  passing_bytes_per_collection: 1_000,
  write_units_per_event: 20,
  read_units_per_event: 2,
  enqueue_per_s: 1_000,
};
const assumed: Assumed = {
  daysPerMonth: 30,
  dueDaysInBusiestRun: 3,
  triesPerPeriod: 2,
  eventsPerMemberMonth: 1,
  runHours: 1,
  requestMs: 5,
  transactionMs: 15,
  servicesMs: 50,
  chargeMs: 380,
  keyWriteUnitsPerS: 1_000,
  tableWriteUnitsPerS: 12_000,
  dollarsPerMillionWrites: 1,
  dollarsPerMillionReads: 0.5,
  dollarsPerGbMonth: 0.25,
  verdictDays: 90,
};

it('the busiest run has three of thirty days, and has to be over in time', () => {
  expect(busiestRun(3_600_000, inputs, assumed)).toEqual({
    due: 360_000,
    indexReads: 360_000,
    readUnits: 4 * 360_000,
    enqueueMinutes: 6,
    redisGb: 0.36,
    writeUnitsPerS: 4_000,
    writeUnitsPerSByPlace: [
      { table: 'billing', units: 2_400 },
      { table: 'billing', index: 'by-status', units: 1_000 },
      { table: 'locks', units: 600 },
    ],
    busiestKeyUnitsPerS: 400,
  });
});

it('a month costs its writes, its reads and a year’s storage', () => {
  expect(month(1_000_000, inputs, assumed)).toEqual({
    collections: 2_000_000,
    writeDollars: 80 + 20,
    readDollars: (8 + 2) / 2,
    gbPerYear: 120,
    // What goes by itself is there for three months: 6 GB.
    storageDollars: (120 + 6) / 4,
    dollars: 100 + 5 + 31.5,
  });
});

it('a collection waits for four requests, two transactions, the services and the charge', () => {
  expect(collectionMs(inputs, assumed)).toBe(4 * 5 + 2 * 15 + 50 + 380 + 20);
});

describe('a run is as fast as its narrowest place', () => {
  const off = { processorPerS: null };
  it.each([
    [{ workers: 1, concurrency: 500, ...off }, 50, 'workers'],
    [{ workers: 8, concurrency: 50, ...off }, 100, 'concurrency'],
    [{ workers: 8, concurrency: 500, processorPerS: 80 }, 80, 'payments API'],
    [{ workers: 80, concurrency: 5_000, ...off }, 250, 'busiest index key'],
  ] as const)('%j: %d per second, by %s', (crew, perS, boundBy) => {
    expect(pace(crew, inputs, assumed)).toEqual({ perS, boundBy });
  });

  const crew = { workers: 80, concurrency: 5_000, ...off };

  it('the table with most writes is one: each has a limit of its own', () => {
    const newTables = { ...assumed, tableWriteUnitsPerS: 4_800 };
    expect(pace(crew, inputs, newTables)).toEqual({ perS: 200, boundBy: 'a table’s writes' });
  });

  it('Redis is one, too', () => {
    const slowRedis = { ...inputs, redis_cpu_ms_per_collection: 10 };
    expect(pace(crew, slowRedis, assumed)).toEqual({ perS: 100, boundBy: 'Redis' });
  });

  it('and lasts so long', () => {
    expect(runHours(360_000, { perS: 50, boundBy: 'workers' })).toBe(2);
  });
});

it('without its figures there is no model', () => {
  expect(inputsOf(inputs)).toBe(inputs);
  const others = Object.fromEntries(Object.entries(inputs).filter(([name]) => name !== 'enqueue_per_s'));
  expect(() => inputsOf(others)).toThrow('the model needs enqueue_per_s: measure it first');
  expect(() => inputsOf({ ...inputs, write_units: undefined } as never)).toThrow('needs write_units');
});
