import { parseArgs } from 'node:util';
import type { Part } from './figures.ts';
import { PARTS } from './figures.ts';

export interface BenchOptions {
  readonly parts: readonly Part[];
  /** Collections in one timed round. */
  readonly records: number;
  readonly json: boolean;
  /** Where profiles go. Null: there are none. */
  readonly profile: string | null;
}

const ALL_PARTS = PARTS.join();
const RECORDS = '150';

const USAGE = 'npm run bench -- [--only PART,PART] [--records N] [--json] [--profile DIR]';

export const HELP = `${USAGE}

  --only PARTS   some of it: ${PARTS.join(', ')}
  --records N    collections in one timed round (${RECORDS})
  --json         the last line on standard output is one JSON object; everything else goes to standard error
  --profile DIR  processor profiles of every process, to be opened in a browser's developer tools, and their sums by room.
                 Looking costs time: figures of such a run are not those of one without
`;

/** Null when the caller only wants to know what there is. Throws what to say about a wrong one, in one line. */
export function readArguments(args: readonly string[]): BenchOptions | null {
  const values = valuesIn(args);
  if (values.help) return null;
  return {
    parts: partsIn(values.only),
    records: wholeNumber('--records', values.records, [50, 20_000]),
    json: values.json,
    profile: values.profile ?? null,
  };
}

function valuesIn(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: 'string', default: ALL_PARTS },
        records: { type: 'string', default: RECORDS },
        json: { type: 'boolean', default: false },
        profile: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    // Node goes on about dashes, over several lines.
    const [wrong = ''] = (error as Error).message.split('\n');
    throw new Error(`${wrong.replace(/\.$/, '')}; it is ${USAGE}`, { cause: error });
  }
}

function partsIn(text: string): Part[] {
  const names = text.split(',');
  const parts = names.flatMap((name) => PARTS.filter((part) => part === name));
  if (parts.length === names.length) return parts;
  throw new Error(`--only must be some of ${PARTS.join(', ')}, with commas between them, not "${text}"`);
}

function wholeNumber(name: string, text: string, [least, most]: readonly [number, number]): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`${name} must be a whole number from ${least} to ${most}, not "${text}"`);
}

/** As it can be typed again; the folder is each caller's own. */
export function commandFor({ parts, records, profile }: BenchOptions): string {
  const options = [
    ...(parts.join() === ALL_PARTS ? [] : [`--only ${parts.join()}`]),
    ...(String(records) === RECORDS ? [] : [`--records ${records}`]),
    ...(profile === null ? [] : ['--profile DIR']),
  ];
  return options.length === 0 ? 'npm run bench' : `npm run bench -- ${options.join(' ')}`;
}
