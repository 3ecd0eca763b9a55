import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, processesUnder } from '../support/processes.ts';
import { temporaryFolder } from '../support/stack.ts';

const main = new URL('../../dist/year/main.js', import.meta.url).pathname;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let child: ChildProcess | null;

beforeEach(async () => {
  folder = await temporaryFolder();
  child = null;
});
afterEach(async () => {
  if (child?.exitCode === null) child.kill('SIGKILL');
  await eventually('no process is left', () => processesUnder(folder.path).length === 0);
  await folder.remove();
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
}

/** As npm would run it, without a terminal; what it makes for a while is made in the test's folder. */
function year(...args: string[]): { said: () => string; ended: Promise<Ended> } {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: folder.path };
  const started = spawn(process.execPath, [main, ...args], { cwd: folder.path, env });
  child = started;
  let [out, said] = ['', ''];
  started.stdout.on('data', (text: Buffer) => {
    out += text.toString();
    said += text.toString();
  });
  started.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const ended = new Promise<Ended>((resolve) => started.on('close', (code) => resolve({ code, out })));
  return { said: () => said, ended };
}

describe('npm run demo', () => {
  it('lives through a month, finds nothing wrong, tells of it on a page and leaves nothing else', async () => {
    const { said, ended } = year('--users', '12', '--months', '1', '--seed', 'test', '--json');
    const { code, out } = await ended;
    expect([code, said()]).toEqual([0, expect.stringContaining('no violation')]);

    const figures = JSON.parse(out.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect(figures).toMatchObject({ users: 12, violations: 0, unsettled: 0, failed_jobs: 0, quarantined: 0 });
    // Ten on each of 23 weekdays, four on each of 8 days of weekends.
    expect(figures['runs']).toBe(23 * 10 + 8 * 4);
    expect(Number(figures['collected'])).toBeGreaterThan(8 * 4.99);
    expect(Number(figures['debits'])).toBeGreaterThan(8);

    const page = readFileSync(join(folder.path, 'demo-report.html'), 'utf8');
    expect(page).toContain('The audit found nothing wrong.');
    expect(page).toContain('1 Jan 2030 – 31 Jan 2030 · 12 sandbox members');
    expect(page).toMatch(/Jan 2030: \$\d+\.\d\d by card, \$\d+\.\d\d by ACH/);
    expect(page).not.toContain('@example.com');
    expect(readdirSync(folder.path)).toEqual(['demo-report.html']);
    expect(processesUnder(folder.path)).toEqual([]);
  });

  it('on Ctrl-C takes everything along that it has started', async () => {
    const { said, ended } = year('--users', '5', '--months', '1');
    await eventually('days pass', () => said().includes('living: '));
    child!.kill('SIGINT');
    expect((await ended).code).toBe(130);
    expect(existsSync(join(folder.path, 'demo-report.html'))).toBe(false);
    expect(processesUnder(folder.path)).toEqual([]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.each([
    ['nowhere/page.html', '--out: there is no folder'],
    ['.', 'is a folder; it must be a file'],
    // For everybody, also for root, who may write into every other folder.
    ['a-file/page.html', 'a-file/page.html cannot be written (ENOTDIR)'],
  ])('starts nothing when it cannot write its page to %s', async (page, why) => {
    writeFileSync(join(folder.path, 'a-file'), '');
    const { said, ended } = year('--out', page);
    expect((await ended).code).toBe(1);
    expect(said()).toMatch(/^failed: --out: /);
    expect(said()).toContain(why);
    expect(readdirSync(folder.path)).toEqual(['a-file']);
  });
});
