import { plural } from '../../dashboard/format.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { colour } from '../../src/cli/terminal.ts';
import type { MutantResult } from './find-mutants.ts';
import type { Verdict } from './judge.ts';

export interface MutantFigures {
  readonly total: number;
  readonly found: number;
  readonly missed: readonly string[];
  /** Of these it cannot be said whether they are found. */
  readonly unclear: readonly string[];
}

export function mutantFigures(results: readonly MutantResult[]): MutantFigures {
  const named = (kind: Verdict['kind']): readonly string[] =>
    results.filter(({ verdict }) => verdict.kind === kind).map(({ mutant }) => mutant.name);
  return {
    total: results.length,
    found: named('found').length,
    missed: named('missed'),
    unclear: named('unclear'),
  };
}

export function showMutants(out: Terminal, results: readonly MutantResult[]): void {
  const { total, found, unclear } = mutantFigures(results);
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
  if (unclear.length > 0) out.line(colour('red', `Nobody can say of ${unclear.join(', ')}: see above.`));
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
