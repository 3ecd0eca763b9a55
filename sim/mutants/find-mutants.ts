import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Terminal } from '../../src/cli/terminal.ts';
import { ArgumentError } from '../arguments.ts';
import type { Violation } from '../oracle/verdict.ts';
import { simulateAll } from '../seed-processes.ts';
import type { SeedResult } from '../simulate.ts';
import { MUTANTS } from './list.ts';
import type { Mutant } from './mutant.ts';

/** Small worlds, many of them: most faults show in the first few. */
const WORLD = { days: 45, users: 60 } as const;
const MOST_SEEDS = 40;

const PLANT = fileURLToPath(new URL('./plant.js', import.meta.url));
const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

export interface MutantResult {
  readonly mutant: Mutant;
  /** What found it: a seed and the rule that was broken, or a test. Null: nothing did. */
  readonly by: string | null;
  readonly seconds: number;
}

/** Plants one fault after the other and looks whether anybody notices. */
export async function findMutants(
  { only }: { readonly only: string | null },
  out: Terminal,
): Promise<readonly MutantResult[]> {
  const wanted = MUTANTS.filter(({ name }) => only === null || name === only);
  if (wanted.length === 0)
    throw new ArgumentError(`--only is ${only}; one of ${MUTANTS.map(({ name }) => name).join(', ')}`);
  const progress = out.counter('planted faults');
  const results: MutantResult[] = [];
  for (const mutant of wanted) {
    const startedMs = performance.now();
    const by = mutant.test === undefined ? await bySimulation(mutant) : await byTest(mutant, mutant.test);
    const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
    results.push({ mutant, by, seconds });
    progress.note(`${by === null ? 'MISSED' : 'found '}  ${mutant.name}  ${by ?? ''}`);
    progress.update(results.length, wanted.length);
  }
  progress.finish();
  return results;
}

async function bySimulation({ name }: Mutant): Promise<string | null> {
  let found: string | null = null;
  const seeds = Array.from({ length: MOST_SEEDS }, (_, i) => ({ seed: i + 1, ...WORLD }));
  const look = ({ seed, violations: [first] }: SeedResult): boolean => {
    if (first !== undefined) found = `seed ${seed}, rule ${describe(first)}`;
    return first === undefined;
  };
  await simulateAll(seeds, look, { env: { MUTANT: name }, execArgv: ['--import', PLANT] });
  return found;
}

const describe = ({ rule, detail }: Violation): string => `${rule}: ${detail.slice(0, 90)}`;

/** Vitest plants the fault in the sources, see vitest.config.ts. */
async function byTest({ name }: Mutant, test: string): Promise<string | null> {
  const run = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', test], {
    cwd: PROJECT,
    env: { ...process.env, MUTANT: name },
    stdio: 'ignore',
  });
  const [code] = (await once(run, 'exit')) as [number];
  return code === 0 ? null : test;
}
