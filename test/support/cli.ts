import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

export interface Answer {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  /** What it has said so far, to people and machines together. */
  said(): string;
  readonly answer: Promise<Answer>;
}

/** The compiled command, as somebody would run it without a terminal. */
export function startCli(args: readonly string[], environment: Readonly<Record<string, string>>): RunningCli {
  const env = { PATH: process.env['PATH'], ...environment };
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, error, said] = ['', '', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    said += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    error += text;
    said += text;
  });
  const answer = once(child, 'close').then(([code]) => ({ code: code as number | null, out, error }));
  return { child, said: () => said, answer };
}

export const cli = (
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Answer> => startCli(args, environment).answer;

/** The last line on standard output. */
export const figuresOf = ({ out }: Answer): unknown => JSON.parse(out.trimEnd().split('\n').at(-1) ?? '');
