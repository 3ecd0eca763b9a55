import { describe, expect, it } from 'vitest';
import { randomOf } from '../../../sim/random.ts';
import type { Fate, FateDial, Link } from '../../../sim/world/network.ts';
import { Network } from '../../../sim/world/network.ts';
import { SimProcess } from '../../../sim/world/sim-process.ts';
import { Timeline } from '../../../sim/world/timeline.ts';

interface Seen {
  readonly answers: string[];
  readonly applied: number;
  readonly appliedAtMs: number;
  readonly faults: Fate[];
}

const LATEST_MS = 50_000;

/** One request that has this fate, and what comes of it. */
async function send(dial: FateDial, dieAtMs?: number, seed = 7): Promise<Seen> {
  const timeline = new Timeline(0);
  const process = new SimProcess('p', timeline);
  const faults: Fate[] = [];
  const network = new Network(timeline, randomOf(seed, 'network'), (_, __, fate) => faults.push(fate));
  const link: Link = {
    name: 'store',
    latencyMs: [1, 2],
    patienceMs: 100,
    latestMs: LATEST_MS,
    dial: () => dial,
    onRefused: () => new Error('refused'),
    onSilence: () => new Error('silence'),
  };
  const answers: string[] = [];
  let [applied, appliedAtMs] = [0, 0];
  network
    .call(process, link, () => {
      applied += 1;
      appliedAtMs = timeline.nowMs;
      return 'done';
    })
    .then(
      (answer) => answers.push(answer),
      (error: Error) => answers.push(error.message),
    );
  if (dieAtMs !== undefined) timeline.after(dieAtMs, () => process.die());
  while (await timeline.step());
  return { answers, applied, appliedAtMs, faults };
}

describe('a request', () => {
  it.each([
    ['nothing', {}, ['done'], 1],
    ['refused', { refused: 1 }, ['refused'], 0],
    ['lost', { lost: 1 }, ['silence'], 0],
    ['answer-lost', { 'answer-lost': 1 }, ['silence'], 1],
    ['late', { late: 1 }, ['silence'], 1],
    ['sent-twice', { 'sent-twice': 1 }, ['done'], 2],
  ] as const)('that %s happens to is heard of and applied so', async (fate, dial, answers, times) => {
    const seen = await send(dial);
    expect(seen.answers).toEqual(answers);
    expect(seen.applied).toBe(times);
    expect(seen.faults).toEqual(fate === 'nothing' ? [] : [fate]);
    if (fate === 'late') expect(seen.appliedAtMs).toBeGreaterThan(50);
  });

  it('of a process that dies is on its way all the same, and is not heard of', async () => {
    const seen = await send({}, 0.5);
    expect(seen.applied).toBe(1);
    expect(seen.answers).toEqual([]);
  });

  it('of a process that dies may hang somewhere, and for so long at the most', async () => {
    const latest: number[] = [];
    for (let seed = 1; seed <= 500; seed += 1)
      latest.push((await send({ late: seed % 2 }, 0.5, seed)).appliedAtMs);
    expect(latest.filter((ms) => ms > LATEST_MS / 2).length).toBeGreaterThan(50);
    expect(Math.max(...latest)).toBeLessThanOrEqual(LATEST_MS + 100);
  });
});

describe('chance', () => {
  it('is the same for the same seed and part, and another for another', () => {
    const draw = (seed: number, part: string): number[] => {
      const random = randomOf(seed, part);
      return Array.from({ length: 20 }, () => random.next());
    };
    expect(draw(1, 'a')).toEqual(draw(1, 'a'));
    expect(draw(1, 'a')).not.toEqual(draw(1, 'b'));
    expect(draw(1, 'a')).not.toEqual(draw(2, 'a'));
  });

  it('is fair enough', () => {
    const random = randomOf(3, 'fair');
    const counts = { a: 0, b: 0 };
    let hits = 0;
    for (let i = 0; i < 10_000; i += 1) {
      counts[random.weighted({ a: 1, b: 3 })] += 1;
      if (random.chance(0.1)) hits += 1;
      expect(random.between(2, 4)).toBeOneOf([2, 3, 4]);
    }
    expect(counts.b / counts.a).toBeGreaterThan(2.7);
    expect(counts.b / counts.a).toBeLessThan(3.3);
    expect(hits).toBeGreaterThan(900);
    expect(hits).toBeLessThan(1_100);
  });
});
