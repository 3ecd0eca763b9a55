import { fork, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AlreadyRunningError } from '../errors.ts';
import { dataFolder, type DataFolder } from './data-folder.ts';
import { endProcesses } from './end-process.ts';
import type { Death, GuardMessage, GuardOrders, ParentMessage, Trouble } from './guard-messages.ts';
import { logTail } from './log-tail.ts';
import type { Owner } from './ownership.ts';
import type { ProcessRecord } from './process-record.ts';
import type { Endpoints } from './stack-file.ts';

/** The guard ends its servers in less, even when it has to insist. */
const stopMs = 40_000;

/** The parent's end of the channel to its guard. */
export class GuardHandle {
  /** Rejects, once nothing is left running, when the stack did not come up. */
  readonly started: Promise<Endpoints>;
  readonly died: Promise<Death>;

  readonly #folder: DataFolder;
  readonly #guard: ChildProcess;
  readonly #servers: ProcessRecord[] = [];
  readonly #gone: Promise<string>;
  #stopping = false;

  constructor(orders: GuardOrders) {
    this.#folder = dataFolder(orders.dataDir);
    this.#guard = forkGuard(this.#folder, orders);
    this.#gone = this.#watchEnd();
    this.started = this.#watchStart();
    this.died = this.#watchDeaths();
    this.died.catch(() => undefined); // not everyone listens, and `stop` rejects just the same
    this.#hear((message) => {
      if (message.type === 'spawned') this.#servers.push(message.server);
    });
  }

  /** From here on a parent that has nothing else to do may end, and the stack ends with it. */
  letParentEnd(): void {
    this.#guard.unref();
    this.#guard.channel?.unref();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#guard.ref();
    this.#guard.channel?.ref();
    if (this.#guard.connected) this.#guard.send({ type: 'stop' } satisfies ParentMessage, () => undefined);
    const insist = setTimeout(() => this.#guard.kill('SIGKILL'), stopMs);
    await this.#gone;
    clearTimeout(insist);
  }

  /** Settles when the server serves again. One trouble at a time with each. */
  async trouble(order: Trouble): Promise<void> {
    let heard: (message: unknown) => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      heard = (message) => {
        const told = message as GuardMessage;
        if (told.type === 'serves-again' && told.server === order.server) resolve();
      };
      this.#guard.on('message', heard);
    });
    this.#guard.send(order satisfies ParentMessage);
    const lost = this.died.then(({ program, cause }) => {
      throw new Error(`${program} ended: ${cause}`);
    });
    await Promise.race([over, lost, this.#gone]).finally(() => this.#guard.off('message', heard));
  }

  #hear(listener: (message: GuardMessage) => void): void {
    this.#guard.on('message', (message) => listener(message as GuardMessage));
  }

  async #watchEnd(): Promise<string> {
    const cause = await endOf(this.#guard);
    // By what this guard reported and not by the file, which may be a successor's by now.
    await endProcesses(this.#servers);
    return cause;
  }

  #watchStart(): Promise<Endpoints> {
    let failure: Error | undefined;
    return new Promise((resolve, reject) => {
      this.#hear((message) => {
        if (message.type === 'ready') resolve(message.endpoints);
        if (message.type === 'taken') failure = alreadyRunning(this.#folder, message.by);
        if (message.type === 'failed')
          failure = new Error(`The local servers did not start: ${message.reason}`);
      });
      this.#gone.then((cause) => reject(failure ?? this.#guardLost(cause)), reject);
    });
  }

  #watchDeaths(): Promise<Death> {
    return new Promise((resolve, reject) => {
      this.#hear((message) => {
        if (message.type === 'died' && !this.#stopping) resolve(message.death);
      });
      this.#gone.then((cause) => {
        if (!this.#stopping) resolve({ program: 'guard', cause, lastLogLines: this.#lastLogLines() });
      }, reject);
    });
  }

  #guardLost(cause: string): Error {
    return new Error(`The guard of the local servers ended (${cause}):\n${this.#lastLogLines().join('\n')}`);
  }

  #lastLogLines(): string[] {
    return logTail(this.#folder.logOf('guard'));
  }
}

/** How it ended. Both events, because its last words may still be in the channel when it is gone. */
function endOf(guard: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let cause: string | undefined;
    const settle = (): void => {
      if (cause !== undefined && !guard.connected) resolve(cause);
    };
    guard.once('error', (error) => resolve(error.message));
    guard.once('disconnect', settle);
    guard.once('exit', (code, signal) => {
      cause = signal ?? `exit code ${code}`;
      settle();
    });
  });
}

/** In a session of its own: Ctrl-C and a closing terminal reach the parent alone, which may need its servers to finish. */
function forkGuard(folder: DataFolder, orders: GuardOrders): ChildProcess {
  mkdirSync(folder.logs, { recursive: true });
  const log = openSync(folder.logOf('guard'), 'a');
  try {
    return fork(compiledGuard(), [JSON.stringify(orders)], {
      detached: true,
      // Not the parent's loaders, debugger port or the like.
      execArgv: [],
      stdio: ['ignore', log, log, 'ipc'],
    });
  } finally {
    closeSync(log);
  }
}

/** A process runs from the compiled output, also when its parent runs from source, as it does under a test runner. */
function compiledGuard(): string {
  const fromSource = import.meta.url.endsWith('.ts');
  const path = fileURLToPath(
    new URL(fromSource ? '../../dist/src/embedded/guard.js' : './guard.js', import.meta.url),
  );
  if (!existsSync(path)) throw new Error(`${path} is missing: run npm run build first`);
  return path;
}

function alreadyRunning(folder: DataFolder, owner: Owner): AlreadyRunningError {
  const pid = owner.parent.pid;
  return new AlreadyRunningError(
    `The local system is already up on ${folder.path} (process ${pid}). ` +
      `Use that one, or stop it first (Ctrl-C in its terminal, or: kill ${pid})`,
  );
}
