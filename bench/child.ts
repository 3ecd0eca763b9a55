import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Usage } from './attend.ts';

const ATTEND = fileURLToPath(new URL('./attend.js', import.meta.url));
/** Its number in attend.ts, which must not be loaded here. */
const GATE = 4;
const STOP_MS = 10_000;

export interface ChildOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Resolves the start: a text that the process writes, or any message from it. */
  readonly upWhen: { readonly says: string } | 'message';
  readonly execArgv?: readonly string[];
}

/** A process of the bench. Never outlives it: see attend.ts. */
export class Child {
  private readonly process: ChildProcess;
  private readonly ended: Promise<unknown>;
  private output = '';

  private constructor(entry: string, { env, execArgv = [] }: ChildOptions) {
    this.process = fork(entry, {
      env: { PATH: process.env['PATH'], ...env },
      execArgv: ['--import', ATTEND, ...execArgv],
      // The last one is the gate of attend.ts.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
      serialization: 'advanced',
      // Ctrl-C reaches the whole foreground group; these wait for us instead, so that nothing is cut short.
      detached: true,
    });
    this.ended = once(this.process, 'exit');
    // A request to a process that has ended is told by `orEnded`.
    this.gate.on('error', () => undefined);
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output = (this.output + text).slice(-20_000);
      });
    }
  }

  /** `entry` is a compiled file, relative to the compiled bench. */
  static async start(entry: string, options: ChildOptions): Promise<{ child: Child; said: unknown }> {
    const child = new Child(fileURLToPath(new URL(entry, import.meta.url)), options);
    const said = await child.orEnded(options.upWhen === 'message' ? child.message() : child.says(options));
    return { child, said };
  }

  /** Sends a message and waits for the next one. */
  async ask<T>(question: object): Promise<T> {
    const answer = this.message();
    this.process.send(question);
    return (await this.orEnded(answer)) as T;
  }

  usage(): Promise<Usage> {
    return this.ask<Usage>({ attend: 'usage' });
  }

  /** Nothing of the process goes on until it is let go. What the servers do for it does: its leases run. */
  async hold(): Promise<void> {
    await this.ask({ attend: 'hold' });
  }

  letGo(): void {
    this.gate.write('.');
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.gate.end();
    this.process.kill('SIGTERM');
    const limit = setTimeout(() => this.process.kill('SIGKILL'), STOP_MS);
    await this.ended;
    clearTimeout(limit);
  }

  private get gate(): Writable {
    return this.process.stdio[GATE] as Writable;
  }

  private async message(): Promise<unknown> {
    const [message] = (await once(this.process, 'message')) as [unknown];
    return message;
  }

  private says({ upWhen }: ChildOptions): Promise<void> {
    const text = upWhen === 'message' ? '' : upWhen.says;
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.output.includes(text)) resolve();
      };
      this.process.stdout?.on('data', look);
    });
  }

  private async orEnded<T>(wanted: Promise<T>): Promise<T> {
    const ended = this.ended.then(() => {
      throw new Error(`a process of the bench ended by itself: ${this.output.slice(-2_000)}`);
    });
    return Promise.race([wanted, ended]);
  }
}
