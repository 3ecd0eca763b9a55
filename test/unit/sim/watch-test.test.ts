import { describe, expect, it } from 'vitest';
import type { TestReport } from '../../../sim/mutants/watch-test.ts';
import { sightingOf } from '../../../sim/mutants/watch-test.ts';

const FILE = 'test/unit/a.test.ts';

/** Statuses of the tests, by file. */
const report = (files: Readonly<Record<string, readonly string[]>>, message = ''): TestReport => ({
  testResults: Object.entries(files).map(([file, statuses]) => ({
    name: `/project/${file}`,
    message,
    assertionResults: statuses.map((status, i) => ({ fullName: `test ${i + 1}`, status })),
  })),
});

describe('what a run of a test file shows', () => {
  it('is that all is clean where its tests passed', () => {
    expect(sightingOf(FILE, { report: report({ [FILE]: ['passed'] }), end: 0, said: '' })).toEqual({
      kind: 'clean',
    });
  });

  it('is the first test that failed', () => {
    const run = { report: report({ [FILE]: ['passed', 'failed', 'failed'] }), end: 1, said: '' };
    expect(sightingOf(FILE, run)).toEqual({
      kind: 'wrong',
      place: { test: FILE },
      what: '"test 2" fails',
    });
  });

  it.each([
    ['there is no such file', { report: report({}), end: 1, said: '' }, /^no test ran in .* ended with 1$/],
    ['it never came to a report', { report: null, end: 1, said: '\n  no Java\n' }, /ended with 1: no Java$/],
    ['it was killed', { report: null, end: 'SIGKILL', said: '' }, /ended with SIGKILL$/],
    [
      'the file could not be loaded',
      { report: report({ [FILE]: [] }, 'SyntaxError: x\nat y'), end: 1, said: 'z' },
      /^no test ran in .*: SyntaxError: x$/,
    ],
    [
      'a hook failed before the tests',
      { report: report({ [FILE]: ['skipped'] }, 'no table'), end: 1, said: '' },
      /^no test failed in .*: no table$/,
    ],
    [
      'every test is skipped',
      { report: report({ [FILE]: ['skipped'] }), end: 0, said: '' },
      /^no test failed/,
    ],
    [
      'something failed outside of the tests',
      { report: report({ [FILE]: ['passed'] }), end: 1, said: '' },
      /^no test failed/,
    ],
    [
      'only another file failed',
      { report: report({ [FILE]: [], 'test/b.test.ts': ['failed'] }), end: 1, said: '' },
      /^no test ran/,
    ],
  ])('is nothing where %s', (_, run, why) => {
    expect(sightingOf(FILE, run)).toEqual({ kind: 'broken', why: expect.stringMatching(why) as string });
  });
});
