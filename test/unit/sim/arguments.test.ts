import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArgumentError, readArguments } from '../../../sim/arguments.ts';
import { temporaryFolder } from '../../support/stack.ts';

it('reads what is typed, and has something to say about the rest', () => {
  expect(readArguments(['--seeds', '1000', '--days', '90', '--users', '200'])).toMatchObject({
    seeds: 1_000,
    first: 1,
    days: 90,
    users: 200,
    mutants: false,
    json: false,
  });
  expect(readArguments(['--mutants', '--only', 'x'])).toMatchObject({ mutants: true, only: 'x' });
  expect(readArguments(['--help'])).toBe('help');
});

it.each([
  [['--seeds', '0'], /--seeds is "0"; must be a whole number from 1 to/],
  [['--days', 'ten'], /--days is "ten"/],
  [['--users', '1.5'], /--users/],
  [['--seeds', '0x2'], /--seeds is "0x2"; must be a whole number/],
  [['--seeds', '1e3'], /--seeds is "1e3"/],
  [['--seeds', ' 2'], /--seeds is " 2"/],
  [['--nonsense'], /nonsense/],
  [['--only', 'skip-the-intent'], /--only .* with --mutants/],
  [['--mutants', '--seeds', '20'], /--seeds has no meaning with --mutants/],
  [['--mutants', '--first', '1'], /--first has no meaning with --mutants/],
  [['--mutants', '--days', '90'], /--days has no meaning with --mutants/],
  [['--mutants', '--users', '200'], /--users has no meaning with --mutants/],
  [['--mutants', '--trace', 't.txt'], /--trace has no meaning with --mutants/],
])('refuses %j', (args, message) => {
  expect(() => readArguments(args)).toThrow(ArgumentError);
  expect(() => readArguments(args)).toThrow(message);
});

describe('the file for the trace', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
    writeFileSync(join(folder.path, 'old.txt'), 'of yesterday');
    mkdirSync(join(folder.path, 'folder'));
  });
  afterAll(() => folder.remove());

  it.each(['new.txt', 'old.txt'])('may be %s in a folder that is there, and is not made yet', (name) => {
    const trace = join(folder.path, name);
    expect(readArguments(['--trace', trace])).toMatchObject({ trace });
    expect(readdirSync(folder.path).sort()).toEqual(['folder', 'old.txt']);
  });

  it.each(['nowhere/t.txt', 'old.txt/t.txt', 'folder', 'new/'])(
    'is refused before anything runs where it cannot be written: %s',
    (name) => {
      const args = ['--trace', `${folder.path}/${name}`];
      expect(() => readArguments(args)).toThrow(ArgumentError);
      expect(() => readArguments(args)).toThrow(/^--trace is ".*"; must be a file/);
    },
  );

  it('has a name', () => {
    expect(() => readArguments(['--trace='])).toThrow(/^--trace is ""; must be a file/);
  });
});
