import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Terminal } from '../src/cli/terminal.ts';
import { terminal } from '../src/cli/terminal.ts';
import type { SimArguments } from './arguments.ts';
import { ArgumentError, readArguments } from './arguments.ts';
import { findMutants } from './mutants/find-mutants.ts';
import { mutantFigures, showMutants } from './mutants/show-mutants.ts';
import { runSeeds } from './run-seeds.ts';
import { showFailure, showSummary } from './show.ts';
import type { SeedResult } from './simulate.ts';

const HELP = `npm run sim -- [--seeds N] [--first N] [--days N] [--users N] [--trace FILE] [--json]
npm run sim -- --mutants [--only NAME] [--json]

  --seeds N      so many worlds (20)
  --first N      the first seed (1); one seed again: --first 17 --seeds 1
  --days N       of each (90)
  --users N      in each (200)
  --trace FILE   what happened with the first seed that went wrong, or with the last one
  --mutants      plants faults in the code, one at a time, and tells which are found: wrong with the fault, right without
  --only NAME    of the planted faults this one only
  --json         the last line on standard output is one JSON object; everything else goes to standard error

The same seed gives the same trace, byte for byte. Ends with 1 where something is wrong.
`;

/** What machines are told, and whether all is well. */
interface End {
  readonly figures: object;
  readonly isRight: boolean;
}

async function plantFaults(options: SimArguments, out: Terminal): Promise<End> {
  const results = await findMutants(options, out);
  showMutants(out, results);
  const figures = mutantFigures(results);
  return { figures, isRight: figures.found === figures.total };
}

async function simulateSeeds(options: SimArguments, out: Terminal): Promise<End> {
  const { figures, failures, trace } = await runSeeds(options, out);
  showSummary(out, figures);
  for (const failure of failures) showFailure(out, failure, options, leaveTrace(failure));
  if (options.trace !== null) writeTrace(options.trace, trace);
  return { figures, isRight: failures.length === 0 };
}

/** Asked for or not: to simulate a seed again takes its time. Null where its process took the trace along. */
function leaveTrace({ seed, trace }: SeedResult): string | null {
  if (trace.length === 0) return null;
  const file = join(tmpdir(), `collections-sim-seed-${seed}.txt`);
  writeTrace(file, trace);
  return file;
}

const writeTrace = (file: string, trace: readonly string[]): void =>
  writeFileSync(file, `${trace.join('\n')}\n`);

async function main(): Promise<number> {
  const options = readArguments(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const out = terminal(options.json ? process.stderr : process.stdout);
  const { figures, isRight } = await (options.mutants ? plantFaults : simulateSeeds)(options, out);
  if (options.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
  return isRight ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof ArgumentError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
