import type { Terminal } from '../src/cli/terminal.ts';
import { colour, terminal } from '../src/cli/terminal.ts';
import type { ChaosOptions } from './arguments.ts';
import { HELP, readArguments } from './arguments.ts';
import { runChaos } from './chaos.ts';
import { Ending, Interruption } from './ending.ts';
import { figuresOf, isClean } from './report.ts';
import { show } from './show.ts';

const INTERRUPTED = 130;

/** On the slowest machine on which it means anything; longer than one day of the quiet, which then says what it waits for. */
const limitMs = ({ faults }: ChaosOptions): number => 900_000 + faults * 12_000;

async function main(): Promise<number> {
  const options = readArguments(process.argv.slice(2));
  if (options === null) {
    process.stdout.write(HELP);
    return 0;
  }
  const out = terminal(options.json ? process.stderr : process.stdout);
  const ending = new Ending();
  const stopped = new AbortController();
  endOnSignals(out, { ending, stopped });
  const tooLong = new Error(`not done in ${limitMs(options) / 60_000} minutes`);
  const limit = setTimeout(() => stopped.abort(tooLong), limitMs(options));
  try {
    return await run(options, { out, ending, stopped });
  } catch (error) {
    throw stopped.signal.reason instanceof Interruption ? stopped.signal.reason : error;
  } finally {
    clearTimeout(limit);
    await ending.end();
  }
}

async function run(options: ChaosOptions, tools: Running & { readonly out: Terminal }): Promise<number> {
  const { seed, users, faults, json } = options;
  const { out } = tools;
  const beganMs = performance.now();
  const elapsedS = (): number => Math.round((performance.now() - beganMs) / 1_000);
  const stamped = (text: string): string => `${String(elapsedS()).padStart(4)} s  ${text}`;
  out.line(stamped(`seed ${seed}: ${faults} faults, ${users} members`));
  const report = await runChaos(options, { ...tools, stamped });
  show(out, report);
  const figures = { ...figuresOf(report), users, duration_s: elapsedS(), seed };
  if (json) process.stdout.write(`${JSON.stringify(figures)}\n`);
  return isClean(report) ? 0 : 1;
}

interface Running {
  readonly ending: Ending;
  readonly stopped: AbortController;
}

/** Ctrl-C comes twice under npm: from the terminal, and passed on. */
function endOnSignals(out: Terminal, { ending, stopped }: Running): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopped.signal.reason instanceof Interruption) return;
      out.line('stopping');
      stopped.abort(new Interruption('stopped'));
      void ending.end().finally(() => process.exit(INTERRUPTED));
    });
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    // Ctrl-C pulls the ground from under it: no failure, and it ends by itself.
    if (error instanceof Interruption) return;
    process.stderr.write(`${colour('red', 'failed')}: ${(error as Error).message}\n`);
    process.exit(1);
  },
);
