import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from './processes.ts';

const root = new URL('../..', import.meta.url).pathname;
const START = join(root, 'dist/src/cli/start.js');

export interface Running {
  readonly child: ChildProcess;
  /** What it has said so far, to people and machines together. */
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

export interface RunOptions {
  /** Default: this checkout. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** In a process group of its own, as a shell starts a command: Ctrl-C goes to all of the group. */
export function runIn(
  folder: string,
  file: string,
  args: readonly string[],
  { cwd = root, env: more = {} }: RunOptions = {},
): Running {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...localOnly(folder), ...more };
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, output: () => output, ended };
}

/** Never the ports or the data that somebody's own `npm start` uses. */
const localOnly = (folder: string) => ({ DATA_DIR: join(folder, 'data'), PORT: '0', DASHBOARD_PORT: '0' });

/** The whole system in that folder, from what is built. */
export const startIn = (folder: string, ...args: readonly string[]): Running =>
  runIn(folder, process.execPath, [START, ...args]);

export const isUp = ({ output, child }: Running) =>
  eventually('the system to be up', () => {
    if (child.exitCode !== null) throw new Error(`it ended instead:\n${output()}`);
    return output().includes('Ctrl-C stops everything');
  });
