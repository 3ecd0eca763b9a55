import { describe, expect, it } from 'vitest';
import { Trace } from '../../../sim/world/trace.ts';

/** Something happens each second. */
function written(count: number, mostKept: number): Trace {
  let nowMs = 0;
  const trace = new Trace(() => nowMs, mostKept);
  for (let i = 1; i <= count; i += 1) {
    trace.write('world', `thing ${i}`);
    nowMs += 1_000;
  }
  return trace;
}

describe('a trace', () => {
  it('is all that happened, where that is little', () => {
    expect(written(3, 3).lines).toEqual([
      '0d 00:00:00.000 world thing 1',
      '0d 00:00:01.000 world thing 2',
      '0d 00:00:02.000 world thing 3',
    ]);
  });

  it.each([4, 5, 6, 7])('keeps the newest lines of %i, and says how many it has left out', (count) => {
    const [first, ...kept] = written(count, 3).lines;
    expect(first).toBe(`(${count - 3} earlier lines are left out)`);
    expect(kept.map((line) => line.slice(-7))).toEqual([
      `thing ${count - 2}`,
      `thing ${count - 1}`,
      `thing ${count}`,
    ]);
  });

  it('has a digest of everything, whatever was kept', () => {
    expect(written(7, 3).digest()).toBe(written(7, 100).digest());
    expect(written(7, 3).digest()).not.toBe(written(6, 3).digest());
  });
});
