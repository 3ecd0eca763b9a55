import { expect, it } from 'vitest';
import { levelOf, meter } from '../../../dashboard/plots.ts';

it.each([
  [null, 'calm', 'under'],
  [0, 'calm', 'under'],
  [0.8, 'calm', 'under'],
  [0.81, 'near', 'near'],
  [1, 'near', 'near'],
  [1.01, 'over', 'over'],
] as const)('a rate of %s times its limit is %s, and so is its colour', (share, level, colour) => {
  expect(levelOf(share, 1)).toBe(level);
  expect(String(meter(share, 1, 'a rate'))).toContain(`class="${colour}"`);
});
