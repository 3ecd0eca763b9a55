import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FIGURES } from '../../bench/figures.ts';
import { processesUnder } from '../support/processes.ts';
import { temporaryFolder } from '../support/stack.ts';

const MAIN = fileURLToPath(new URL('../../dist/bench/main.js', import.meta.url));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

/** Everything that it keeps lies in the test's folder. */
async function bench(...args: string[]) {
  const env = { PATH: process.env['PATH'], TMPDIR: folder.path };
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', error: '' };
  child.stdout.on('data', (text: Buffer) => (said.out += text.toString()));
  child.stderr.on('data', (text: Buffer) => (said.error += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}

const isFigure = expect.toSatisfy((value) => Number.isFinite(value) && value > 0) as number;

// The part that is measured soonest. What the figures are is a matter of the machine.
it('measures a part on servers of its own, tells machines in one line, and leaves nothing behind', async () => {
  const { code, out, error } = await bench('--only', 'pages', '--records', '50', '--json');

  expect(code, error).toBe(0);
  expect(out.trimEnd().split('\n')).toHaveLength(1);
  const ofPart = FIGURES.filter(({ part }) => part === 'pages').map(({ name }) => [name, isFigure]);
  expect(JSON.parse(out)).toEqual({
    ...Object.fromEntries(ofPart),
    measured_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/) as string,
    machine: {
      cores: isFigure,
      cpu: expect.any(String) as string,
      memory_gb: isFigure,
      node: process.version.slice(1),
      redis: expect.stringMatching(/^\w+ [\d.]+$/) as string,
      java: expect.stringMatching(/^[\d._]+/) as string,
      dynamodb_local: expect.stringMatching(/^[\d.]+$/) as string,
      load_before: expect.any(Number) as number,
    },
    command: 'npm run bench -- --only pages --records 50',
  });
  // People read it too.
  for (const [name] of ofPart) expect(error).toContain(name);
  expect(processesUnder(folder.path)).toEqual([]);
  expect(readdirSync(folder.path)).toEqual([]);
});

it('says what is wrong with what it is asked for, before it starts anything', async () => {
  expect(await bench('--only', 'everything')).toEqual({
    code: 1,
    out: '',
    error: expect.stringMatching(/^failed: --only must be some of [^\n]+, not "everything"\n$/) as string,
  });
  expect(readdirSync(folder.path)).toEqual([]);
});
