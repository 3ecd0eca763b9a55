import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInstant, plusMs } from '../../../src/domain/instant.ts';
import { RUN_PROCESSES } from '../../../src/domain/runs.ts';
import { cronOf, newestTick } from '../../../src/domain/schedule.ts';
import { instants } from '../../support/arbitraries.ts';
import { at } from '../../support/records.ts';

describe('the newest tick', () => {
  it.each([
    // 2026-11-16 is a Monday.
    ['scheduled', '2026-11-16T08:00:00Z', '2026-11-16T08:00:00Z'],
    ['scheduled', '2026-11-16T07:59:59.999999999Z', '2026-11-13T08:00:00Z'],
    ['scheduled', '2026-11-15T23:00:00Z', '2026-11-13T08:00:00Z'],
    ['retry', '2026-11-16T07:30:00Z', '2026-11-16T07:00:00Z'],
    ['retry', '2026-11-14T12:00:00Z', '2026-11-13T07:00:00Z'],
    ['pause', '2026-11-16T21:59:59Z', '2026-11-13T22:00:00Z'],
    ['pause', '2026-11-17T00:00:00Z', '2026-11-16T22:00:00Z'],
    ['stale', '2026-11-15T09:00:00Z', '2026-11-15T09:00:00Z'],
    ['stale', '2026-11-15T08:59:00Z', '2026-11-14T09:00:00Z'],
    ['notify', '2026-11-15T15:00:00Z', '2026-11-15T15:00:00Z'],
    ['notify', '2026-11-15T14:59:59Z', '2026-11-14T15:00:00Z'],
  ] as const)('of %s at %s is %s', (process, now, tick) => {
    expect(formatInstant(newestTick(process, at(now)))).toBe(tick);
  });

  it('is never ahead, at most a weekend old, and the same until the next one comes', () => {
    const moments = instants(at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z'));
    fc.assert(
      fc.property(moments, fc.constantFrom(...RUN_PROCESSES), (now, process) => {
        const tick = newestTick(process, now);
        expect(tick <= now).toBe(true);
        expect(now < plusMs(tick, 3 * 86_400_000)).toBe(true);
        expect(newestTick(process, tick)).toBe(tick);
      }),
    );
  });
});

it('a scheduler that knows cron is told the same', () => {
  expect(Object.fromEntries(RUN_PROCESSES.map((process) => [process, cronOf(process)]))).toEqual({
    retry: '0 7 * * 1-5',
    scheduled: '0 8 * * 1-5',
    stale: '0 9 * * *',
    notify: '0 15 * * *',
    pause: '0 22 * * 1-5',
    'float-retry': '30 8 * * 1-5',
    'float-tomorrow': '30 9 * * 1-5',
    'float-today': '30 9 * * 1-5',
    'recurring-reminders': '0 15 * * *',
    'recurring-payments': '0 16 * * *',
  });
});
