import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { eventually } from './processes.ts';

const ENTRIES = {
  api: 'src/api/main.js',
  bridges: 'workers/bridges/main.js',
  dashboard: 'dashboard/main.js',
  scheduler: 'workers/scheduler-main.js',
  workers: 'workers/main.js',
} as const;

export type RoleName = keyof typeof ENTRIES;

/** A write to DynamoDB at which the process stands still and says so, so that it can be killed exactly there. */
export interface HoldPoint {
  readonly command: 'PutItemCommand' | 'TransactWriteItemsCommand';
  /** What the write holds, its keys for instance. */
  readonly text: string;
  /** Of the writes of this kind that hold it, from 1. */
  readonly nth: number;
  readonly when: 'before' | 'after';
}

/** One role's own entry point as a process of its own. */
export interface RoleProcess {
  readonly url: string;
  /** Everything that it wrote: all of it once it has ended. */
  output(): string;
  /** How many hold points it has come to. */
  held(): number;
  kill(): Promise<void>;
  stop(): Promise<number | string>;
}

const HOLD = new URL('./hold-at-writes.mjs', import.meta.url).href;

export async function roleProcess(
  role: RoleName,
  env: Readonly<Record<string, string>>,
  holdPoints: readonly HoldPoint[] = [],
): Promise<RoleProcess> {
  const child = fork(fileURLToPath(new URL(`../../dist/${ENTRIES[role]}`, import.meta.url)), {
    env: { PATH: process.env['PATH'], ...env, HOLD_POINTS: JSON.stringify(holdPoints) },
    execArgv: holdPoints.length === 0 ? [] : ['--import', HOLD],
    silent: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  let held = 0;
  child.on('message', () => (held += 1));
  const ended = once(child, 'close').then(([code, signal]) => (signal ?? code) as number | string);
  const up = await eventually(`${role} is up`, () => {
    if (child.exitCode !== null) throw new Error(`${role} ended: ${output}`);
    return /^.*\b(?:is|are) up".*$/m.exec(output)?.[0];
  });
  const { port } = JSON.parse(up) as { readonly port?: number };
  return {
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    held: () => held,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
