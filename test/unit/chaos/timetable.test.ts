import { expect, it } from 'vitest';
import { TIMED_RUNS, newestRun } from '../../../chaos/timetable.ts';
import { RUN_PROCESSES } from '../../../src/domain/runs.ts';

it.each([
  ['before its hour', 'scheduled', '2026-11-24T07:59:59Z', '2026-11-23T08:00:00Z'],
  ['at its hour', 'scheduled', '2026-11-24T08:00:00Z', '2026-11-24T08:00:00Z'],
  ['on a Sunday', 'scheduled', '2026-11-22T22:01:00Z', '2026-11-20T08:00:00Z'],
  ['on a Monday before its hour', 'float-retry', '2026-11-23T08:00:00Z', '2026-11-20T08:30:00Z'],
  ['on a Sunday, where it runs on all days', 'stale', '2026-11-22T22:01:00Z', '2026-11-22T09:00:00Z'],
] as const)('knows the newest run %s', (_, run, now, tick) => {
  expect(newestRun(run, Date.parse(now))).toEqual({
    id: `${run}-${tick.replaceAll(/[-:]/g, '')}`,
    tick,
  });
});

it('has every run', () => {
  expect([...TIMED_RUNS].sort()).toEqual([...RUN_PROCESSES].sort());
});
