import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type * as SeedProcesses from '../../sim/seed-processes.ts';

/*
 * The simulation as people run it, compiled, in processes of its own: it moves the clock that everybody in its process sees.
 */

const MAIN = fileURLToPath(new URL('../../dist/sim/main.js', import.meta.url));
const PLANT = fileURLToPath(new URL('../../dist/sim/mutants/plant.js', import.meta.url));
const PROCESSES = new URL('../../dist/sim/seed-processes.js', import.meta.url).href;

interface Ended {
  readonly code: number;
  readonly figures: Record<string, unknown>;
  readonly shown: string;
}

const sim = (...args: string[]): Promise<Ended> => simWith({ MUTANT: '' }, args);

const simWith = (env: Readonly<Record<string, string>>, args: readonly string[]): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, [MAIN, '--json', ...args], options, (error, stdout, stderr) => {
      const last = stdout.trim().split('\n').at(-1) ?? '';
      if (last === '') return reject(new Error(`no figures: ${stderr}`, { cause: error }));
      const figures = JSON.parse(last) as Record<string, unknown>;
      resolve({ code: Number(error?.code ?? 0), figures, shown: stderr });
    });
  });

it('finds nothing wrong in twenty small worlds', async () => {
  const { code, figures, shown } = await sim('--seeds', '20', '--days', '12', '--users', '30');
  expect(shown).toContain("Every rule held, the oracle's after each step and the audit's after each window");
  expect(figures).toMatchObject({ seeds: 20, days: 12, users: 30, violations: 0 });
  expect(figures['debits']).toBeGreaterThan(100);
  expect(figures['faults']).toBeGreaterThan(3_000);
  // Each of them many times over: what happens seldom may well be missing in so few worlds.
  expect(Object.keys(figures['faultsByKind'] as object)).toEqual(
    expect.arrayContaining([
      ...['store-refused', 'store-lost', 'store-answer-lost', 'store-late', 'index-behind'],
      ...['ttl-early', 'ttl-late', 'clock-off', 'process-killed', 'process-asleep'],
      ...['killed-while-writing', 'killed-while-charging', 'job-lost', 'job-duplicated', 'job-stalled'],
      ...['redis-flushed', 'redis-down', 'stream-refused', 'stream-answer-lost', 'resharded'],
      ...['bank-card-declined', 'bank-entry-returned', 'bank-brownout'],
    ]),
  );
  expect(code).toBe(0);
}, 300_000);

it('gives the same trace for the same seed, and another for another', async () => {
  const one = () => sim('--first', '3', '--seeds', '1', '--days', '5', '--users', '10');
  const [first, again, other] = [
    await one(),
    await one(),
    await sim('--first', '4', '--seeds', '1', '--days', '5', '--users', '10'),
  ];
  expect(first.figures['digest']).toBe(again.figures['digest']);
  expect(first.figures['steps']).toBe(again.figures['steps']);
  expect(other.figures['digest']).not.toBe(first.figures['digest']);
}, 120_000);

it('finds a fault that is planted, and shows the seed and what happened', async () => {
  const { code, figures, shown } = await sim('--mutants', '--only', 'skip-the-intent');
  expect(figures).toEqual({ total: 1, found: 1, missed: [], unclear: [] });
  expect(shown).toMatch(/skip-the-intent.*seed \d+, rule 2/s);
  expect(code).toBe(0);
}, 120_000);

it('shows each seed that goes wrong, what happened, and how to see it again; with the fifth it stops', async () => {
  const env = { MUTANT: 'skip-the-intent', NODE_OPTIONS: `--import=${PLANT}` };
  const { code, figures, shown } = await simWith(env, ['--seeds', '12', '--days', '8', '--users', '20']);
  expect(code).toBe(1);
  expect(figures['violations']).toBeGreaterThanOrEqual(5);
  const wrong = [...shown.matchAll(/^Seed (\d+):\n {2}rule (2|6)/gm)].map(([, seed]) => seed);
  expect(wrong).toHaveLength(5);
  expect(figures['seeds']).toBe(Number(wrong.at(-1)));
  expect(shown).toMatch(/The last that happened to them, of \d+ lines:\n {2}\S/);
  for (const seed of wrong)
    expect(shown).toContain(`npm run sim -- --first ${seed} --seeds 1 --days 8 --users 20 --trace trace.txt`);
}, 120_000);

it('says before anything runs that the trace cannot be written', async () => {
  await expect(sim('--trace', '/nowhere/t.txt')).rejects.toThrow(
    'no figures: --trace is "/nowhere/t.txt"; must be',
  );
});

describe('a seed without a result', () => {
  /** Simulates two seeds in processes that run some code first. */
  async function simulateAfter(code: string): Promise<void> {
    const { simulateAll } = (await import(PROCESSES)) as typeof SeedProcesses;
    const seeds = [1, 2].map((seed) => ({ seed, days: 1, users: 1 }));
    await simulateAll(seeds, () => true, { execArgv: ['--import', `data:text/javascript,${code}`] });
  }

  /** Each world begins on a day from 2026 on. */
  const whenItBegins = (act: string): string =>
    `const utc = Date.UTC; Date.UTC = (...date) => { if (date[0] === 2026) ${act}; return utc(...date); };`;

  it.each([
    ['it throws', whenItBegins('throw new Error("no days")')],
    ['something in it throws and nobody waits', whenItBegins('Promise.reject(new Error("no days"))')],
  ])('is one that crashed where %s, the first of them', async (_, code) => {
    await expect(simulateAfter(code)).rejects.toMatchObject({ seed: 1, reason: 'Error: no days' });
  });

  it('is no crash where the process never came to simulate it', async () => {
    await expect(simulateAfter('process.exit(3)')).rejects.toThrow(
      /^a process of the simulation ended with 3$/,
    );
  });
});
