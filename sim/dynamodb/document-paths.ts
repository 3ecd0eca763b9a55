import { invalid } from './errors.ts';
import type { Path } from './expression.ts';

/** No path may be, or lie within, another one: what would become of it is not defined. */
export function checkPaths(paths: readonly Path[]): void {
  if (paths.length === 1) return;
  paths.forEach((path, i) => {
    for (const other of paths.slice(i + 1)) {
      if (overlap(path, other)) throw invalid('Two document paths overlap with each other');
      if (conflict(path, other)) throw invalid('Two document paths conflict with each other');
    }
  });
}

const overlap = (a: Path, b: Path): boolean => a.every((step, i) => i >= b.length || step === b[i]);

/** The same place would have to be a map for one and a list for the other. */
function conflict(a: Path, b: Path): boolean {
  const fork = a.findIndex((step, i) => step !== b[i]);
  return typeof a[fork] !== typeof b[fork];
}
