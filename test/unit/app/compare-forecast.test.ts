import { describe, expect, it } from 'vitest';
import { compareWithForecast } from '../../../src/app/compare-forecast.ts';
import { cents } from '../../../src/domain/money.ts';
import type { PlanTallies, Tally } from '../../../src/ports/runs.ts';

const tally = (count: number, amount: number, reasons: Tally['reasons'] = {}): Tally => ({
  count,
  amount: cents(amount),
  reasons,
});
const compare = (forecast: PlanTallies, run: PlanTallies) =>
  compareWithForecast({ byPlan: forecast }, { byPlan: run });

describe('a run beside its forecast', () => {
  it('is as foretold when counts and amounts of every plan agree', () => {
    const plans = { charge: tally(2, 998), skipped: tally(1, 499) };
    expect(compare(plans, { ...plans })).toEqual([]);
    expect(compare({}, {})).toEqual([]);
  });

  it('differs by plan, with both sides; a plan that one side does not have counts as none', () => {
    const forecast = { charge: tally(2, 998), waive: tally(1, 499), cancel: tally(1, 100) };
    const run = { charge: tally(1, 499), waive: tally(1, 499), refuse: tally(1, 499), cancel: tally(1, 101) };
    expect(compare(forecast, run)).toEqual([
      { plan: 'charge', forecast: { count: 2, amount: 998 }, run: { count: 1, amount: 499 } },
      { plan: 'refuse', forecast: { count: 0, amount: 0 }, run: { count: 1, amount: 499 } },
      { plan: 'cancel', forecast: { count: 1, amount: 100 }, run: { count: 1, amount: 101 } },
    ]);
  });

  it('may give other reasons for the same plans', () => {
    expect(compare({ charge: tally(1, 499, { PINLESS: 1 }) }, { charge: tally(1, 499, { ACH: 1 }) })).toEqual(
      [],
    );
  });
});
