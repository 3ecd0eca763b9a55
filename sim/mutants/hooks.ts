import { readFileSync } from 'node:fs';
import type { Mutant } from './mutant.ts';
import { planted } from './mutant.ts';

/* Hooks of Node's module loader: the one file that the mutant is about is loaded with the fault in it. */

let mutant: Mutant | null = null;
let url = '';

export function initialize(data: { readonly mutant: Mutant; readonly url: string }): void {
  ({ mutant, url } = data);
}

type NextLoad = (url: string, context: object) => Promise<object>;

export async function load(asked: string, context: object, nextLoad: NextLoad): Promise<object> {
  if (mutant === null || asked !== url) return nextLoad(asked, context);
  return {
    format: 'module',
    shortCircuit: true,
    source: planted(mutant, readFileSync(new URL(url), 'utf8')),
  };
}
