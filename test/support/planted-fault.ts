import type { Plugin } from 'vitest/config';
import { MUTANTS } from '../../sim/mutants/list.ts';
import { planted } from '../../sim/mutants/mutant.ts';

/** For `npm run sim -- --mutants`: the tests see the named file with its fault. Without a name they see what there is. */
export function plantedFault(name: string | undefined): Plugin {
  const mutant = MUTANTS.find((one) => one.name === name);
  return {
    name: 'planted-fault',
    enforce: 'pre',
    transform: (code, id) =>
      mutant !== undefined && id.endsWith(`/${mutant.file}`) ? planted(mutant, code) : null,
  };
}
