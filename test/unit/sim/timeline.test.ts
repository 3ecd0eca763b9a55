import { describe, expect, it } from 'vitest';
import { SimProcess } from '../../../sim/world/sim-process.ts';
import { Timeline } from '../../../sim/world/timeline.ts';

async function finish(timeline: Timeline): Promise<void> {
  while (await timeline.step());
}

describe('simulated time', () => {
  it('goes from one planned thing to the next, in their order, those of one moment as they were planned', async () => {
    const timeline = new Timeline(1_000);
    const seen: string[] = [];
    const note = (what: string) => () => seen.push(`${what} at ${timeline.nowMs}`);
    timeline.after(20, note('late'));
    timeline.after(5, note('first'));
    timeline.after(5, note('second'));
    timeline.after(1, () => timeline.after(1, note('planned meanwhile')));
    await finish(timeline);
    expect(seen).toEqual(['planned meanwhile at 1002', 'first at 1005', 'second at 1005', 'late at 1020']);
  });

  it('takes no step before everybody has gone on as far as they can', async () => {
    const timeline = new Timeline(0);
    const seen: string[] = [];
    const work = async (): Promise<void> => {
      for (let i = 0; i < 100; i += 1) await Promise.resolve();
      seen.push('went on');
    };
    timeline.after(1, () => void work());
    timeline.after(1, () => seen.push('next step'));
    await finish(timeline);
    expect(seen).toEqual(['went on', 'next step']);
  });

  it('forgets what was cancelled, and a leap makes late what was due meanwhile', async () => {
    const timeline = new Timeline(0);
    const seen: number[] = [];
    timeline.after(1, () => seen.push(-1)).cancel();
    timeline.after(10, () => seen.push(timeline.nowMs));
    timeline.after(500, () => seen.push(timeline.nowMs));
    await timeline.leap(100);
    expect(timeline.nextMs()).toBe(10);
    await finish(timeline);
    expect(seen).toEqual([100, 500]);
    expect(timeline.steps).toBe(2);
  });
});

it('what is on its way arrives while everybody is asleep, and so does what that sends on', async () => {
  const timeline = new Timeline(0);
  const seen: string[] = [];
  const note = (what: string) => () => seen.push(`${what} at ${timeline.nowMs}`);
  timeline.after(5, note('alarm clock'));
  timeline.arriving(30, note('second'));
  timeline.arriving(20, () => timeline.arriving(1, note('first')));
  timeline.arriving(40, note('cancelled')).cancel();
  timeline.arriving(200, note('later'));
  await timeline.leap(100);
  expect(seen).toEqual(['first at 21', 'second at 30']);
  await finish(timeline);
  expect(seen.slice(2)).toEqual(['alarm clock at 100', 'later at 200']);
});

describe('a simulated process', () => {
  it('does nothing any more once it is dead, not even what it would do at last', async () => {
    const timeline = new Timeline(0);
    const process = new SimProcess('p', timeline);
    const seen: string[] = [];
    const work = async (): Promise<void> => {
      try {
        await process.timer.sleep(10);
        seen.push('after the sleep');
      } finally {
        seen.push('finally');
      }
    };
    void work();
    timeline.after(5, () => process.die());
    await finish(timeline);
    expect(seen).toEqual([]);
  });

  it('wakes up late, and sees that time has passed', async () => {
    const timeline = new Timeline(0);
    const process = new SimProcess('p', timeline);
    let wokeAtMs = 0;
    void process.timer.sleep(10).then(() => {
      wokeAtMs = process.timer.elapsedMs();
    });
    process.sleepUntil(5_000);
    await finish(timeline);
    expect(wokeAtMs).toBe(5_000);
  });

  it('is told at once when somebody aborts its sleep', async () => {
    const timeline = new Timeline(0);
    const process = new SimProcess('p', timeline);
    const abort = new AbortController();
    const slept = process.timer.sleep(1_000, abort.signal).catch((error: Error) => error.message);
    timeline.after(3, () => abort.abort(new Error('enough')));
    await finish(timeline);
    expect(await slept).toBe('enough');
    expect(timeline.nowMs).toBe(3);
  });
});
