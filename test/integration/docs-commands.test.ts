import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blocksIn } from '../support/markdown.ts';
import type { Running } from '../support/npm-start.ts';
import { isUp, runIn, startIn } from '../support/npm-start.ts';
import { eventually, processesUnder } from '../support/processes.ts';
import { temporaryFolder } from '../support/stack.ts';

const root = new URL('../..', import.meta.url).pathname;
const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
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
let system: Running;

beforeAll(async () => {
  folder = await temporaryFolder();
  system = startIn(folder.path);
  await isUp(system);
}, 180_000);
afterAll(async () => {
  system.child.kill('SIGTERM');
  await system.ended;
  await eventually('no process is left', () => processesUnder(folder.path).length === 0);
  await folder.remove();
});

it('every block of shell commands is marked as runnable, or not at all', () => {
  const misspelt = shellBlocks.filter(({ info }) => info !== 'sh' && !MARK.test(info));
  expect(misspelt.map(({ place, info }) => `${place}: ${info}`)).toEqual([]);
  expect(runnable.length).toBeGreaterThan(3);
});

it.each(runnable)(
  '$place can be run',
  async ({ page, info, text, firstLine }) => {
    const [, exit = '0'] = MARK.exec(info) ?? [];
    const file = join(folder.path, 'commands.sh');
    writeFileSync(file, scriptOf(page, here(text), firstLine));
    // What is built is there already: npm need not look again each time.
    const { ended, output } = runIn(folder.path, 'bash', [file], { npm_config_ignore_scripts: 'true' });
    const code = await ended;
    expect([code, code === Number(exit) ? '' : output().slice(-2_000)]).toEqual([Number(exit), '']);
  },
  240_000,
);

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
