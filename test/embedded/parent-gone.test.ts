import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Endpoints } from '../../src/embedded/stack-file.ts';
import { temporaryFolder } from '../support/stack.ts';
import {
  allOf,
  commandLinesWith,
  expectAllGone,
  lives,
  processGroup,
  runFixture,
  serversOf,
  stackPids,
  type Fixture,
} from './processes.ts';
import { everywhere, readEverywhere, writeEverywhere } from './stores.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let parents: Fixture[];

beforeEach(async () => {
  folder = await temporaryFolder();
  parents = [];
});

afterEach(async () => {
  for (const parent of parents) await parent.kill();
  await expect.poll(() => commandLinesWith(folder.path)).toEqual([]);
  await folder.remove();
});

async function startParent(...args: string[]): Promise<{ parent: Fixture; endpoints: Endpoints }> {
  const parent = runFixture('parent.mjs', folder.path, ...args);
  parents.push(parent);
  return { parent, endpoints: JSON.parse(await parent.nextLine()) as Endpoints };
}

describe('when the parent is killed', () => {
  it('leaves no process behind', async () => {
    const { parent } = await startParent();
    const pids = stackPids(folder.path);
    expect(pids.parent).toBe(parent.pid);

    process.kill(parent.pid, 'SIGKILL');

    await expectAllGone(pids);
    expect(existsSync(folder.path)).toBe(true);
  });
});

describe('when the terminal closes', () => {
  it('leaves no process behind, nor a folder that was meant to go', async () => {
    const { parent } = await startParent('temporary');
    const pids = stackPids(folder.path);

    process.kill(-parent.pid, 'SIGHUP');

    await expectAllGone(pids);
    expect(existsSync(folder.path)).toBe(false);
  });
});

describe('when guard and parent are killed together', () => {
  it('ends the orphans at the next start and finds their data', async () => {
    const { parent, endpoints } = await startParent();
    await writeEverywhere(endpoints, 'written');
    const orphans = stackPids(folder.path);

    // A stopped guard cannot act in the instant between the two kills.
    process.kill(orphans.guard, 'SIGSTOP');
    await parent.kill();
    process.kill(orphans.guard, 'SIGKILL');
    await expect.poll(() => lives(orphans.guard)).toBe(false);
    expect(serversOf(orphans).filter(lives)).toEqual(serversOf(orphans));

    const next = await startParent();
    expect(serversOf(orphans).filter(lives)).toEqual([]);
    expect(await readEverywhere(next.endpoints)).toEqual(everywhere('written'));
  });
});

describe('when everything is killed at once', () => {
  it('finds the data at the next start, and keeps the servers through Ctrl-C until the parent is done', async () => {
    const { endpoints } = await startParent();
    await writeEverywhere(endpoints, 'written');
    for (const pid of allOf(stackPids(folder.path))) process.kill(pid, 'SIGKILL');

    const { parent, endpoints: found } = await startParent('finish-first');
    expect(await readEverywhere(found)).toEqual(everywhere('written'));
    const pids = stackPids(folder.path);
    expect([pids.guard, ...serversOf(pids)].map(processGroup)).not.toContain(processGroup(parent.pid));

    process.kill(-parent.pid, 'SIGINT');

    expect(JSON.parse(await parent.nextLine())).toEqual({ answersAfterInterrupt: [true, true, true] });
    expect([pids.guard, ...serversOf(pids)].filter(lives)).toEqual([]);
    expect(await parent.ended).toEqual([0, null]);
  });
});

describe('when the next start comes while the guard of a dead parent is still at work', () => {
  it('waits for it instead of refusing', async () => {
    const { parent } = await startParent();
    const old = stackPids(folder.path);
    process.kill(old.guard, 'SIGSTOP');
    await parent.kill();

    const next = startParent();
    await expect.poll(guardCount).toBe(2);
    process.kill(old.guard, 'SIGCONT');

    await next;
    expect(allOf(old).filter(lives)).toEqual([]);
  });

  const guardCount = (): number =>
    commandLinesWith(folder.path).filter((command) => command.includes('guard.js')).length;
});
