import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';

export interface SimArguments {
  readonly seeds: number;
  readonly first: number;
  readonly days: number;
  readonly users: number;
  readonly trace: string | null;
  readonly mutants: boolean;
  readonly only: string | null;
  readonly json: boolean;
}

/** Thrown when an argument makes no sense. The message says what does. */
export class ArgumentError extends Error {}

/** Planted faults are looked for in worlds of their own. */
const NOT_WITH_MUTANTS = ['seeds', 'first', 'days', 'users', 'trace'] as const;

export function readArguments(args: readonly string[]): SimArguments | 'help' {
  const { values } = parse(args);
  if (values.help) return 'help';
  const { mutants, only, trace } = values;
  if (!mutants && only !== undefined)
    throw new ArgumentError('--only names a planted fault: with --mutants only');
  const foreign = NOT_WITH_MUTANTS.find((name) => mutants && values[name] !== undefined);
  if (foreign !== undefined)
    throw new ArgumentError(`--${foreign} has no meaning with --mutants, which has worlds of its own`);
  return {
    seeds: wholeNumber('seeds', values.seeds ?? '20', 1_000_000),
    first: wholeNumber('first', values.first ?? '1', 1_000_000_000),
    days: wholeNumber('days', values.days ?? '90', 1_000),
    users: wholeNumber('users', values.users ?? '200', 10_000),
    trace: trace === undefined ? null : traceFile(trace),
    mutants,
    only: only ?? null,
    json: values.json,
  };
}

/** Without defaults: what was typed and what was not can be told apart. */
function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seeds: { type: 'string' },
        first: { type: 'string' },
        days: { type: 'string' },
        users: { type: 'string' },
        trace: { type: 'string' },
        mutants: { type: 'boolean', default: false },
        only: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new ArgumentError((error as Error).message);
  }
}

function wholeNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > most)
    throw new ArgumentError(`--${name} is ${JSON.stringify(text)}; must be a whole number from 1 to ${most}`);
  return value;
}

/** The trace is written when all is over, which may be hours from now: too late to hear that it cannot be. */
function traceFile(path: string): string {
  if (!canBeWritten(path))
    throw new ArgumentError(
      `--trace is ${JSON.stringify(path)}; must be a file that can be written, in a folder that is there`,
    );
  return path;
}

function canBeWritten(path: string): boolean {
  if (path === '' || path.endsWith('/')) return false;
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    accessSync(there === undefined ? dirname(path) : path, constants.W_OK);
    return there?.isDirectory() !== true;
  } catch {
    return false;
  }
}
