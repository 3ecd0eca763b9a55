import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aFewAtOnce } from '../../../src/app/a-few-at-once.ts';

describe('a few at once', () => {
  it('does each once, so many at a time, and gives the results in order', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 20 }),
      async (atOnce, turns) => {
        let underWay = 0;
        let most = 0;
        const done = await aFewAtOnce(atOnce, [...turns.entries()], async ([index, waits]) => {
          most = Math.max(most, (underWay += 1));
          for (let i = 0; i < waits; i += 1) await Promise.resolve();
          underWay -= 1;
          return index;
        });
        expect(done).toEqual(turns.map((_, index) => index));
        expect(most).toBe(Math.min(atOnce, turns.length));
      },
    );
    await fc.assert(property);
  });

  it('does the others when one fails, and then says so', async () => {
    const done: number[] = [];
    const work = async (n: number): Promise<void> => {
      if (n % 2 === 0) throw new Error(`not ${n}`);
      done.push(n);
    };
    await expect(aFewAtOnce(2, [1, 2, 3, 4, 5], work)).rejects.toThrow('not 2');
    expect(done).toEqual([1, 3, 5]);
  });
});
