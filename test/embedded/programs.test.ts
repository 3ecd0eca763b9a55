import { describe, expect, it } from 'vitest';
import { MissingProgramError } from '../../src/errors.ts';
import type { Machine } from '../../src/embedded/machine.ts';
import { ensurePrograms, isDebianLike, javaMajor } from '../../src/embedded/programs.ts';

const debian = 'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n';
const fedora = 'NAME="Fedora Linux"\nID=fedora\n';
const java = (version: string): string => `openjdk version "${version}" 2025-04-15\n`;

interface Pretence {
  readonly programs?: readonly string[];
  readonly java?: string | undefined;
  readonly isRoot?: boolean;
  readonly osRelease?: string;
  readonly platform?: NodeJS.Platform;
  readonly nodeVersion?: string;
  /** Packages apt has. An install of another one fails. */
  readonly apt?: readonly string[];
}

/** What each package brings. */
const contents: Record<string, { program?: string; java?: string }> = {
  'redis-server': { program: 'redis-server' },
  'valkey-server': { program: 'valkey-server' },
  'openjdk-17-jre-headless': { java: java('17.0.15') },
  'default-jre-headless': { java: java('21.0.2') },
};

function pretend(pretence: Pretence): { machine: Machine; said: string[]; ran: string[] } {
  const programs = new Set([...(pretence.programs ?? []), 'apt-get']);
  let installedJava = pretence.java;
  const [said, ran]: [string[], string[]] = [[], []];
  const install = (name: string): void => {
    if (pretence.apt?.includes(name) !== true) throw new Error(`E: Unable to locate package ${name}`);
    const { program, java: brought } = contents[name]!;
    if (program !== undefined) programs.add(program);
    if (brought !== undefined) installedJava = brought;
  };
  const machine: Machine = {
    platform: pretence.platform ?? 'linux',
    nodeVersion: pretence.nodeVersion ?? 'v20.20.2',
    isRoot: pretence.isRoot ?? true,
    osRelease: pretence.osRelease ?? debian,
    which: (program) => (programs.has(program) ? [`/bin/${program}`] : []),
    javas: () => (installedJava === undefined ? [] : ['/bin/java']),
    javaVersion: () => installedJava ?? '',
    run: async (command, args) => {
      ran.push(`${command} ${args.filter((arg) => !arg.startsWith('-') && !arg.includes('::')).join(' ')}`);
      if (args.includes('install')) install(args.at(-1)!);
    },
    say: (line) => said.push(line),
  };
  return { machine, said, ran };
}

async function refusal(pretence: Pretence): Promise<MissingProgramError> {
  const { machine } = pretend(pretence);
  const error: unknown = await ensurePrograms(machine).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(MissingProgramError);
  expect((error as Error).message).not.toContain('\n');
  return error as MissingProgramError;
}

describe('when everything is there', () => {
  it.each(['redis-server', 'valkey-server'])('takes %s and installs nothing', async (program) => {
    const { machine, said, ran } = pretend({ programs: [program], java: java('17.0.15') });

    expect(await ensurePrograms(machine)).toEqual({ redisServer: `/bin/${program}`, java: '/bin/java' });
    expect([...said, ...ran]).toEqual([]);
  });

  it('prefers redis-server where both are', async () => {
    const { machine } = pretend({ programs: ['valkey-server', 'redis-server'], java: java('21') });

    expect(await ensurePrograms(machine)).toMatchObject({ redisServer: '/bin/redis-server' });
  });
});

describe('when something is missing and root may install it', () => {
  const everyPackage = Object.keys(contents);

  it.each([
    {
      name: 'Redis',
      pretence: { java: java('17.0.15'), apt: everyPackage },
      ran: ['apt-get update', 'apt-get install redis-server'],
      found: { redisServer: '/bin/redis-server' },
    },
    {
      name: 'Redis where only Valkey is offered',
      pretence: { java: java('17.0.15'), apt: ['valkey-server'] },
      ran: ['apt-get update', 'apt-get install redis-server', 'apt-get install valkey-server'],
      found: { redisServer: '/bin/valkey-server' },
    },
    {
      name: 'Java where it is too old',
      pretence: { programs: ['redis-server'], java: java('11.0.20'), apt: everyPackage },
      ran: ['apt-get update', 'apt-get install openjdk-17-jre-headless'],
      found: { java: '/bin/java' },
    },
    {
      name: 'Java where 17 is not offered',
      pretence: { programs: ['redis-server'], apt: ['default-jre-headless'] },
      ran: [
        'apt-get update',
        'apt-get install openjdk-17-jre-headless',
        'apt-get install default-jre-headless',
      ],
      found: { java: '/bin/java' },
    },
    {
      name: 'both on Ubuntu',
      pretence: { osRelease: 'ID=ubuntu\nID_LIKE=debian\n', apt: everyPackage },
      ran: ['apt-get update', 'apt-get install redis-server', 'apt-get install openjdk-17-jre-headless'],
      found: { redisServer: '/bin/redis-server', java: '/bin/java' },
    },
  ])('installs $name and says so in one line', async ({ pretence, ran, found }) => {
    const pretended = pretend(pretence);

    expect(await ensurePrograms(pretended.machine)).toMatchObject(found);
    expect(pretended.ran).toEqual(ran);
    expect(pretended.said).toHaveLength(1);
  });
});

describe('when something is missing and stays so', () => {
  it.each([
    {
      name: 'not root',
      pretence: { isRoot: false },
      says: 'Missing: redis-server or valkey-server and Java 17 or later. Install it with: sudo apt-get install redis-server openjdk-17-jre-headless',
    },
    {
      name: 'not Debian',
      pretence: { osRelease: fedora, java: java('21') },
      says: 'Missing: redis-server or valkey-server. Install it with: the package manager of this machine',
    },
    {
      name: 'old Java on a Mac',
      pretence: {
        platform: 'darwin',
        osRelease: '',
        programs: ['redis-server'],
        java: 'java version "1.8.0_392"',
      },
      says: 'Missing: Java 17 or later (/bin/java is Java 8). Install it with: brew install openjdk@17',
    },
    {
      name: 'apt fails',
      pretence: { java: java('17'), apt: [] },
      says: 'apt could not install it. Missing: redis-server or valkey-server. Install it with: sudo apt-get install redis-server',
    },
    {
      name: 'old Node',
      pretence: { nodeVersion: 'v18.20.0' },
      says: 'Needs Node 20 or later, but this is v18.20.0: install it from https://nodejs.org',
    },
  ] as const)('stops with one line: $name', async ({ pretence, says }) => {
    expect((await refusal(pretence)).message).toBe(says);
  });

  it('keeps what apt said as the cause', async () => {
    const { cause } = await refusal({ java: java('17'), apt: [] });

    expect((cause as AggregateError).errors.join('\n')).toContain('Unable to locate package redis-server');
  });
});

describe('javaMajor', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15', 17],
    ['openjdk version "21" 2023-09-19', 21],
    ['openjdk version "25-ea" 2025-09-16', 25],
    ['java version "1.8.0_392"', 8],
    ['The operation couldn’t be completed. Unable to locate a Java Runtime.', 0],
    ['', 0],
  ])('reads %j as %i', (output, major) => {
    expect(javaMajor(output)).toBe(major);
  });
});

describe('isDebianLike', () => {
  it.each([
    [debian, true],
    ['ID=ubuntu\n', true],
    ['ID=linuxmint\nID_LIKE="ubuntu debian"\n', true],
    [fedora, false],
    ['ID=alpine\nHOME_URL="https://not-debian.example"\n', false],
    ['', false],
  ])('%j: %s', (osRelease, expected) => {
    expect(isDebianLike(osRelease)).toBe(expected);
  });
});
