import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../config/read-config.ts';
import { onlySet } from '../config/read-config.ts';
import { readRunningStack } from '../embedded/stack-file.ts';

/** Where `npm start` keeps everything. */
export const dataDir = (environment: Environment): string => onlySet(environment)['DATA_DIR'] ?? '.data';

const file = (folder: string): string => join(folder, 'environment.json');
const variables = z.record(z.string(), z.string());

/** Tokens are among them. */
const FOR_ME_ONLY = 0o600;

/** The variables that would make a process part of the local system. */
export function writeLocalEnvironment(folder: string, environment: Readonly<Record<string, string>>): void {
  const draft = `${file(folder)}.draft`;
  // One that a crash has left keeps its mode when it is written again.
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(environment, null, 2)}\n`, { mode: FOR_ME_ONLY });
  renameSync(draft, file(folder));
}

export function removeLocalEnvironment(folder: string): void {
  rmSync(file(folder), { force: true });
}

/** Any of these says that the caller means another system than the local one. */
const POINTS_ELSEWHERE = [
  'REDIS_URL',
  'AWS_ENDPOINT_URL_DYNAMODB',
  'AWS_ENDPOINT_URL_KINESIS',
  'USER_SERVICE_URL',
  'PAYMENTS_SERVICE_URL',
];

/**
 * What a command works on: what the environment says, or, when it says nothing and `npm start` is up in this folder,
 * that system. So a second terminal needs no configuration.
 */
export function withLocalSystem(environment: Environment): { environment: Environment; local: boolean } {
  if (POINTS_ELSEWHERE.some((name) => (environment[name] ?? '') !== '')) return { environment, local: false };
  const folder = dataDir(environment);
  const running = readRunningStack(folder);
  const written = running === null ? null : readLocalEnvironment(folder);
  // A file that an older start left behind names other ports.
  if (written?.['AWS_ENDPOINT_URL_DYNAMODB'] !== running?.dynamodbUrl || written === null)
    return { environment, local: false };
  return { environment: { ...environment, ...written }, local: true };
}

function readLocalEnvironment(folder: string): Record<string, string> | null {
  try {
    return variables.parse(JSON.parse(readFileSync(file(folder), 'utf8')));
  } catch {
    return null;
  }
}
