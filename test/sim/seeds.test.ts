import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/*
 * The simulation as people run it, compiled, in processes of its own: it moves the clock that everybody in its process sees.
 */

const MAIN = fileURLToPath(new URL('../../dist/sim/main.js', import.meta.url));

interface Ended {
  readonly code: number;
  readonly figures: Record<string, unknown>;
  readonly shown: string;
}

const sim = (...args: string[]): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const options = { env: { ...process.env, MUTANT: '' }, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, [MAIN, '--json', ...args], options, (error, stdout, stderr) => {
      const last = stdout.trim().split('\n').at(-1) ?? '';
      if (last === '') return reject(new Error(`no figures: ${stderr}`, { cause: error }));
      const figures = JSON.parse(last) as Record<string, unknown>;
      resolve({ code: Number(error?.code ?? 0), figures, shown: stderr });
    });
  });

it('finds nothing wrong in twenty small worlds', async () => {
  const { code, figures, shown } = await sim('--seeds', '20', '--days', '12', '--users', '30');
  expect(shown).toContain('Every rule held after each step');
  expect(figures).toMatchObject({ seeds: 20, days: 12, users: 30, violations: 0 });
  expect(figures['debits']).toBeGreaterThan(100);
  expect(figures['faults']).toBeGreaterThan(5_000);
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
  expect(figures).toEqual({ total: 1, found: 1, missed: [] });
  expect(shown).toMatch(/skip-the-intent.*seed \d+, rule 2/s);
  expect(code).toBe(0);
}, 120_000);
