import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually, processesUnder } from '../support/processes.ts';
import { temporaryFolder } from '../support/stack.ts';

const MAIN = fileURLToPath(new URL('../../dist/chaos/main.js', import.meta.url));

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

/** Everything that it keeps lies in the test's folder. */
function chaos(...args: string[]) {
  const env = { PATH: process.env['PATH'], TMPDIR: folder.path };
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', error: '' };
  child.stdout.on('data', (text: Buffer) => (said.out += text.toString()));
  child.stderr.on('data', (text: Buffer) => (said.error += text.toString()));
  return { child, said, ended: once(child, 'close').then(([code]) => code as number | null) };
}

it('strikes, waits for the quiet, and tells what is left: nothing lost, nothing doubled, nobody left behind', async () => {
  const { said, ended } = chaos('--json', '--faults', '7', '--users', '10', '--seed', '11');

  expect(await ended, said.error).toBe(0);

  expect(said.out.trimEnd().split('\n')).toHaveLength(1);
  expect(JSON.parse(said.out)).toEqual({
    faults: 7,
    users: 10,
    charges: expect.toSatisfy((charges) => charges > 0) as number,
    double_debits: 0,
    unpaid_periods: 0,
    unpaid_requests: 0,
    lost_periods: 0,
    periods_after_closing: 0,
    lost_events: 0,
    lost_requests: 0,
    held_back_events: 0,
    misread_events: 0,
    audit_violations: 0,
    still_open: 0,
    own_ends: expect.any(Number) as number,
    own_ends_in_quiet: 0,
    events: expect.toSatisfy((events) => events > 0) as number,
    requests: expect.toSatisfy((requests) => requests > 0) as number,
    refused: expect.any(Number) as number,
    duration_s: expect.any(Number) as number,
    seed: 11,
  });
  expect(said.error).toMatch(/payment done: \S+ [^\n]*\d/);
  expect(said.error).toContain('nobody was debited twice, and nothing was lost');
  expect(processesUnder(folder.path)).toEqual([]);
  expect(readdirSync(folder.path)).toEqual([]);
});

it('leaves nothing behind when somebody stops it in the middle', async () => {
  const { child, said, ended } = chaos('--faults', '100', '--users', '5', '--seed', '12');
  await eventually('the storm begins', () => /SIG|FLUSHALL|bank:/.test(said.out));

  child.kill('SIGINT');

  expect(await ended).toBe(130);
  expect(processesUnder(folder.path)).toEqual([]);
  expect(readdirSync(folder.path)).toEqual([]);
});

it('says what is wrong with what it is asked for, before it starts anything', async () => {
  const { said, ended } = chaos('--users', 'many');

  expect(await ended).toBe(1);
  expect(said).toEqual({
    out: '',
    error: 'failed: --users is many; it must be a whole number from 5 to 5000\n',
  });
  expect(readdirSync(folder.path)).toEqual([]);
});
