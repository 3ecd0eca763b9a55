import { describe, expect, it } from 'vitest';
import { commandFor, readArguments } from '../../../bench/arguments.ts';
import { PARTS } from '../../../bench/figures.ts';

describe('what somebody wants of the bench', () => {
  it('is everything when nobody says otherwise', () => {
    expect(readArguments([])).toEqual({ parts: PARTS, records: 150, json: false, profile: null });
  });

  it('is what they say', () => {
    const args = ['--only', 'pay,pages', '--records', '1000', '--json', '--profile', 'somewhere'];
    expect(readArguments(args)).toEqual({
      parts: ['pay', 'pages'],
      records: 1_000,
      json: true,
      profile: 'somewhere',
    });
    expect(readArguments(['--help'])).toBeNull();
  });

  it.each([
    [['--records', 'abc'], '--records must be a whole number from 50 to 20000, not "abc"'],
    [['--records', '0x100'], '--records must be a whole number from 50 to 20000, not "0x100"'],
    [['--records', '1e3'], '--records must be a whole number'],
    [['--records', ''], '--records must be a whole number'],
    [['--records', '49'], '--records must be a whole number'],
    [['--records', '20001'], '--records must be a whole number'],
    [['--only', 'nope'], '--only must be some of collections, pages,'],
    [['--only', ','], 'with commas between them, not ","'],
    [['--only', 'pay,nope'], 'with commas between them, not "pay,nope"'],
    [['--only', ''], 'with commas between them, not ""'],
    [['--records'], "Option '--records <value>' argument missing; it is npm run bench -- [--only"],
    [['--records', '--json'], "Option '--records' argument is ambiguous; it is npm run bench -- [--only"],
    [['--foo'], "Unknown option '--foo'; it is npm run bench -- [--only"],
    [['extra'], "Unexpected argument 'extra'"],
  ])('is told to be wrong, in one line: %j', (args, message) => {
    expect(() => readArguments(args)).toThrow(message);
    expect(() => readArguments(args)).toThrow(/^.*$/);
  });
});

describe('the command that can be typed again', () => {
  it.each([
    [[], 'npm run bench'],
    [['--json', '--records', '150', '--only', PARTS.join()], 'npm run bench'],
    [['--only', 'pay,pages', '--records', '0400'], 'npm run bench -- --only pay,pages --records 400'],
    [['--profile', 'somewhere'], 'npm run bench -- --profile DIR'],
  ])('for %j', (args, command) => {
    expect(commandFor(readArguments(args)!)).toBe(command);
  });
});
