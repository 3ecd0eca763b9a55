import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksIn } from '../support/markdown.ts';
import type { Running } from '../support/npm-start.ts';
import { isUp, runIn } from '../support/npm-start.ts';
import { eventually, processesUnder } from '../support/processes.ts';
import { temporaryFolder } from '../support/stack.ts';

const root = new URL('../..', import.meta.url).pathname;
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((name) => name !== '' && existsSync(join(root, name)));

const pages = files
  .filter((page) => /^([A-Z]+|docs\/[\w-]+)\.md$/.test(page))
  // The README first: it is what people read, and run, first.
  .sort((one, other) => Number(other === 'README.md') - Number(one === 'README.md'));
const shellBlocks = pages.flatMap((page) =>
  blocksIn(readFileSync(join(root, page), 'utf8'))
    .filter(({ info }) => /^sh\b/.test(info))
    .map((block) => ({ ...block, place: `${page}:${block.firstLine}`, page })),
);
const MARK = /^sh runnable(?: exit=(\d+))?$/;
const runnable = shellBlocks.filter(({ info }) => MARK.test(info));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let clone: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  clone = join(folder.path, 'clone');
});
afterAll(() => folder.remove());

describe('in an empty folder with the project’s files alone', () => {
  let system: Running;

  beforeAll(async () => {
    for (const file of files) {
      mkdirSync(dirname(join(clone, file)), { recursive: true });
      cpSync(join(root, file), join(clone, file));
    }
    // What `npm ci` puts there; that it does is seen by whoever runs the tests on a clean checkout.
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
    system = runIn(folder.path, 'npm', ['start'], { cwd: clone });
    await isUp(system);
  });
  afterAll(async () => {
    if (system.child.pid !== undefined) process.kill(-system.child.pid, 'SIGINT');
    await system.ended;
    await eventually('no process is left', () => processesUnder(folder.path).length === 0);
  });

  it('npm start builds it, seeds it, collects what is due, and finds nothing wrong', () => {
    for (const text of [
      /seeded 200 demo members/,
      /scheduled +│ 1\d\d/,
      /float-today +│ \d+/,
      /checked \d+ records, \d+ floats and \d+ recurring payments, \d+ attempts, \d+ debits: no violation/,
    ])
      expect(system.output()).toMatch(text);
  });

  it('every block of shell commands is marked as runnable, or not at all', () => {
    const misspelt = shellBlocks.filter(({ info }) => info !== 'sh' && !MARK.test(info));
    expect(misspelt.map(({ place, info }) => `${place}: ${info}`)).toEqual([]);
    expect(runnable.length).toBeGreaterThan(3);
  });

  it('no block is marked where nobody would run it', () => {
    const elsewhere = files.filter((file) => file.endsWith('.md') && !pages.includes(file));
    const marked = elsewhere.filter((page) =>
      blocksIn(readFileSync(join(root, page), 'utf8')).some(({ info }) => info.includes('runnable')),
    );
    expect(marked).toEqual([]);
  });

  it.each(runnable)('$place can be run', async ({ page, info, text, firstLine }) => {
    const [, exit = '0'] = MARK.exec(info) ?? [];
    const file = join(folder.path, 'commands.sh');
    writeFileSync(file, scriptOf(page, here(text), firstLine));
    // What is built is there already: npm need not look again each time.
    const env = { npm_config_ignore_scripts: 'true' };
    const { ended, output } = runIn(folder.path, 'bash', [file], { cwd: clone, env });
    const code = await ended;
    expect([code, code === Number(exit) ? '' : output().slice(-2_000)]).toEqual([Number(exit), '']);
  });

  /** Ends with the first command that fails, and says where in the page it stands. */
  function scriptOf(page: string, text: string, firstLine: number): string {
    const trap = `set -e; trap 'echo "${page}:$LINENO ended with $?" >&2' ERR`;
    return `${trap}${'\n'.repeat(firstLine - 1)}${text}\n`;
  }

  /** The system of this test, where the page speaks of the one that `npm start` brings up. */
  function here(text: string): string {
    const [, api = ''] = /API\s+│ http:\/\/(\S+)/.exec(system.output()) ?? [];
    const [, console = ''] = /Console\s+│ http:\/\/(\S+)/.exec(system.output()) ?? [];
    return text
      .replaceAll('localhost:3000', api)
      .replaceAll('localhost:3001', console)
      .replaceAll('.data/', `${join(folder.path, 'data')}/`);
  }
});

it('a newcomer without the programs is told so by the tests in one line, and nothing is left behind', async () => {
  const empty = await temporaryFolder();
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  // Where there is no apt-get nothing is installed, whoever runs this.
  const env = { PATH: empty.path, TMPDIR: empty.path };
  const { status, stderr } = spawnSync(
    process.execPath,
    [vitest, 'run', 'test/contract/dynamodb/batch-reader.test.ts'],
    { cwd: root, env, encoding: 'utf8' },
  );
  expect(stderr).toMatch(/^Missing: redis-server or valkey-server.*\n$/);
  expect(status).toBe(1);
  expect(readdirSync(empty.path)).toEqual([]);
  await empty.remove();
});
