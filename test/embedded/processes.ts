import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/* Looks at processes through `ps` and never through the code under test. */

/** As `ps` writes it: begins with T while the process stands still. */
export const stateOf = (pid: number): string => ps('stat', pid);

export function lives(pid: number): boolean {
  const state = stateOf(pid);
  return state !== '' && !state.startsWith('Z');
}

export function processGroup(pid: number): number {
  return Number(ps('pgid', pid));
}

function ps(column: string, pid: number): string {
  return spawnSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
}

export interface StackPids {
  guard: number;
  parent: number;
  redis: number;
  dynamodb: number;
  kinesis: number;
}

/** Every process of the stack that is up on this folder. */
export function stackPids(dataDir: string): StackPids {
  const file = JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8')) as {
    guard: { pid: number };
    parent: { pid: number };
    servers: { name: string; pid: number }[];
  };
  const pidOf = (name: string): number => file.servers.find((server) => server.name === name)!.pid;
  return {
    guard: file.guard.pid,
    parent: file.parent.pid,
    redis: pidOf('redis'),
    dynamodb: pidOf('dynamodb'),
    kinesis: pidOf('kinesis'),
  };
}

export function serversOf({ redis, dynamodb, kinesis }: StackPids): number[] {
  return [redis, dynamodb, kinesis];
}

/** All but a parent that is this very process. */
export function allOf(pids: StackPids): number[] {
  return [...serversOf(pids), pids.guard, pids.parent].filter((pid) => pid !== process.pid);
}

export async function expectAllGone(pids: StackPids): Promise<void> {
  await expect.poll(() => allOf(pids).filter(lives)).toEqual([]);
}

/** The living processes that name this text, as all of a stack but Redis name their data folder. */
export function commandLinesWith(text: string): string[] {
  const all = spawnSync('ps', ['-A', '-ww', '-o', 'stat=,command='], { encoding: 'utf8' }).stdout.split('\n');
  return all.filter((line) => line.includes(text) && !line.startsWith('Z'));
}

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

export interface Fixture {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly nextLine: () => Promise<string>;
  /** Its exit code and the signal it died of. */
  readonly ended: Promise<unknown>;
  readonly kill: () => Promise<void>;
}

/** Runs a fixture at the head of a process group of its own, as a shell does with a foreground job. */
export function runFixture(name: string, ...args: string[]): Fixture {
  const child = spawn(process.execPath, [fixture(name), ...args], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    pid: child.pid!,
    nextLine: async () => {
      const line = await lines.next();
      if (line.done === true) throw new Error(`${name} ended without another line`);
      return line.value;
    },
    ended,
    kill: async () => {
      child.kill('SIGKILL'); // does nothing to one that has ended
      await ended;
    },
  };
}
