import { expect, it } from 'vitest';
import { Tallies } from '../../../src/app/run-report.ts';
import type { Cents } from '../../../src/domain/money.ts';

it('a report stays small however many reasons there are, and counts every record', () => {
  const tallies = new Tallies<'declined'>();
  for (let code = 0; code < 10_000; code += 1) tallies.add('declined', `PINLESS-${code}`, 499 as Cents);
  const { count, amount, reasons } = tallies.tallies().declined!;
  expect({ count, amount }).toEqual({ count: 10_000, amount: 4_990_000 });
  expect(Object.keys(reasons).length).toBeLessThanOrEqual(101);
  expect(Object.values(reasons).reduce((sum, each) => sum + each, 0)).toBe(10_000);
});
