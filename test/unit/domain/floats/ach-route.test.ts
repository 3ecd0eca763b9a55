import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RouteFeatures } from '../../../../src/domain/floats/ach-route.ts';
import { achModelOf, adviseByRule, routeFeatures } from '../../../../src/domain/floats/ach-route.ts';
import { cents } from '../../../../src/domain/money.ts';
import { aFloat, day, logEntry } from '../../../support/floats.ts';
import { at } from '../../../support/records.ts';

const NOW = at('2026-11-16T09:30:00Z');
const features = (fields: Partial<RouteFeatures> = {}): RouteFeatures => ({
  failed_ach: 0,
  balance_cents: 10_000,
  amount_cents: 6_000,
  days_past_due: 0,
  ...fields,
});

describe('the features of a debit', () => {
  it('are read from the float, its log and the account', () => {
    const float = aFloat({ dueDate: day('2026-11-09') });
    const log = [logEntry({ method: 'ACH' }), logEntry()];
    expect(routeFeatures(float, log, { availableBalance: cents(4_200) }, NOW)).toEqual({
      failed_ach: 1,
      balance_cents: 4_200,
      amount_cents: 6_000,
      days_past_due: 7,
    });
  });

  it('count days from the due date, also before it, and say −1 of a balance that nobody knows', () => {
    const float = aFloat({ dueDate: day('2026-11-17') });
    expect(routeFeatures(float, [], null, NOW)).toMatchObject({ balance_cents: -1, days_past_due: -1 });
  });
});

describe('the rule', () => {
  it.each([
    [0, 10_000, 0.95, true],
    [1, 10_000, 0.57, true],
    [2, 10_000, 0.342, true],
    [3, 10_000, 0.2052, true],
    [4, 10_000, 0.12312, false],
    [0, 5_999, 0.475, true],
    [0, 6_000, 0.95, true],
    [1, 5_999, 0.285, true],
    [2, 5_999, 0.171, false],
    [0, -1, 0.475, true],
  ])('after %i returns with %i cents gives %f: %s', (failed_ach, balance_cents, probability, useAch) => {
    const advice = adviseByRule(features({ failed_ach, balance_cents }));
    expect(advice.probability).toBeCloseTo(probability, 10);
    expect(advice).toMatchObject({ useAch, version: 'rule-1', override: false });
  });

  it('hands back what it was asked', () => {
    expect(adviseByRule(features({ days_past_due: 12 })).features).toEqual(features({ days_past_due: 12 }));
  });

  it('never grows more hopeful by a return or by less money', () => {
    const any = fc.record({
      failed_ach: fc.nat(6),
      balance_cents: fc.integer({ min: -2_000, max: 20_000 }),
      amount_cents: fc.integer({ min: 1, max: 20_000 }),
      days_past_due: fc.integer({ min: -5, max: 120 }),
    });
    fc.assert(
      fc.property(any, fc.nat(5), fc.nat(5_000), (asked, returns, less) => {
        const { failed_ach, balance_cents } = asked;
        const worse = { ...asked, failed_ach: failed_ach + returns, balance_cents: balance_cents - less };
        const before = adviseByRule(asked);
        const after = adviseByRule(worse);
        expect(after.probability).toBeLessThanOrEqual(before.probability);
        expect(after.useAch && !before.useAch).toBe(false);
      }),
    );
  });
});

describe('the operator’s switch', () => {
  const hopeless = features({ failed_ach: 9 });

  it('outweighs the rule, whose opinion is kept', () => {
    expect(adviseByRule(hopeless, 'always')).toEqual({
      ...adviseByRule(hopeless),
      useAch: true,
      override: true,
    });
    expect(adviseByRule(features(), 'never')).toEqual({
      ...adviseByRule(features()),
      useAch: false,
      override: true,
    });
  });

  it('is known to have decided also where the rule agrees', () => {
    expect(adviseByRule(features(), 'always')).toMatchObject({ useAch: true, override: true });
    expect(adviseByRule(hopeless, 'off')).toMatchObject({ useAch: false, override: false });
  });
});

it('an attempt keeps everything of the advice but its answer', () => {
  const advice = adviseByRule(features());
  expect({ useAch: true, ...achModelOf(advice) }).toEqual(advice);
  expect(achModelOf(advice)).not.toHaveProperty('useAch');
});
