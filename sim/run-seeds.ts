import { createHash } from 'node:crypto';
import type { Terminal } from '../src/cli/terminal.ts';
import type { SimArguments } from './arguments.ts';
import { simulateAll } from './seed-processes.ts';
import type { SeedResult } from './simulate.ts';

export interface SimFigures {
  readonly seeds: number;
  readonly days: number;
  readonly users: number;
  readonly steps: number;
  readonly faults: number;
  readonly faultsByKind: Readonly<Record<string, number>>;
  readonly debits: number;
  readonly foretold: number;
  readonly violations: number;
  /** Of the traces of all seeds. */
  readonly digest: string;
  readonly duration_s: number;
}

/** With more than these it is the code that is wrong everywhere, and the rest would tell nothing new. */
const MOST_WRONG = 5;

/** Every seed: a night's run that stopped at its first finding would say nothing of those behind it. */
export async function runSeeds(
  { seeds, first, days, users, trace: traceFile }: SimArguments,
  out: Terminal,
): Promise<{
  readonly figures: SimFigures;
  readonly failures: readonly SeedResult[];
  readonly trace: readonly string[];
}> {
  const startedMs = performance.now();
  const progress = out.progress('worlds', seeds);
  const digest = createHash('sha256');
  const faultsByKind: Record<string, number> = {};
  let [done, steps, debits, foretold] = [0, 0, 0, 0];
  const failures: SeedResult[] = [];
  let trace: readonly string[] = [];
  const wanted = Array.from({ length: seeds }, (_, i) => ({
    seed: first + i,
    days,
    users,
    keepTrace: traceFile !== null && i === seeds - 1,
  }));
  await simulateAll(wanted, (result) => {
    done += 1;
    steps += result.steps;
    debits += result.debits;
    foretold += result.foretold;
    digest.update(result.digest);
    for (const [kind, count] of Object.entries(result.faults))
      faultsByKind[kind] = (faultsByKind[kind] ?? 0) + count;
    if (result.violations.length > 0) failures.push(result);
    progress.update(done, failures.length === 0 ? undefined : `wrong: ${seedsOf(failures)}`);
    trace = failures[0]?.trace ?? result.trace;
    return failures.length < MOST_WRONG;
  });
  progress.finish();
  return {
    figures: {
      seeds: done,
      days,
      users,
      steps,
      faults: Object.values(faultsByKind).reduce((sum, count) => sum + count, 0),
      faultsByKind,
      debits,
      foretold,
      violations: failures.reduce((sum, { violations }) => sum + violations.length, 0),
      digest: digest.digest('hex'),
      duration_s: Math.round((performance.now() - startedMs) / 100) / 10,
    },
    failures,
    trace,
  };
}

const seedsOf = (results: readonly SeedResult[]): string => results.map(({ seed }) => seed).join(', ');
