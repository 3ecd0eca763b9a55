import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plusMs } from '../../../src/domain/instant.ts';
import { sweepAt } from '../../../src/domain/sweep-delay.ts';
import { instants } from '../../support/arbitraries.ts';
import { at } from '../../support/records.ts';

const NOW = at('2026-11-16T08:00:00Z');
const MINUTE = 60_000;

describe('the sweep comes', () => {
  it.each([
    [0, 1],
    [1, 2],
    [5, 32],
    [6, 60],
    [2_000, 60],
  ])('after generation %i in %i minutes', (generation, minutes) => {
    expect(sweepAt(NOW, generation)).toBe(plusMs(NOW, minutes * MINUTE));
  });

  it('never sooner for a later generation, and within the hour', () => {
    const generations = fc.nat({ max: 5_000 });
    fc.assert(
      fc.property(instants(NOW, at('2031-01-01T00:00:00Z')), generations, generations, (when, a, b) => {
        const [earlier, later] = [sweepAt(when, Math.min(a, b)), sweepAt(when, Math.max(a, b))];
        expect(earlier <= later).toBe(true);
        expect(earlier > when && later <= plusMs(when, 60 * MINUTE)).toBe(true);
      }),
    );
  });
});
