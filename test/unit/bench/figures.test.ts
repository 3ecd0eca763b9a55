import { expect, it } from 'vitest';
import type { Figure } from '../../../bench/figures.ts';
import { FIGURES, aimText, median, outcomeOf } from '../../../bench/figures.ts';

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

it('a median is the middle one, or between the two in the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(() => median([])).toThrow('nothing was measured');
});
