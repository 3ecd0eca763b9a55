import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { freePort } from '../../src/embedded/free-port.ts';
import { eventually } from './processes.ts';

const root = new URL('../..', import.meta.url).pathname;

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart?: string;
  readonly stop_grace_period?: string;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
}

export const readCompose = (): ComposeFile =>
  parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as ComposeFile;

/** Ports that a program takes where nothing is said. */
const DEFAULT_PORTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  api: { PORT: '3000' },
  dashboard: { DASHBOARD_PORT: '3001' },
};

const PORT_VARIABLES = ['PORT', 'DASHBOARD_PORT', 'METRICS_PORT', 'SANDBOX_PORT'];

/** The services that are ours, as processes of this machine: same commands, same environment, host names on loopback. */
export class ComposedSystem {
  private readonly file = readCompose();
  private readonly ports = new Map<string, Promise<number>>();
  private readonly children = new Map<string, { child: ChildProcess; output: () => string }>();
  private readonly started = new Map<string, Promise<void>>();
  private readonly options: {
    readonly folder: string;
    /** Services that are no programs of ours, by name: where they answer instead, `127.0.0.1:1234`. */
    readonly elsewhere: Readonly<Record<string, string>>;
    readonly variables: Readonly<Record<string, string>>;
  };

  constructor(options: ComposedSystem['options']) {
    this.options = options;
  }

  names(): string[] {
    return Object.keys(this.file.services).filter((name) => this.service(name).build !== undefined);
  }

  /** Starts it after what it depends on, and waits until it is healthy; one without a health check until it has ended well. */
  start(name: string): Promise<void> {
    if (name in this.options.elsewhere) return Promise.resolve();
    const begun = this.started.get(name) ?? this.begin(name);
    this.started.set(name, begun);
    return begun;
  }

  port(name: string, port: string): Promise<number> {
    const key = `${name}:${port}`;
    const taken = this.ports.get(key) ?? freePort();
    this.ports.set(key, taken);
    return taken;
  }

  async environment(name: string): Promise<Record<string, string>> {
    const wanted = { ...DEFAULT_PORTS[name], ...this.service(name).environment };
    const entries = Object.entries(wanted).map(async ([variable, value]) => [
      variable,
      PORT_VARIABLES.includes(variable)
        ? String(await this.port(name, value))
        : await this.onLoopback(name, value),
    ]);
    return Object.fromEntries(await Promise.all(entries)) as Record<string, string>;
  }

  /** Tells it to end, as `docker compose stop` does; its exit code. */
  async end(name: string): Promise<number | null> {
    const { child } = this.children.get(name) ?? {};
    if (child === undefined) throw new Error(`${name} was not started`);
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const [code] = (await gone) as [number | null];
    return code;
  }

  async stop(): Promise<void> {
    const running = [...this.children.values()].filter(({ child }) => child.exitCode === null);
    await Promise.all(
      running.map(async ({ child }) => {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }),
    );
  }

  private async begin(name: string): Promise<void> {
    const { depends_on: needed = {}, healthcheck } = this.service(name);
    await Promise.all(Object.keys(needed).map((other) => this.start(other)));
    const child = await this.run(name, this.service(name).command ?? []);
    if (healthcheck === undefined) {
      const [code] = (await once(child, 'exit')) as [number];
      if (code !== 0) throw new Error(`${name} ended with ${code}:\n${this.output(name)}`);
      return;
    }
    await eventually(`${name} is healthy`, () => this.isHealthy(name, healthcheck.test));
  }

  private async isHealthy(name: string, [kind, ...command]: readonly string[]): Promise<boolean> {
    if (kind !== 'CMD') throw new Error(`${name}: only CMD checks can be run here`);
    const { child } = this.children.get(name) ?? {};
    if (child?.exitCode !== null) throw new Error(`${name} ended:\n${this.output(name)}`);
    const [program = '', ...args] = await Promise.all(command.map((part) => this.onLoopback(name, part)));
    const check = spawn(program, args, { stdio: 'ignore' });
    const [code] = (await once(check, 'exit')) as [number];
    return code === 0;
  }

  private async run(name: string, command: readonly string[]): Promise<ChildProcess> {
    const [program = '', ...args] = await Promise.all(command.map((part) => this.onLoopback(name, part)));
    const env = { PATH: process.env['PATH'], ...(await this.environment(name)) };
    const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text: Buffer) => (output = (output + text.toString()).slice(-20_000)));
    }
    this.children.set(name, { child, output: () => output });
    return child;
  }

  /** Names of services, ports inside of containers, volumes and variables, as they are on this machine. */
  private async onLoopback(name: string, text: string): Promise<string> {
    const variables = text.replaceAll(
      /\$\{(\w+):([?-])[^}]*\}/g,
      (_, variable: string, otherwise: string) => {
        const value = this.options.variables[variable];
        if (value === undefined && otherwise === '?') throw new Error(`docker-compose.yml wants ${variable}`);
        return value ?? '';
      },
    );
    let mapped = variables.replaceAll('/data/', `${this.options.folder}/`);
    for (const [found, host = '', port = ''] of variables.matchAll(/\b([a-z]+):(\d{4})\b/g)) {
      const service = host === 'localhost' ? name : host;
      if (!(service in this.file.services)) continue;
      const there = this.options.elsewhere[service] ?? `127.0.0.1:${await this.port(service, port)}`;
      mapped = mapped.replaceAll(found, there);
    }
    // Kinesis is told its port, and asked for it, without a host.
    if (name === 'kinesis') mapped = mapped.replaceAll('4567', String(await this.port(name, '4567')));
    return mapped;
  }

  private output(name: string): string {
    return this.children.get(name)?.output() ?? '';
  }

  private service(name: string): Service {
    const found = this.file.services[name];
    if (found === undefined) throw new Error(`no service ${name} in docker-compose.yml`);
    return found;
  }
}
