import { plural } from '../../dashboard/format.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { colour } from '../../src/cli/terminal.ts';
import type { MutantResult } from './find-mutants.ts';
import type { Verdict } from './judge.ts';

export interface MutantFigures {
  readonly total: number;
  readonly found: number;
  readonly missed: number;
  /** Of so many the run could not tell: the test was broken, or wrong without the fault as well. */
  readonly unclear: number;
  readonly not_found: readonly string[];
}

export function mutantFigures(results: readonly MutantResult[]): MutantFigures {
  const count = (kind: Verdict['kind']): number =>
    results.filter(({ verdict }) => verdict.kind === kind).length;
  return {
    total: results.length,
    found: count('found'),
    missed: count('missed'),
    unclear: count('unclear'),
    not_found: results.filter(({ verdict }) => verdict.kind !== 'found').map(({ mutant }) => mutant.name),
  };
}

export function showMutants(out: Terminal, results: readonly MutantResult[]): void {
  const { total, found, not_found } = mutantFigures(results);
  out.line();
  out.table(
    ['planted fault', 'what it does to people', 'found by', 's'],
    results.map(({ mutant, verdict, seconds }) => [
      mutant.name,
      mutant.what,
      finderOf(verdict),
      String(seconds),
    ]),
  );
  const text = `${found} of ${plural(total, 'planted fault')} found.`;
  out.line(found === total ? colour('green', text) : colour('red', text));
  if (found < total) out.line(colour('red', `Not found: ${not_found.join(', ')}.`));
}

function finderOf(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'found':
      return verdict.by;
    case 'missed':
      return colour('red', 'nobody');
    case 'unclear':
      return colour('red', `unclear: ${verdict.why}`);
  }
}
