import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../config/read-config.ts';

/** The pretend bank of one machine, a process of its own. */
export interface Bank {
  readonly url: string;
  readonly died: Promise<string>;
  stop(): Promise<void>;
}

/** The pretend bank plays all four services, and its clock is the one of every process. */
export const bankVariables = (url: string): Record<string, string> => ({
  USER_SERVICE_URL: url,
  TXN_SERVICE_URL: url,
  PAYMENTS_SERVICE_URL: url,
  NOTIFICATIONS_URL: url,
  CLOCK_URL: `${url}/clock`,
});

export async function startBank(folder: string, environment: Environment): Promise<Bank> {
  mkdirSync(join(folder, 'logs'), { recursive: true });
  const log = openSync(join(folder, 'logs', 'sandbox.log'), 'w');
  const child = fork(fileURLToPath(new URL('../sandbox/main.js', import.meta.url)), {
    env: { ...environment, SANDBOX_PORT: '0', SANDBOX_DATA_DIR: resolve(folder, 'sandbox') },
    stdio: ['ignore', log, log, 'ipc'],
    // Ctrl-C reaches the whole foreground group; the bank waits for us instead, so that nothing is cut short.
    detached: true,
  });
  const url = await listening(child, join(folder, 'logs', 'sandbox.log'));
  const exit = once(child, 'exit');
  return {
    url,
    died: exit.then(() => 'the sandbox bank'),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await exit;
    },
  };
}

function listening(child: ChildProcess, log: string): Promise<string> {
  return new Promise((resolveUrl, reject) => {
    child.once('message', (message) => resolveUrl((message as { url: string }).url));
    child.once('exit', () => reject(new Error(`the sandbox bank did not start; ${log} says why`)));
  });
}
