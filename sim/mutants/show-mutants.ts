import type { Terminal } from '../../src/cli/terminal.ts';
import { colour } from '../../src/cli/terminal.ts';
import type { MutantResult } from './find-mutants.ts';

export function showMutants(out: Terminal, results: readonly MutantResult[]): void {
  out.line();
  out.table(
    ['planted fault', 'what it does to people', 'found by', 's'],
    results.map(({ mutant, by, seconds }) => [
      mutant.name,
      mutant.what,
      by ?? colour('red', 'nobody'),
      String(seconds),
    ]),
  );
  const found = results.filter(({ by }) => by !== null).length;
  const text = `${found} of ${results.length} planted faults are found.`;
  out.line(found === results.length ? colour('green', text) : colour('red', text));
}
