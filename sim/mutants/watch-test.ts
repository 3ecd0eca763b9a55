import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Sighting } from './judge.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

/** A fault may be found by a test that waits in vain. The tests' own limit is made for slow machines, and is much longer. */
const HANGS_AFTER_MS = 30_000;

/** What Vitest's JSON reporter writes, as far as it is of interest. */
export interface TestReport {
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string;
    /** Why the file as a whole failed. */
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

export interface TestRun {
  readonly report: TestReport | null;
  /** The code that Vitest ended with, or the signal. */
  readonly end: number | string;
  /** What it said on standard error. */
  readonly said: string;
}

/** Vitest plants the fault in the sources, see vitest.config.ts. */
export async function watchTest(file: string, fault: string | null): Promise<Sighting> {
  const folder = mkdtempSync(join(tmpdir(), 'collections-mutants-'));
  try {
    return sightingOf(file, await runVitest(file, fault, join(folder, 'report.json')));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runVitest(file: string, fault: string | null, reportFile: string): Promise<TestRun> {
  const limits = fault === null ? [] : [`--testTimeout=${HANGS_AFTER_MS}`];
  const args = ['run', file, '--reporter=json', `--outputFile=${reportFile}`, ...limits];
  const run = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], {
    cwd: PROJECT,
    env: { ...process.env, MUTANT: fault ?? '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, [code, signal]] = await Promise.all([
    text(run.stderr),
    once(run, 'exit') as Promise<[number, null] | [null, string]>,
  ]);
  return { report: readReport(reportFile), end: code ?? signal, said };
}

function readReport(file: string): TestReport | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport;
  } catch {
    return null;
  }
}

/** Only a test that ran and failed has seen something. */
export function sightingOf(file: string, { report, end, said }: TestRun): Sighting {
  const results = report?.testResults.filter(({ name }) => name.endsWith(`/${file}`)) ?? [];
  const tests = results.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.find(({ status }) => status === 'failed');
  if (failed !== undefined)
    return { kind: 'wrong', place: { test: file }, what: `"${failed.fullName}" fails` };
  if (end === 0 && tests.some(({ status }) => status === 'passed')) return { kind: 'clean' };
  const reason = firstLine(results.map(({ message }) => message).join('\n')) ?? firstLine(said);
  const what = tests.length === 0 ? `no test ran in ${file}` : `no test failed in ${file}`;
  return {
    kind: 'broken',
    why: `${what}, and Vitest ended with ${end}${reason === undefined ? '' : `: ${reason}`}`,
  };
}

const firstLine = (lines: string): string | undefined =>
  lines
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '');
