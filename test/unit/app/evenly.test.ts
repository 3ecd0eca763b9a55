import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evenly } from '../../../src/app/evenly.ts';

/** When each of those who ask at these times gets a turn. Time moves only as the test says. */
async function turnsOf(askedMs: readonly number[], perSecond: number): Promise<number[]> {
  let nowMs = 0;
  const turns: number[] = [];
  const timer = {
    elapsedMs: () => nowMs,
    sleep: async (ms: number) => void (turns[turns.length - 1]! += ms),
  };
  const turn = evenly(timer, perSecond);
  for (const ms of askedMs) {
    nowMs = ms;
    turns.push(ms);
    await turn();
  }
  return turns;
}

const askedMs = fc.array(fc.nat(5_000), { minLength: 1 }).map((times) => times.sort((a, b) => a - b));
const perSecond = fc.constantFrom(1, 2, 4, 8, 125, 1_000);

describe('turns', () => {
  it('are never closer together than the rate allows, and never later than that needs', async () => {
    await fc.assert(
      fc.asyncProperty(askedMs, perSecond, async (asked, rate) => {
        const turns = await turnsOf(asked, rate);
        turns.forEach((turnMs, i) => {
          const earliestMs = i === 0 ? asked[i]! : Math.max(asked[i]!, turns[i - 1]! + 1_000 / rate);
          expect(turnMs).toBe(earliestMs);
        });
      }),
    );
  });

  it('are not saved up while nobody asks', async () => {
    expect(await turnsOf([0, 10_000, 10_000, 10_000], 1)).toEqual([0, 10_000, 11_000, 12_000]);
  });
});
