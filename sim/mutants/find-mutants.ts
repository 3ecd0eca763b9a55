import type { Terminal } from '../../src/cli/terminal.ts';
import { ArgumentError } from '../arguments.ts';
import type { Verdict } from './judge.ts';
import { Judge } from './judge.ts';
import { MUTANTS } from './list.ts';
import type { Mutant } from './mutant.ts';
import { watchTest } from './watch-test.ts';
import { watchWorlds } from './watch-worlds.ts';

export interface MutantResult {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  readonly seconds: number;
}

/** Plants one fault after the other and looks whether a seed or a test notices. */
export async function findMutants(
  { only }: { readonly only: string | null },
  out: Terminal,
): Promise<readonly MutantResult[]> {
  const wanted = MUTANTS.filter(({ name }) => only === null || name === only);
  if (wanted.length === 0)
    throw new ArgumentError(`--only is ${only}; one of ${MUTANTS.map(({ name }) => name).join(', ')}`);
  const judge = new Judge({ simulate: watchWorlds, test: watchTest });
  const progress = out.counter('planted faults');
  const results: MutantResult[] = [];
  for (const mutant of wanted) {
    const startedMs = performance.now();
    const verdict = await judge.judge(mutant);
    const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
    results.push({ mutant, verdict, seconds });
    progress.note(noteOf(mutant, verdict));
    progress.update(results.length, wanted.length);
  }
  progress.finish();
  return results;
}

function noteOf({ name }: Mutant, verdict: Verdict): string {
  switch (verdict.kind) {
    case 'found':
      return `found    ${name}  ${verdict.by}`;
    case 'missed':
      return `MISSED   ${name}`;
    case 'unclear':
      return `UNCLEAR  ${name}  ${verdict.why}`;
  }
}
