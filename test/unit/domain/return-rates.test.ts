import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AchCounts, ReturnClass } from '../../../src/domain/ach/return-rates.ts';
import { RETURN_CLASSES, classesOf, returnRates } from '../../../src/domain/ach/return-rates.ts';

const counts = (debits: number, returns: Partial<AchCounts['returns']> = {}): AchCounts => ({
  debits,
  returns: { unauthorized: 0, administrative: 0, overall: 0, ...returns },
});
const rateOf = (name: ReturnClass, of: AchCounts) => returnRates(of).find((rate) => rate.class === name)!;

describe('a return rate', () => {
  it.each([
    ['unauthorized', 50],
    ['administrative', 300],
    ['overall', 1_500],
  ] as const)('%s may be at its limit, and not above: %i of 10,000', (name, most) => {
    expect(rateOf(name, counts(10_000, { [name]: most }))).toMatchObject({
      rate: most / 10_000,
      exceeded: false,
    });
    expect(rateOf(name, counts(10_000, { [name]: most + 1 }))).toMatchObject({ exceeded: true });
  });

  it.each([
    ['unauthorized', 1_000],
    ['administrative', 167],
    ['overall', 34],
  ] as const)('%s says nothing before there are %i debits', (name, enough) => {
    const all = (debits: number) => rateOf(name, counts(debits, { [name]: debits }));
    expect(all(enough - 1)).toMatchObject({ rate: null, exceeded: false });
    expect(all(enough)).toMatchObject({ rate: 1, exceeded: true });
  });

  it('of nothing is none', () => {
    expect(returnRates(counts(0)).map(({ rate }) => rate)).toEqual([null, null, null]);
  });

  it('is a share, and exceeded exactly when more came back than the limit allows', () => {
    const limits = { unauthorized: [5, 1000], administrative: [3, 100], overall: [15, 100] } as const;
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 1_000_000 }), fc.nat(1_000_000), (debits, back) => {
        const returned = Math.min(debits, back);
        for (const name of RETURN_CLASSES) {
          const { rate, exceeded } = rateOf(name, counts(debits, { [name]: returned }));
          const [of, among] = limits[name];
          expect(exceeded).toBe(returned * among > of * debits);
          expect(rate).toBeCloseTo(returned / debits, 12);
        }
      }),
    );
  });
});

it('a return counts in its class and overall, one without a known code overall only', () => {
  expect(classesOf('R10')).toEqual(['unauthorized', 'overall']);
  expect(classesOf('R02')).toEqual(['administrative', 'overall']);
  expect(classesOf('R01')).toEqual(['overall']);
  expect(classesOf('R99')).toEqual(['overall']);
  expect(classesOf(null)).toEqual(['overall']);
});
