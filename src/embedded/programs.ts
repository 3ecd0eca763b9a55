import { MissingProgramError } from '../errors.ts';
import { aptPackages, installWithApt } from './apt.ts';
import { thisMachine, type Machine } from './machine.ts';

/** Where the programs are that the embedded servers need. */
export interface Programs {
  readonly redisServer: string;
  readonly java: string;
}

type Need = 'redis' | 'java';

const oldestNode = 20;
const oldestJava = 17;

const needs: Record<Need, string> = {
  redis: 'redis-server or valkey-server',
  java: `Java ${oldestJava} or later`,
};

/**
 * Finds the programs, and installs what is missing where that is safe to do unasked: as root on Debian or Ubuntu. Elsewhere
 * it stops with one line that says what to install.
 */
export async function ensurePrograms(machine: Machine = thisMachine): Promise<Programs> {
  requireNode(machine);
  const missing = missingOn(machine);
  if (missing.length > 0) {
    if (!mayInstall(machine)) throw new MissingProgramError(whatToInstall(machine, missing));
    await install(machine, missing);
  }
  return findAll(machine);
}

function requireNode(machine: Machine): void {
  if (majorOf(machine.nodeVersion) >= oldestNode) return;
  throw new MissingProgramError(
    `Needs Node ${oldestNode} or later, but this is ${machine.nodeVersion}: install it from https://nodejs.org`,
  );
}

function findRedis(machine: Machine): string | undefined {
  return ['redis-server', 'valkey-server'].flatMap((name) => machine.which(name))[0];
}

function findJava(machine: Machine): string | undefined {
  return machine.javas().find((path) => javaMajor(machine.javaVersion(path)) >= oldestJava);
}

function missingOn(machine: Machine): Need[] {
  const missing: Need[] = [];
  if (findRedis(machine) === undefined) missing.push('redis');
  if (findJava(machine) === undefined) missing.push('java');
  return missing;
}

function findAll(machine: Machine): Programs {
  const [redisServer, java] = [findRedis(machine), findJava(machine)];
  if (redisServer !== undefined && java !== undefined) return { redisServer, java };
  throw new MissingProgramError(whatToInstall(machine, missingOn(machine)));
}

async function install(machine: Machine, missing: readonly Need[]): Promise<void> {
  machine.say(`Installing with apt: ${missing.map((need) => needs[need]).join(', ')}`);
  try {
    await installWithApt(machine, missing);
  } catch (error) {
    throw new MissingProgramError(`apt could not install it. ${whatToInstall(machine, missing)}`, {
      cause: error,
    });
  }
}

function mayInstall(machine: Machine): boolean {
  return machine.isRoot && isDebianLike(machine.osRelease) && machine.which('apt-get').length > 0;
}

/** `ID=debian`, `ID=ubuntu`, or a derivative that says so in `ID_LIKE="ubuntu debian"`. */
export function isDebianLike(osRelease: string): boolean {
  return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(osRelease);
}

/** `openjdk version "17.0.15" …` → 17, `java version "1.8.0_392"` → 8; 0 when it cannot be told. */
export function javaMajor(versionOutput: string): number {
  const [, first, second] = /version "(\d+)(?:\.(\d+))?/.exec(versionOutput) ?? [];
  return first === '1' ? Number(second ?? 0) : Number(first ?? 0);
}

function majorOf(version: string): number {
  return Number.parseInt(version.replace(/^v/, ''), 10);
}

function whatToInstall(machine: Machine, missing: readonly Need[]): string {
  const names = missing.map((need) => needs[need]).join(' and ');
  return `Missing: ${names}${oldJavaNote(machine, missing)}. Install it with: ${howToInstall(machine, missing)}`;
}

function oldJavaNote(machine: Machine, missing: readonly Need[]): string {
  const [path] = missing.includes('java') ? machine.javas() : [];
  return path === undefined
    ? ''
    : ` (${path} is Java ${javaMajor(machine.javaVersion(path)) || 'of unknown version'})`;
}

function howToInstall(machine: Machine, missing: readonly Need[]): string {
  if (machine.platform === 'darwin') {
    return `brew install ${missing.map((need) => (need === 'redis' ? 'redis' : 'openjdk@17')).join(' ')}`;
  }
  if (isDebianLike(machine.osRelease)) {
    return `sudo apt-get install ${missing.map((need) => aptPackages[need][0]).join(' ')}`;
  }
  return 'the package manager of this machine';
}
