import { writeFileSync } from 'node:fs';
import { terminal } from '../src/cli/terminal.ts';
import { readArguments } from './arguments.ts';
import { showMutants } from './mutants/show-mutants.ts';
import { findMutants } from './mutants/find-mutants.ts';
import { showFailure, showSummary } from './show.ts';
import { runSeeds } from './run-seeds.ts';

const HELP = `npm run sim -- [--seeds N] [--first N] [--days N] [--users N] [--trace FILE] [--json]
npm run sim -- --mutants [--only NAME] [--json]

  --seeds N      so many worlds, one after the other (20)
  --first N      the first seed (1); one seed again: --first 17 --seeds 1
  --days N       of each (90)
  --users N      in each (200)
  --trace FILE   everything that happened with the first seed that went wrong, or with the last one
  --mutants      plants faults in the code, one at a time, and tells which are found
  --only NAME    of the planted faults this one only
  --json         the last line on standard output is one JSON object; everything else goes to standard error

The same seed gives the same trace, byte for byte. Ends with 1 where something is wrong.
`;

const options = readArguments(process.argv.slice(2));
if (options === 'help') {
  process.stdout.write(HELP);
} else {
  const out = terminal(options.json ? process.stderr : process.stdout);
  const tell = (figures: object): void => {
    if (options.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
  };
  if (options.mutants) {
    const found = await findMutants(options, out);
    showMutants(out, found);
    tell({
      total: found.length,
      found: found.filter(({ by }) => by !== null).length,
      missed: found.filter(({ by }) => by === null).map(({ mutant }) => mutant.name),
    });
    process.exitCode = found.every(({ by }) => by !== null) ? 0 : 1;
  } else {
    const { figures, failure, trace } = await runSeeds(options, out);
    showSummary(out, figures);
    if (failure !== null) showFailure(out, failure, options);
    if (options.trace !== null) writeFileSync(options.trace, `${trace.join('\n')}\n`);
    tell(figures);
    process.exitCode = failure === null ? 0 : 1;
  }
}
