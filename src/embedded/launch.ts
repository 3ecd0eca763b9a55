import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import type { DataFolder } from './data-folder.ts';
import { freePort } from './free-port.ts';
import { listensOn } from './listening.ts';
import { logTail } from './log-tail.ts';
import { recordProcess, type ProcessRecord } from './process-record.ts';
import type { Command, Server } from './server.ts';
import { until } from './until.ts';

/** A server's process, which may not have begun to serve yet. */
export interface Spawned {
  readonly record: ProcessRecord;
  /** Settles when the process has ended, with how: `exit code 1`, `SIGKILL`. */
  readonly ended: Promise<string>;
}

export interface RunningServer extends Spawned {
  readonly port: number;
}

const attempts = 5;
const readyMs = 90_000;

/**
 * Starts the server and waits until it serves: on a free port, or on the one that it had before. `remember` is called before
 * its program begins.
 */
export async function launch(
  server: Server,
  folder: DataFolder,
  remember: (spawned: Spawned) => void,
  formerPort?: number,
): Promise<RunningServer> {
  mkdirSync(folder.storeOf(server.name), { recursive: true });
  for (let attempt = 1; ; attempt += 1) {
    const port = formerPort ?? (await freePort());
    const child = spawnHeld(server.command(port), folder.logOf(server.name));
    const spawned = { record: recordChild(server.name, child), ended: endOf(child) };
    begin(child, () => remember(spawned));
    const failure = await failureToServe(server, child, port);
    if (failure === null) return { ...spawned, port };
    const log = logTail(folder.logOf(server.name));
    if (attempt < attempts && portWasTaken(log)) continue;
    throw new Error(`${server.name} did not start (${failure}):\n${log.join('\n')}`);
  }
}

/**
 * Spawned as a shell that waits for a line on its standard input before it becomes the program: a server only begins once it
 * is on record. If the guard is killed in between, the shell reads the end of its input and is gone, and nobody is left that
 * no later start would know of. `exec` keeps the process number and the start time.
 *
 * In a session of its own, so that Ctrl-C in the terminal does not reach it.
 */
function spawnHeld(command: Command, log: string): ChildProcess {
  const logFd = openSync(log, 'a');
  try {
    return spawn('/bin/sh', ['-c', 'read -r go && exec "$0" "$@"', command.file, ...command.args], {
      stdio: ['pipe', logFd, logFd],
      detached: true,
    });
  } finally {
    closeSync(logFd);
  }
}

function begin(child: ChildProcess, remember: () => void): void {
  child.stdin?.on('error', () => undefined); // it ended already, which `ended` tells
  try {
    remember();
    child.stdin?.write('go\n');
  } finally {
    child.stdin?.end();
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', () => resolve(endedAs(child) ?? 'unknown'));
  });
}

function endedAs(child: ChildProcess): string | null {
  return child.signalCode ?? (child.exitCode === null ? null : `exit code ${child.exitCode}`);
}

function recordChild(name: string, child: ChildProcess): ProcessRecord {
  const spawned = child.pid === undefined ? null : recordProcess(name, child.pid);
  if (spawned === null) throw new Error(`${name} could not be spawned`);
  return spawned;
}

/** Null when it serves. */
async function failureToServe(server: Server, child: ChildProcess, port: number): Promise<string | null> {
  const serves = async (): Promise<boolean> =>
    listensOn(child.pid ?? 0, port) && (await server.answers(port));
  await until(async () => endedAs(child) !== null || (await serves()), { timeoutMs: readyMs, everyMs: 50 });
  return endedAs(child) ?? ((await serves()) ? null : `no answer in ${readyMs / 1000} s`);
}

function portWasTaken(log: readonly string[]): boolean {
  return log.some((line) => /address already in use|EADDRINUSE|failed to bind/i.test(line));
}
