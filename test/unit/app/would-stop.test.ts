import { describe, expect, it } from 'vitest';
import { wouldStop } from '../../../src/app/would-stop.ts';
import { ZERO } from '../../../src/domain/money.ts';
import type { PlanTallies, Tally } from '../../../src/ports/runs.ts';

const because = (reasons: Tally['reasons']): Tally => ({ count: 0, amount: ZERO, reasons });

describe('a run would stop itself', () => {
  const gone: PlanTallies = {
    deferred: because({ 'user-missing': 20, 'user-processing': 500 }),
    cancel: because({ 'user-cancelled': 15, 'user-banned': 10, 'pending-cancellation': 500 }),
    blocked: because({ 'user-banned': 5 }),
  };

  it('when at least 50, and more than 5 % of those due, are said to be gone, whatever the plan for them', () => {
    expect(wouldStop({ byPlan: gone, due: 999 })).toBe(true);
  });

  it('but not for the share that any day has, nor for few', () => {
    expect(wouldStop({ byPlan: gone, due: 1_000 })).toBe(false);
    expect(wouldStop({ byPlan: { cancel: because({ 'user-banned': 49 }) }, due: 49 })).toBe(false);
    expect(wouldStop({ byPlan: {}, due: 0 })).toBe(false);
  });
});
