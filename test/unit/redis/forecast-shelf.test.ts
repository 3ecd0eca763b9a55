import type { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { RedisForecastShelf } from '../../../src/adapters/redis/forecast-shelf.ts';
import type { Forecast } from '../../../src/ports/runs.ts';
import { at } from '../../support/records.ts';

const TICK = at('2026-11-16T08:00:00Z');
const FORECAST: Forecast = {
  process: 'scheduled',
  asOf: TICK,
  records: 1,
  amount: 499 as Forecast['amount'],
  byPlan: {},
  due: 1,
  malformed: 0,
  unreachable: 0,
};

function shelf() {
  const kept = new Map<string, string>();
  const redis = {
    get: async (key: string) => kept.get(key) ?? null,
    set: async (key: string, text: string) => void kept.set(key, text),
  } as unknown as Redis;
  return { kept, shelf: new RedisForecastShelf(redis, 'prefix', { kind: 'all' }) };
}

it('a forecast is found as it was put', async () => {
  const { shelf: one } = shelf();
  await one.put(FORECAST);
  expect(await one.find('scheduled', TICK)).toEqual(FORECAST);
});

it.each(['{"process":"sched', '{}', ''])(
  'one that has become %j is none, and keeps no run from ending',
  async (text) => {
    const { kept, shelf: one } = shelf();
    await one.put(FORECAST);
    for (const key of kept.keys()) kept.set(key, text);
    expect(await one.find('scheduled', TICK)).toBeNull();
  },
);
