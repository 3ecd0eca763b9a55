import { describe, expect, it } from 'vitest';
import { sightingOf } from '../../../sim/mutants/watch-worlds.ts';

const brokenBy = (rule: string, detail: string) => ({
  seed: 7,
  violations: [{ rule, userId: null, recordId: null, detail }],
});

describe('what is seen of a seed', () => {
  it('is clean where nothing is wrong', () => {
    expect(sightingOf({ seed: 7, violations: [] })).toEqual({ kind: 'clean' });
  });

  it.each([
    [
      'a rule that was broken',
      brokenBy('2', 'a debit without an intent'),
      'rule 2: a debit without an intent',
    ],
    ['a crash', brokenBy('crashed', 'TypeError: no such day\nin March'), 'crashed: TypeError: no such day'],
  ])('is wrong after %s', (_, result, what) => {
    expect(sightingOf(result)).toEqual({ kind: 'wrong', place: { seed: 7 }, what });
  });

  it('says nothing about the code where the process is gone: perhaps the fault could not be planted', () => {
    const result = brokenBy('no-result', 'a process of the simulation ended with 1');
    expect(sightingOf(result)).toEqual({
      kind: 'broken',
      why: 'a process of the simulation ended with 1',
    });
  });
});
