import { expect, it } from 'vitest';
import { readArguments } from '../../../chaos/arguments.ts';

it('draws a seed when nobody names one', () => {
  const { seed, ...others } = readArguments([])!;
  expect(Number.isInteger(seed)).toBe(true);
  expect(others).toEqual({ users: 240, faults: 120, json: false });
});

it('takes what somebody wants', () => {
  const args = ['--seed', '7', '--users', '20', '--faults', '8', '--json'];
  expect(readArguments(args)).toEqual({ seed: 7, users: 20, faults: 8, json: true });
  expect(readArguments(['--help'])).toBeNull();
});

it.each([
  [['--seed', 'monday'], '--seed is monday; it must be a whole number from 0 to 4294967295'],
  [['--seed', '4294967296'], '--seed is 4294967296; it must be a whole number'],
  [['--users', '4'], '--users is 4; it must be a whole number from 5 to 5000'],
  [['--users', '1e3'], '--users is 1e3; it must be a whole number'],
  [['--faults', '0'], '--faults is 0; it must be a whole number from 1 to 1000'],
  [['--faults'], "'--faults <value>' argument missing"],
  [['--storms', '3'], "Unknown option '--storms'"],
  [['sunday'], "Unexpected argument 'sunday'"],
])('says what is wrong with %j', (args, message) => {
  expect(() => readArguments(args)).toThrow(message);
});
