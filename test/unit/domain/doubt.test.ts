import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../src/domain/decision.ts';
import { areTooManyDoubtful, isDoubtful } from '../../../src/domain/doubt.ts';

describe('a run has too many members who are said to be gone', () => {
  it.each([
    [49, 49, false],
    [50, 50, true],
    [50, 1_000, false],
    [51, 1_000, true],
    [5_000, 100_000, false],
    [5_001, 100_000, true],
    [0, 0, false],
  ])('%i of %i: %s', (doubtful, considered, expected) => {
    expect(areTooManyDoubtful(doubtful, considered)).toBe(expected);
  });
});

it.each<[Decision, boolean]>([
  [{ verdict: 'deferred', reason: 'user-missing' }, true],
  [{ verdict: 'cancel', reason: 'user-cancelled' }, true],
  [{ verdict: 'cancel', reason: 'user-banned' }, true],
  [{ verdict: 'cancel', reason: 'pending-cancellation' }, false],
  [{ verdict: 'deferred', reason: 'user-processing' }, false],
  [{ verdict: 'waive', reason: 'employee' }, false],
  [{ verdict: 'skip-pause', next: { status: 'SCHEDULED' } }, false],
])('%o speaks of a member who is said to be gone: %s', (decision, expected) => {
  expect(isDoubtful(decision)).toBe(expected);
});
