import { readFileSync } from 'node:fs';
import ts from 'typescript';
import type { Mutant } from './mutant.ts';
import { planted } from './mutant.ts';

/* Hooks of Node's module loader: the one file that the mutant is about is compiled anew, with the fault in it. */

export interface PlantedFile {
  readonly mutant: Mutant;
  /** Of the source, and of what was compiled from it. */
  readonly source: string;
  readonly compiled: string;
}

let file: PlantedFile | null = null;

export function initialize(data: PlantedFile): void {
  file = data;
}

type NextLoad = (url: string, context: object) => Promise<object>;

export async function load(url: string, context: object, nextLoad: NextLoad): Promise<object> {
  if (file?.compiled !== url) return nextLoad(url, context);
  const { outputText: source } = ts.transpileModule(
    planted(file.mutant, readFileSync(new URL(file.source), 'utf8')),
    {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    },
  );
  return { format: 'module', shortCircuit: true, source };
}
