import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

export interface ChaosOptions {
  readonly users: number;
  readonly faults: number;
  readonly seed: number;
  readonly json: boolean;
}

const LARGEST_SEED = 2 ** 32 - 1;

export const HELP = `npm run chaos -- [--seed N] [--users N] [--faults N] [--json]

  --seed N     the same faults in the same order as another run (drawn, and printed)
  --users N    members who join over the days (240)
  --faults N   faults, fifteen on each simulated day (120)
  --json       the last line on standard output is one JSON object; everything else goes to standard error
`;

/** Null when the caller only wants to know what there is. Throws what to say about a wrong one. */
export function readArguments(args: readonly string[]): ChaosOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: String(randomInt(LARGEST_SEED)) },
      users: { type: 'string', default: '240' },
      faults: { type: 'string', default: '120' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  return {
    seed: wholeNumber('seed', values.seed, [0, LARGEST_SEED]),
    users: wholeNumber('users', values.users, [5, 5_000]),
    faults: wholeNumber('faults', values.faults, [1, 1_000]),
    json: values.json,
  };
}

function wholeNumber(name: string, text: string, [least, most]: readonly [number, number]): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`--${name} is ${text}; it must be a whole number from ${least} to ${most}`);
}
