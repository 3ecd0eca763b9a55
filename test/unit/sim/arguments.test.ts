import { expect, it } from 'vitest';
import { ArgumentError, readArguments } from '../../../sim/arguments.ts';

it('reads what is typed, and has something to say about the rest', () => {
  expect(readArguments(['--seeds', '1000', '--days', '90', '--users', '200'])).toMatchObject({
    seeds: 1_000,
    first: 1,
    days: 90,
    users: 200,
    mutants: false,
    json: false,
  });
  expect(readArguments(['--help'])).toBe('help');
});

it.each([
  [['--seeds', '0'], /--seeds is "0"; must be a whole number from 1 to/],
  [['--days', 'ten'], /--days is "ten"/],
  [['--users', '1.5'], /--users/],
  [['--nonsense'], /nonsense/],
])('refuses %j', (args, message) => {
  expect(() => readArguments(args)).toThrow(ArgumentError);
  expect(() => readArguments(args)).toThrow(message);
});
