import { resolve } from 'node:path';
import { GuardHandle } from './guard-handle.ts';
import type { Death } from './guard-messages.ts';
import { ensurePrograms, type Programs } from './programs.ts';
import type { ServerName } from './data-folder.ts';
import type { Endpoints } from './stack-file.ts';

export interface StackOptions {
  /** Everything the servers keep lies here. Made when missing. */
  readonly dataDir: string;
  /** DynamoDB and Kinesis forget everything at their end. Default false. */
  readonly inMemory?: boolean;
  /** The folder is removed at the end, also when this process did not live to see it. Default false. */
  readonly removeDataDir?: boolean;
  /** Default: found, or installed, by `ensurePrograms`. */
  readonly programs?: Programs;
}

export interface Stack extends Endpoints {
  /** Settles when a part of the stack ends without being asked to, never otherwise. The rest still runs: call `stop`. */
  readonly died: Promise<Death>;
  /** Kills a server and starts it again, at the same address and on the same data. Settles when it serves again. */
  readonly crash: (server: ServerName, downMs: number) => Promise<void>;
  /** A server stands still: whoever asks is connected and waits. Settles when it goes on. */
  readonly pause: (server: ServerName, forMs: number) => Promise<void>;
  /** Settles when no process of the stack is left. May be called again. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts Redis, DynamoDB and Kinesis on loopback ports of their own and settles when all three answer. They end with
 * `stop()`, and with this process however that ends.
 *
 * @throws AlreadyRunningError when the system is already up on this folder.
 * @throws MissingProgramError when a program is missing and could not be installed.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const programs = options.programs ?? (await ensurePrograms());
  const guard = new GuardHandle({
    dataDir: resolve(options.dataDir),
    inMemory: options.inMemory ?? false,
    removeDataDir: options.removeDataDir ?? false,
    programs,
  });
  const endpoints = await guard.started;
  guard.letParentEnd();
  return {
    ...endpoints,
    died: guard.died,
    crash: (server, downMs) => guard.trouble({ type: 'crash', server, downMs }),
    pause: (server, forMs) => guard.trouble({ type: 'pause', server, forMs }),
    stop: () => guard.stop(),
  };
}
