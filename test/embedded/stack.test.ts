import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AlreadyRunningError } from '../../src/errors.ts';
import { ensurePrograms } from '../../src/embedded/programs.ts';
import { readRunningStack } from '../../src/embedded/stack-file.ts';
import { startStack, type Stack } from '../../src/embedded/stack.ts';
import { temporaryFolder } from '../support/stack.ts';
import { allOf, commandLinesWith, expectAllGone, lives, stackPids, stateOf } from './processes.ts';
import { everywhere, kinesis, readEverywhere, writeEverywhere } from './stores.ts';

async function inTemporaryFolder(test: (dataDir: string) => Promise<void>): Promise<void> {
  const folder = await temporaryFolder();
  await test(folder.path).finally(folder.remove);
}

describe('when it is stopped and started again', () => {
  it('finds what all three stores held', () =>
    inTemporaryFolder(async (dataDir) => {
      const first = await startStack({ dataDir });
      await writeEverywhere(first, 'written').finally(first.stop);

      const second = await startStack({ dataDir });
      const found = await readEverywhere(second).finally(second.stop);

      expect(found).toEqual(everywhere('written'));
    }));
});

describe('when its guard dies', () => {
  it('ends the servers and says so', () =>
    inTemporaryFolder(async (dataDir) => {
      const stack = await startStack({ dataDir, inMemory: true });
      const pids = stackPids(dataDir);

      process.kill(pids.guard, 'SIGKILL');

      expect(await stack.died).toMatchObject({ program: 'guard', cause: 'SIGKILL' });
      await expectAllGone(pids);
      await stack.stop();
    }));
});

describe('when a server cannot start', () => {
  it('says which one and leaves nothing behind', () =>
    inTemporaryFolder(async (dataDir) => {
      const programs = { ...(await ensurePrograms()), redisServer: '/bin/false' };

      await expect(startStack({ dataDir, programs })).rejects.toThrow(/redis did not start \(exit code 1\)/);

      expect(commandLinesWith(dataDir)).toEqual([]);
      expect(readRunningStack(dataDir)).toBeNull();
    }));
});

describe('when several start at once on a folder whose files name a stranger', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let stranger: ChildProcess;
  let stack: Stack;
  let refusals: Error[];

  beforeAll(async () => {
    folder = await temporaryFolder();
    stranger = spawn('sleep', ['600'], { stdio: 'ignore' });
    await leaveBehind(folder.path, stranger.pid!);

    const starts = Array.from({ length: 3 }, () => startStack({ dataDir: folder.path, inMemory: true }));
    const outcomes = await Promise.allSettled(starts);

    const stacks = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    refusals = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as Error] : [],
    );
    expect(stacks).toHaveLength(1);
    stack = stacks[0]!;
  });

  afterAll(async () => {
    await stack.stop();
    stranger.kill();
    await folder.remove();
  });

  it('lets one win and tells the others who has it and what to do', () => {
    expect(refusals).toHaveLength(2);
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(AlreadyRunningError);
      expect(refusal.message).toContain(folder.path);
      expect(refusal.message).toContain(`kill ${process.pid}`);
    }
  });

  it('leaves the stranger in peace who has the number of a process that was ours', () => {
    expect(lives(stranger.pid!)).toBe(true);
  });

  it('can be found by a command in another terminal', () => {
    const { redisUrl, dynamodbUrl, kinesisUrl } = stack;
    expect(readRunningStack(folder.path)).toEqual({ redisUrl, dynamodbUrl, kinesisUrl });
  });

  it('keeps Kinesis up when a client hangs up in the middle of a request', async () => {
    await hangUpMidway(stack.kinesisUrl);

    const log = (): string => readFileSync(join(folder.path, 'logs', 'kinesis.log'), 'utf8');
    await expect.poll(log).toContain('aborted');
    expect(await kinesis(stack, 'ListStreams', {})).toMatchObject({ StreamNames: [] });
  });

  it('has a server crash on request, which comes back at its address with its data', async () => {
    const before = stackPids(folder.path);
    const redis = new Redis(stack.redisUrl, { maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
    await redis.set('text', 'written');

    await stack.crash('redis', 100);

    expect(lives(before.redis)).toBe(false);
    expect(await redis.get('text')).toBe('written');
    redis.disconnect();
    const { redisUrl, dynamodbUrl, kinesisUrl } = stack;
    expect(readRunningStack(folder.path)).toEqual({ redisUrl, dynamodbUrl, kinesisUrl });
  });

  it('has a server stand still on request, and whoever asks it waits', async () => {
    const { kinesis: pid } = stackPids(folder.path);
    const paused = stack.pause('kinesis', 5_000);
    await expect.poll(() => stateOf(pid)).toMatch(/^T/);

    await kinesis(stack, 'ListStreams', {});
    expect(stateOf(pid)).not.toMatch(/^T/);
    await paused;
  });

  it('says which server died, how, and what it logged last', async () => {
    process.kill(stackPids(folder.path).redis, 'SIGKILL');

    const death = await stack.died;
    expect(death).toMatchObject({ program: 'redis', cause: 'SIGKILL' });
    expect(death.lastLogLines.join('\n')).toContain('Ready to accept connections');
  });

  it('leaves no process once stopped, which may be asked again', async () => {
    const pids = stackPids(folder.path);

    await Promise.all([stack.stop(), stack.stop()]);
    await stack.stop();

    expect(allOf(pids).filter(lives)).toEqual([]);
    expect(commandLinesWith(folder.path)).toEqual([]);
    expect(readRunningStack(folder.path)).toBeNull();
  });
});

/** The files of a stack that was killed, and whose process numbers all belong to somebody else by now. */
async function leaveBehind(dataDir: string, pid: number): Promise<void> {
  const formerly = { name: 'formerly ours', pid, birth: 'another boot, another time' };
  const owner = { guard: formerly, parent: formerly };
  const endpoints = { redisUrl: 'redis://gone', dynamodbUrl: 'http://gone', kinesisUrl: 'http://gone' };
  await mkdir(join(dataDir, 'owners'));
  await writeFile(join(dataDir, 'owners', '1.json'), JSON.stringify(owner));
  await writeFile(join(dataDir, 'stack.json'), JSON.stringify({ ...owner, servers: [formerly], endpoints }));
  expect(readRunningStack(dataDir)).toBeNull();
}

function hangUpMidway(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n';
    socket.once('error', reject).once('close', () => resolve());
    socket.once('connect', () => socket.write(`${head}{"half":`, () => socket.destroy()));
  });
}
