import { mkdirSync, readdirSync } from 'node:fs';
import { colour, terminal } from '../src/cli/terminal.ts';
import type { BenchOptions } from './arguments.ts';
import { HELP, commandFor, readArguments } from './arguments.ts';
import { Ground } from './ground.ts';
import { machineFacts } from './machine.ts';
import type { OnFreshGround } from './parts.ts';
import { measureParts } from './parts.ts';
import { sharesIn } from './profile.ts';
import { lineOf, show } from './report.ts';

/** What an earlier run left there would be summed up with this one's. */
function makeEmptyFolder(path: string): void {
  if (!isEmptyFolder(path)) throw new Error(`--profile must be a folder that is new or empty, not "${path}"`);
}

function isEmptyFolder(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true });
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** A caller who has mistyped something needs one line; a stack is for a developer who mends the bench. */
function readOptions(): BenchOptions | null {
  try {
    const options = readArguments(process.argv.slice(2));
    if (options !== null && options.profile !== null) makeEmptyFolder(options.profile);
    return options;
  } catch (error) {
    return fail((error as Error).message);
  }
}

function fail(why: string): never {
  process.stderr.write(`${colour('red', 'failed')}: ${why}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options === null) {
    process.stdout.write(HELP);
    return;
  }
  const { parts, records, json, profile } = options;
  const out = terminal(json ? process.stderr : process.stdout);
  const beganMs = performance.now();
  const say = (text: string): void =>
    out.line(`${((performance.now() - beganMs) / 1_000).toFixed(0).padStart(4)} s  ${text}`);
  let stop = async (): Promise<void> => undefined;
  const asked = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Under npm one Ctrl-C comes twice.
      if (asked.signal.aborted) return;
      asked.abort();
      out.line('stopping');
      void stop().finally(() => process.exit(130));
    });
  }
  const onFreshGround: OnFreshGround = async (part, work) => {
    const wanted = profile === null ? null : { dir: profile, part };
    const ground = await Ground.prepare((how) => (stop = how), wanted);
    const found = await work({ ground, records, say });
    await ground.stop();
    return found;
  };
  try {
    const machine = await machineFacts();
    const measuredAt = `${new Date().toISOString().slice(0, 16)}Z`;
    const found = await measureParts(parts, say, onFreshGround);
    const profiled = profile === null ? {} : { profile: sharesIn(profile) };
    const report = { ...found, ...profiled, machine, command: commandFor(options), measuredAt };
    show(out, report);
    say('done');
    if (json) process.stdout.write(`${lineOf(report)}\n`);
  } catch (error) {
    // Ctrl-C pulls the ground from under what is being measured: that is no failure, and the end is near.
    if (asked.signal.aborted) await new Promise(() => undefined);
    await stop();
    throw error;
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => fail(error instanceof Error ? (error.stack ?? error.message) : String(error)),
);
