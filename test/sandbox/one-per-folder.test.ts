import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SandboxDidNotStart, startSandbox, type RunningSandbox } from '../support/sandbox.ts';
import { temporaryFolder } from '../support/stack.ts';
import { BankClient, bankForTest } from './bank-client.ts';

const IN_USE = /^sandbox: SANDBOX_DATA_DIR (\S+) is in use by another sandbox; stop that one, or .*\n$/;

async function folderForTest(): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  return folder.path;
}

/** Too long for the path of a socket. */
async function deepFolderForTest(): Promise<string> {
  const folder = join(await folderForTest(), 'd'.repeat(100));
  await mkdir(folder);
  return folder;
}

/** Starts one that may be refused; one that runs is ended with the test. */
async function tryToStart(dataDir: string): Promise<RunningSandbox | SandboxDidNotStart> {
  try {
    const sandbox = await startSandbox({ dataDir });
    onTestFinished(async () => {
      await sandbox.stop();
    });
    return sandbox;
  } catch (error) {
    if (error instanceof SandboxDidNotStart) return error;
    throw error;
  }
}

async function expectRefused(dataDir: string): Promise<void> {
  const outcome = await tryToStart(dataDir);
  expect(outcome).toMatchObject({ exitCode: 1, output: expect.stringMatching(IN_USE) as unknown });
  expect((outcome as SandboxDidNotStart).output).toContain(dataDir);
}

const sockets = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sock'));

describe.each([
  ['a folder', folderForTest],
  ['a folder with a long path', deepFolderForTest],
])('two sandboxes on %s', (_what, makeFolder) => {
  it('do not run at the same time: the second refuses, and the first goes on', async () => {
    const dataDir = await makeFolder();
    const first = await bankForTest({ dataDir });
    await first.setUser('before');
    const file = join(dataDir, 'ledger.jsonl');
    // A start would cut this off, so whoever leaves it has not opened the ledger.
    await appendFile(file, '{"torn');
    const torn = await readFile(file, 'utf8');
    await expectRefused(dataDir);
    await expectRefused(dataDir);
    expect(await readFile(file, 'utf8')).toBe(torn);
    await writeFile(file, torn.slice(0, -'{"torn'.length));
    await first.setUser('after');
    expect((await first.ledger({ type: 'user.set' })).map(({ user_id }) => user_id)).toEqual([
      'before',
      'after',
    ]);
  });

  it('follow one another at once when the first is killed, and when it is stopped', async () => {
    const dataDir = await makeFolder();
    const killed = await startSandbox({ dataDir });
    await new BankClient(killed.url).setUser('kept');
    await killed.kill();
    const stopped = await startSandbox({ dataDir });
    expect((await new BankClient(stopped.url).get('/users/kept')).status).toBe(200);
    await expectRefused(dataDir);
    expect(await stopped.stop()).toBe(0);
    expect(await sockets(dataDir)).toEqual([]);
    const third = await bankForTest({ dataDir });
    expect((await third.get('/users/kept')).status).toBe(200);
  });

  it('of many that start at the same time after a kill, one runs', async () => {
    const dataDir = await makeFolder();
    const killed = await startSandbox({ dataDir });
    await killed.kill();
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => tryToStart(dataDir)));
    const running = outcomes.filter((outcome) => !(outcome instanceof SandboxDidNotStart));
    expect(running).toHaveLength(1);
    await new BankClient((running[0] as RunningSandbox).url).setUser('alone');
    await expectRefused(dataDir);
  });
});

describe('the owner of a folder', () => {
  it('is known under every name of the folder', async () => {
    const dataDir = await folderForTest();
    const alias = join(await folderForTest(), 'alias');
    await symlink(dataDir, alias);
    await bankForTest({ dataDir });
    await expectRefused(alias);
  });

  it('leaves nothing among the temporary files', async () => {
    const dataDir = await deepFolderForTest();
    const temporary = await folderForTest();
    const sandbox = await startSandbox({ dataDir, env: { TMPDIR: temporary } });
    expect(await sockets(temporary)).toHaveLength(1);
    await sandbox.stop();
    expect(await sockets(temporary)).toEqual([]);
  });
});

describe('readiness', () => {
  const changes: [string, (file: string) => Promise<void>, RegExp][] = [
    ['changed by another process', (file) => appendFile(file, '{}\n'), /changed by another process/],
    ['removed', (file) => rm(file), /was removed/],
  ];

  it.each(changes)('ends when the ledger is %s, and nothing is answered any more', async (_, change, why) => {
    const dataDir = await folderForTest();
    const bank = await bankForTest({ dataDir });
    expect((await bank.get('/health/ready')).status).toBe(200);
    await change(join(dataDir, 'ledger.jsonl'));
    const { status, body } = await bank.get('/health/ready');
    expect({ status, code: body['code'] }).toEqual({ status: 503, code: 'ledger_not_writable' });
    expect(body['detail']).toMatch(why);
    expect((await bank.get('/health/live')).status).toBe(200);
    expect((await bank.call('PUT', '/sandbox/users/nobody', {})).status).toBe(500);
  });
});
