import type { ChildProcess } from 'node:child_process';
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { WriteStream } from 'node:fs';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Role } from './plan.ts';
import { CREW, nameOf } from './plan.ts';

type Environment = Readonly<Record<string, string>>;

const ENTRIES: Record<Role, string> = {
  workers: '../workers/main.js',
  bridges: '../workers/bridges/main.js',
  scheduler: '../workers/scheduler-main.js',
  api: '../src/api/main.js',
};

const END_WITH_US = new URL('./end-with-us.js', import.meta.url).href;
/** As an orchestrator takes a moment. */
const RESTART_MS = 300;

/** One process of a role, started again whenever it ends. */
class Post {
  readonly name: string;
  private readonly entry: string;
  private readonly environment: Environment;
  private readonly log: WriteStream;
  private readonly onOwnEnd: (name: string, how: string) => void;
  private child: ChildProcess | null = null;
  private waker: ChildProcess | null = null;
  private isUp = false;
  private wasKilled = false;
  private closing = false;

  constructor(
    place: { readonly role: Role; readonly number: number; readonly logs: string },
    environment: Environment,
    onOwnEnd: (name: string, how: string) => void,
  ) {
    this.name = nameOf(place.role, place.number);
    this.entry = fileURLToPath(new URL(ENTRIES[place.role], import.meta.url));
    this.environment = environment;
    this.log = createWriteStream(join(place.logs, `${place.role}-${place.number}.log`), { flags: 'a' });
    this.onOwnEnd = onOwnEnd;
    this.begin();
  }

  /** Settled in its work: it has said that it is up, and the storm has not put it to sleep. */
  get isAtWork(): boolean {
    return this.isUp && this.waker === null;
  }

  kill(): void {
    this.wasKilled = true;
    this.isUp = false;
    this.child?.kill('SIGKILL');
  }

  /** Stands still for a while. Another process wakes it: also when this one is gone by then. */
  async stop(forMs: number): Promise<void> {
    const { child } = this;
    if (child?.pid === undefined) return;
    child.kill('SIGSTOP');
    const order = 'sleep "$1"; kill -CONT "$0"';
    const waker = spawn('/bin/sh', ['-c', order, String(child.pid), String(forMs / 1_000)], {
      detached: true,
      stdio: 'ignore',
    });
    this.waker = waker;
    await once(waker, 'exit');
    this.waker = null;
  }

  async close(): Promise<void> {
    this.closing = true;
    if (this.waker?.pid !== undefined) process.kill(-this.waker.pid, 'SIGKILL');
    if (this.child !== null) {
      const ended = once(this.child, 'exit');
      this.kill();
      await ended;
    }
    this.log.end();
  }

  private begin(): void {
    if (this.closing) return;
    const child = fork(this.entry, {
      env: { PATH: process.env['PATH'], ...this.environment },
      execArgv: ['--import', END_WITH_US],
      silent: true,
      // Ctrl-C reaches the whole foreground group; these wait for us instead.
      detached: true,
    });
    this.child = child;
    this.wasKilled = false;
    for (const output of [child.stdout, child.stderr]) {
      if (output !== null) createInterface({ input: output }).on('line', (line) => this.note(child, line));
    }
    child.once('exit', (code, signal) => void this.goOn(signal ?? `exit code ${code}`));
  }

  /** The last words of one that has ended may come after it. */
  private note(child: ChildProcess, line: string): void {
    this.log.write(`${line}\n`);
    if (child === this.child && / (is|are) up"/.test(line)) this.isUp = true;
  }

  private async goOn(how: string): Promise<void> {
    this.isUp = false;
    this.child = null;
    if (this.closing) return;
    if (!this.wasKilled) this.onOwnEnd(this.name, how);
    await sleep(RESTART_MS);
    this.begin();
  }
}

/** Every role as its own processes, from the compiled output, under a supervisor. */
export class Crew {
  private readonly posts = new Map<string, Post>();
  private tellOfOwnEnd: (name: string, how: string) => void = () => undefined;

  /** `apiPorts`: where each API answers, also after it was started again. */
  constructor(
    environment: Environment,
    { logs, apiPorts }: { readonly logs: string; readonly apiPorts: readonly number[] },
  ) {
    for (const role of Object.keys(CREW) as Role[]) {
      for (let number = 1; number <= CREW[role]; number += 1) {
        const own = role === 'api' ? { PORT: String(apiPorts[number - 1]) } : {};
        const post = new Post({ role, number, logs }, { ...environment, ...own }, (name, how) =>
          this.tellOfOwnEnd(name, how),
        );
        this.posts.set(post.name, post);
      }
    }
  }

  /** A process that ends without being killed is told of, and started again like the others. */
  onOwnEnd(tell: (name: string, how: string) => void): void {
    this.tellOfOwnEnd = tell;
  }

  isAtWork(role: Role, place: number): boolean {
    return this.post(role, place).isAtWork;
  }

  kill(role: Role, place: number): void {
    this.post(role, place).kill();
  }

  /** Settles when it is awake again. */
  stop(role: Role, place: number, forMs: number): Promise<void> {
    return this.post(role, place).stop(forMs);
  }

  /** Processes that are asleep, ended or not yet up. */
  missing(): string[] {
    return [...this.posts.values()].filter(({ isAtWork }) => !isAtWork).map(({ name }) => name);
  }

  async close(): Promise<void> {
    await Promise.all([...this.posts.values()].map((post) => post.close()));
  }

  private post(role: Role, place: number): Post {
    const found = this.posts.get(nameOf(role, place));
    if (found === undefined) throw new Error(`there is no ${nameOf(role, place)}`);
    return found;
  }
}
