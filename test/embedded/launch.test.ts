import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dataFolder } from '../../src/embedded/data-folder.ts';
import { launch, type RunningServer, type Spawned } from '../../src/embedded/launch.ts';
import type { Server } from '../../src/embedded/server.ts';
import { temporaryFolder } from '../support/stack.ts';
import { lives } from './processes.ts';

const stranger = createServer();
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let takenPort: number;
let running: RunningServer | undefined;

beforeEach(async () => {
  folder = await temporaryFolder();
  await mkdir(dataFolder(folder.path).logs);
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  takenPort = (stranger.address() as AddressInfo).port;
});

afterEach(async () => {
  if (running !== undefined) process.kill(running.record.pid, 'SIGKILL');
  await running?.ended;
  running = undefined;
  await new Promise((resolve) => stranger.close(resolve));
  await folder.remove();
});

/** A small server, of which every port answers: also those that others hold. */
function server(command: (port: number) => string): Server {
  return {
    name: 'redis',
    command: (port) => ({ file: process.execPath, args: ['-e', command(port)] }),
    answers: () => Promise.resolve(true),
  };
}

const listenOn = (port: number): string => `require('node:net').createServer().listen(${port}, '127.0.0.1')`;

describe('when another process took the port first', () => {
  it('does not take its answer for ours, and tries another port', async () => {
    const spawned: Spawned[] = [];
    const firstClashes = server((port) => listenOn(spawned.length === 0 ? takenPort : port));

    running = await launch(firstClashes, dataFolder(folder.path), (each) => spawned.push(each));

    expect(spawned).toHaveLength(2);
    expect(running.port).not.toBe(takenPort);
    expect(spawned.map(({ record }) => lives(record.pid))).toEqual([false, true]);
  });
});

describe('when the program fails for another reason', () => {
  it('gives up with the end of its log', async () => {
    const broken = server(() => `process.stderr.write('no such option'); process.exit(3)`);

    await expect(launch(broken, dataFolder(folder.path), () => undefined)).rejects.toThrow(
      'redis did not start (exit code 3):\nno such option',
    );
  });
});

describe('when the process cannot be put on record', () => {
  it('never begins', async () => {
    const marker = `${folder.path}/begun`;
    const program = server(() => `require('node:fs').writeFileSync(${JSON.stringify(marker)}, '')`);
    let held: Spawned | undefined;

    const launched = launch(program, dataFolder(folder.path), (spawned) => {
      held = spawned;
      throw new Error('the disk is full');
    });

    await expect(launched).rejects.toThrow('the disk is full');
    expect(await held!.ended).toBe('exit code 1');
    expect(existsSync(marker)).toBe(false);
  });
});
