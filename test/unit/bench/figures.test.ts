import { expect, it } from 'vitest';
import type { Figure } from '../../../bench/figures.ts';
import {
  FIGURES,
  aimText,
  commandOf,
  median,
  medianRatio,
  outcomeOf,
  percentile,
} from '../../../bench/figures.ts';

it('has every figure that others read, by its name', () => {
  const names = FIGURES.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'pipeline_per_s',
      'floor_per_s',
      'pipeline_to_floor',
      'dynamo_calls_per_collection',
      'enqueue_per_s',
      'addbulk_per_s',
      'enqueue_to_addbulk',
      'growth_10k_over_1k',
      'index_reads_per_due',
      'redis_bytes_per_job',
      'bridge_per_s',
      'bare_per_s',
      'bridge_to_bare',
      'pay_p99_ms',
      'pay_to_bare',
      'events_applied_per_s',
      'bridge_lag_ms_at_500',
    ]),
  );
  expect(new Set(names).size).toBe(names.length);
});

it.each<[Figure['aim'], number, string, string]>([
  [undefined, 1, '', ''],
  [{ atLeast: 0.8 }, 0.8, 'ok', 'at least 0.8'],
  [{ atLeast: 0.8 }, 0.79, 'miss', 'at least 0.8'],
  [{ atMost: 6 }, 6.01, 'miss', 'at most 6'],
  [{ atLeast: 0.8, atMost: 1.2 }, 1, 'ok', '0.8 to 1.2'],
  [{ atLeast: 0.8, atMost: 1.2 }, 1.3, 'miss', '0.8 to 1.2'],
])('with the aim %j, %d is %s', (aim, value, outcome, text) => {
  const figure: Figure = { name: 'f', what: '', ...(aim === undefined ? {} : { aim }) };
  expect(outcomeOf(figure, value)).toBe(outcome);
  expect(aimText(figure)).toBe(text);
});

it('a ratio has an aim, or says why it has none', () => {
  const ratios = FIGURES.filter(({ name }) => /_to_|_over_|_growth$/.test(name));
  expect(ratios).toHaveLength(7);
  for (const figure of ratios) expect(aimText(figure), figure.name).not.toBe('');
  expect(aimText({ name: 'f', what: '', noAim: 'it only explains' })).toBe('none: it only explains');
});

it('a median is the middle one, or between the two in the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(() => median([])).toThrow('nothing was measured');
});

it('a ratio is the middle one of those within rounds, not that of the middle ones', () => {
  expect(medianRatio([1, 8, 9], [1, 4, 10])).toBe(1);
});

it('a percentile is what so many in a hundred are not above', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(hundred, 99)).toBe(99);
  expect(percentile(hundred, 100)).toBe(100);
  expect(percentile([5, 1, 3], 99)).toBe(5);
  expect(percentile([5, 1, 3], 0)).toBe(1);
  expect(() => percentile([], 99)).toThrow('nothing was measured');
});

it('a figure knows which command measures it without the others', () => {
  const [pay] = FIGURES.filter(({ name }) => name === 'pay_p99_ms');
  expect(commandOf(pay!.part)).toBe('npm run bench -- --only pay');
});
