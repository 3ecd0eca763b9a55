import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually, processesUnder } from '../support/processes.ts';
import { temporaryFolder } from '../support/stack.ts';

const root = new URL('../..', import.meta.url).pathname;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  await eventually('no process is left', () => processesUnder(folder.path).length === 0);
  await folder.remove();
});

it('a newcomer copies the project into an empty folder and both commands of the README work', async () => {
  const clone = join(folder.path, 'clone');
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of files.split('\n').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(root, file), join(clone, file));
  }
  const works = async (command: string, ...expected: RegExp[]): Promise<void> => {
    const env = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      DATA_DIR: join(folder.path, 'data'),
      PORT: '0',
      DASHBOARD_PORT: '0',
      // The servers of the nested run keep their data there: what it leaves behind is found under the folder.
      TMPDIR: folder.path,
    };
    const child = spawn('sh', ['-c', command], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (output += text.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect([code, output.slice(code === 0 ? -1 : -2_000)]).toEqual([0, expect.anything()]);
    for (const text of expected) expect(output).toMatch(text);
    expect(processesUnder(folder.path)).toEqual([]);
  };
  await works(
    'npm ci --prefer-offline && npm start -- --once',
    /seeded 200 demo members/,
    /scheduled +│ 1\d\d/,
    /float-today +│ \d+/,
    /checked \d+ records, \d+ floats and \d+ recurring payments, \d+ attempts, \d+ debits: no violation/,
  );
  // One file of tests, without the checks before it: the whole of `npm test` on a clean checkout is what runs this.
  await works('npx vitest run --project parts test/contract/dynamodb/batch-reader.test.ts', /1 passed/);
}, 600_000);

it('a newcomer without the programs is told so by the tests in one line, and nothing is left behind', () => {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  // Where there is no apt-get nothing is installed, whoever runs this.
  const env = { PATH: folder.path, TMPDIR: folder.path };
  const { status, stderr } = spawnSync(
    process.execPath,
    [vitest, 'run', 'test/contract/dynamodb/batch-reader.test.ts'],
    {
      cwd: root,
      env,
      encoding: 'utf8',
    },
  );
  expect(stderr).toMatch(/^Missing: redis-server or valkey-server.*\n$/);
  expect(status).toBe(1);
  expect(readdirSync(folder.path)).toEqual([]);
}, 120_000);
