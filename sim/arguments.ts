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

/** Thrown when somebody types what makes no sense. The message says what does. */
export class ArgumentError extends Error {}

export function readArguments(args: readonly string[]): SimArguments | 'help' {
  const { values } = parse(args);
  if (values.help) return 'help';
  return {
    seeds: wholeNumber('seeds', values.seeds, 1_000_000),
    first: wholeNumber('first', values.first, 1_000_000_000),
    days: wholeNumber('days', values.days, 1_000),
    users: wholeNumber('users', values.users, 10_000),
    trace: values.trace ?? null,
    mutants: values.mutants,
    only: values.only ?? null,
    json: values.json,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seeds: { type: 'string', default: '20' },
        first: { type: 'string', default: '1' },
        days: { type: 'string', default: '90' },
        users: { type: 'string', default: '200' },
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
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new ArgumentError(`--${name} is ${JSON.stringify(text)}; must be a whole number from 1 to ${most}`);
  return value;
}
