import { execFile, spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** What is asked of the machine when programs are looked for and installed. Tests bring machines of their own. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly nodeVersion: string;
  readonly isRoot: boolean;
  /** The text of /etc/os-release; empty where there is none. */
  readonly osRelease: string;
  /** Where on the search path a program of this name is. */
  readonly which: (program: string) => string[];
  /** Every Java in the usual places, the one its user would get first. */
  readonly javas: () => string[];
  /** What `java -version` says. */
  readonly javaVersion: (java: string) => string;
  /** Rejects when the command fails. */
  readonly run: (
    command: string,
    args: readonly string[],
    environment: Record<string, string>,
  ) => Promise<void>;
  readonly say: (line: string) => void;
}

export const thisMachine: Machine = {
  platform: process.platform,
  nodeVersion: process.version,
  isRoot: process.getuid?.() === 0,
  get osRelease() {
    return readOsRelease();
  },
  which,
  javas: () => [...javaHome(), ...which('java'), ...installedJavas()],
  javaVersion: (java) => spawnSync(java, ['-version'], { encoding: 'utf8' }).stderr,
  run: async (command, args, environment) => {
    await promisify(execFile)(command, args, { env: { ...process.env, ...environment } });
  },
  say: (line) => void process.stderr.write(`${line}\n`),
};

function which(program: string): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).filter(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function javaHome(): string[] {
  const home = process.env['JAVA_HOME'];
  return home === undefined ? [] : [join(home, 'bin', 'java')].filter(isExecutable);
}

/** Where Debian keeps them all, whichever one `java` points to. */
function installedJavas(): string[] {
  try {
    return readdirSync('/usr/lib/jvm')
      .map((name) => join('/usr/lib/jvm', name, 'bin', 'java'))
      .filter(isExecutable);
  } catch {
    return [];
  }
}

function readOsRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}
