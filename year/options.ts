import { parseArgs } from 'node:util';

export const HELP = `npm run demo -- [--users N] [--months N] [--seed TEXT] [--out FILE] [--data DIR] [--json]

Lets a year pass on the real pipeline, on servers of its own, and writes a page about it.

  --users N    members when the year begins (100)
  --months N   how many months pass (12)
  --seed TEXT  the same seed and number give the same people, and the same things befall them (1)
  --out FILE   the page (demo-report.html)
  --data DIR   keep everything in this folder, which must be new: DATA_DIR=DIR npm start shows it in the console.
               Without it nothing is kept but the page
  --json       the last line on standard output is one JSON object; everything else goes to standard error

Ends with 1 when the audit finds a violation.
`;

export interface YearOptions {
  readonly users: number;
  readonly months: number;
  readonly seed: string;
  readonly out: string;
  /** Null: nothing is kept. */
  readonly data: string | null;
  readonly json: boolean;
}

/** Null: the caller asks for help. */
export function readOptions(args: readonly string[]): YearOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      users: { type: 'string', default: '100' },
      months: { type: 'string', default: '12' },
      seed: { type: 'string', default: '1' },
      out: { type: 'string', default: 'demo-report.html' },
      data: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  if (!/^[\w.-]{1,40}$/.test(values.seed))
    throw new Error('--seed must be up to 40 letters, digits, dots, dashes or underscores');
  return {
    users: wholeNumber('--users', values.users, 1, 10_000),
    months: wholeNumber('--months', values.months, 1, 12),
    seed: values.seed,
    out: values.out,
    data: values.data ?? null,
    json: values.json,
  };
}

function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Error(`${name} must be a whole number from ${least} to ${most}, not ${text}`);
}
