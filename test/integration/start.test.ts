import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Running } from '../support/npm-start.ts';
import { isUp, runIn, startIn } from '../support/npm-start.ts';
import { eventually, processesUnder } from '../support/processes.ts';
import { temporaryFolder } from '../support/stack.ts';

const root = new URL('../..', import.meta.url).pathname;
const cli = join(root, 'dist/src/cli/main.js');
const start = join(root, 'dist/src/cli/start.js');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let started: Running[];
/** What the first starts leave behind: most tests need a system that is up, not one that is new. */
let lived: Awaited<ReturnType<typeof temporaryFolder>>;
let afterTheKill: Running;

beforeAll(async () => {
  lived = await temporaryFolder();
  folder = lived;
  started = [];
  await killedAt('seeding members', npmStart());
  await eventually('its servers are gone', () => processesUnder(folder.path).length === 0);
  afterTheKill = npmStart('--once');
  await afterTheKill.ended;
  expect(processesUnder(folder.path)).toEqual([]);
});
afterAll(() => lived.remove());

/** Before it can say or do much more: whoever looks now and then may come when the work is done. */
const killedAt = (text: string, { child, output, ended }: Running): Promise<unknown> => {
  child.stdout?.on('data', () => {
    if (output().includes(text)) child.kill('SIGKILL');
  });
  return ended;
};

/** This test starts from there. */
const hasLived = (): void => cpSync(join(lived.path, 'data'), join(folder.path, 'data'), { recursive: true });

beforeEach(async () => {
  folder = await temporaryFolder();
  started = [];
});
afterEach(async () => {
  for (const { child } of started) if (child.exitCode === null) child.kill('SIGKILL');
  await eventually('no process is left', () => processesUnder(folder.path).length === 0);
  await folder.remove();
});

/** Ended after the test, whatever it says. */
function kept(running: Running): Running {
  started.push(running);
  return running;
}

const run = (file: string, args: string[]): Running => kept(runIn(folder.path, file, args));
const npmStart = (...args: string[]): Running => kept(startIn(folder.path, ...args));
// What is built is there already: npm need not look again each time.
const underNpm = (): Running => run('npm', ['start', '--ignore-scripts']);

/** How many of the demo's members the bank knows, of a few from the first to the last. */
async function knownMembers(): Promise<number> {
  const file = join(folder.path, 'data/environment.json');
  const { PAYMENTS_SERVICE_URL: bank } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  const answers = await Promise.all(
    ['000001', '000100', '000200'].map((n) => fetch(`${bank}/users/demo-${n}`)),
  );
  return answers.filter(({ ok }) => ok).length;
}

describe('npm start', () => {
  it('killed while it seeds takes its servers along, and the next start finishes its work', async () => {
    expect([await afterTheKill.ended, afterTheKill.output()]).toEqual([
      0,
      expect.stringMatching(/seeded \d+ demo members/),
    ]);
    // Everything that was due has been collected, before anybody had to ask for it.
    expect(afterTheKill.output()).toMatch(/scheduled +│ 1\d\d/);
    expect(afterTheKill.output()).toMatch(
      /checked \d+ records, \d+ floats and \d+ recurring payments, \d+ attempts, \d+ debits: no violation/,
    );
  });

  it('says that it is up, ends with Ctrl-C, leaves no process, and finds its state the next time', async () => {
    hasLived();
    const first = npmStart();
    await isUp(first);
    await expectRefused(npmStart(), first);
    await expectHealthy(run(process.execPath, [cli, 'doctor']));
    process.kill(-first.child.pid!, 'SIGINT');
    expect(await first.ended).toBe(0);
    expect(processesUnder(folder.path)).toEqual([]);

    const second = underNpm();
    await isUp(second);
    expect(second.output()).not.toContain('made ');
    expect(second.output()).not.toContain('seeded');
    expect(second.output()).toMatch(/scheduled +│ \d {2,}│ 0 /);
    expect(await knownMembers()).toBe(3);
    second.child.kill('SIGTERM');
    await second.ended;
    expect(second.output()).toMatch(/stopped\s*$/);
    expect(processesUnder(folder.path)).toEqual([]);
  });

  it('takes an empty variable for one that is not set, says which it does not use, and logs what it is told to', async () => {
    hasLived();
    const log = join(folder.path, 'data/logs/workers.log');
    rmSync(log);
    const env = { API_TOKENS: '', LOG_LEVEL: 'error', REDIS_URL: 'redis://127.0.0.1:1' };
    const { ended, output } = kept(runIn(folder.path, process.execPath, [start, '--once'], { env }));
    expect([await ended, output()]).toEqual([0, expect.stringContaining('operator:operator:')]);
    expect(output()).toContain('not used, as npm start brings its own: REDIS_URL\n');
    expect(readFileSync(log, 'utf8')).not.toMatch(/"level":[1-4]0/);
  });

  it('under npm, where one Ctrl-C arrives twice, still ends in order', async () => {
    hasLived();
    const first = underNpm();
    await isUp(first);
    process.kill(-first.child.pid!, 'SIGINT');
    await first.ended;
    expect(first.output()).toMatch(/stopped\s*$/);
    expect(processesUnder(folder.path)).toEqual([]);
  });

  it('ends when npm itself is killed', async () => {
    hasLived();
    const first = underNpm();
    await isUp(first);
    first.child.kill('SIGKILL');
    await eventually('everything is gone', () => processesUnder(folder.path).length === 0);
  });

  it('killed together with all that it started, starts again, and fails when one of its servers dies', async () => {
    hasLived();
    const first = npmStart();
    await isUp(first);
    for (const line of processesUnder(folder.path)) process.kill(Number(line.split(' ')[0]), 'SIGKILL');
    first.child.kill('SIGKILL');
    await first.ended;

    const second = npmStart();
    await isUp(second);
    expect(second.output()).not.toContain('seeded');
    const redis = processesUnder(folder.path).find(
      (line) => line.includes('redis-server') || line.includes('valkey-server'),
    );
    process.kill(Number(redis!.split(' ')[0]), 'SIGKILL');
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain('redis');
    expect(processesUnder(folder.path)).toEqual([]);
  });
});

/** A second one while the first is up. */
async function expectRefused(second: Running, first: Running): Promise<void> {
  expect(await second.ended).toBe(1);
  expect(second.output()).toMatch(/already/);
  expect(second.output()).toContain(String(first.child.pid));
  expect(second.output()).not.toMatch(/\n\s+at /);
}

/** A command in another terminal finds the system by itself. */
async function expectHealthy(doctor: Running): Promise<void> {
  expect(await doctor.ended).toBe(0);
  expect(doctor.output()).toContain('the local system of `npm start`');
  expect(doctor.output()).toContain('healthy');
}
