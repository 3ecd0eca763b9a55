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
  readonly violations: number;
  /** Of the traces of all seeds. */
  readonly digest: string;
  readonly duration_s: number;
}

/** Every seed up to the first that goes wrong. */
export async function runSeeds(
  { seeds, first, days, users, trace: traceFile }: SimArguments,
  out: Terminal,
): Promise<{
  readonly figures: SimFigures;
  readonly failure: SeedResult | null;
  readonly trace: readonly string[];
}> {
  const startedMs = performance.now();
  const progress = out.progress('worlds', seeds);
  const digest = createHash('sha256');
  const faultsByKind: Record<string, number> = {};
  let [done, steps, debits] = [0, 0, 0];
  let failure: SeedResult | null = null;
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
    digest.update(result.digest);
    for (const [kind, count] of Object.entries(result.faults))
      faultsByKind[kind] = (faultsByKind[kind] ?? 0) + count;
    progress.update(done);
    trace = result.trace;
    if (result.violations.length === 0) return true;
    failure = result;
    return false;
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
      violations: (failure as SeedResult | null)?.violations.length ?? 0,
      digest: digest.digest('hex'),
      duration_s: Math.round((performance.now() - startedMs) / 100) / 10,
    },
    failure,
    trace,
  };
}
