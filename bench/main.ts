import { mkdirSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { colour, terminal } from '../src/cli/terminal.ts';
import type { Part } from './figures.ts';
import { PARTS } from './figures.ts';
import { Ground } from './ground.ts';
import { machineFacts } from './machine.ts';
import type { OnFreshGround } from './parts.ts';
import { measureParts } from './parts.ts';
import { sharesIn } from './profile.ts';
import { lineOf, show } from './report.ts';

const HELP = `npm run bench -- [--only PART,PART] [--records N] [--json] [--profile DIR]

  --only PARTS   some of it: ${PARTS.join(', ')}
  --records N    collections in one timed round (150)
  --json         the last line on standard output is one JSON object; everything else goes to standard error
  --profile DIR  processor profiles of every process, to be opened in a browser's developer tools, and their sums by room.
                 Looking costs time: figures of such a run are not those of one without
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: PARTS.join() },
    records: { type: 'string', default: '150' },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function wantedParts(): Part[] {
  const wanted = values.only.split(',');
  const unknown = wanted.find((name) => !PARTS.some((part) => part === name));
  if (unknown !== undefined) throw new Error(`--only knows ${PARTS.join(', ')}, not ${unknown}`);
  return wanted as Part[];
}

function recordsPerRound(): number {
  const records = Number(values.records);
  if (!Number.isInteger(records) || records < 50 || records > 20_000)
    throw new Error(`--records is ${values.records}; it must be a whole number from 50 to 20000`);
  return records;
}

/** What an earlier run left there would be summed up with this one's. */
function makeEmptyFolder(path: string): void {
  mkdirSync(path, { recursive: true });
  if (readdirSync(path).length > 0) throw new Error('--profile wants a folder that is new or empty');
}

/** As it can be typed again; a folder is everybody's own. */
const command = (): string =>
  [
    'npm run bench --',
    ...(values.only === PARTS.join() ? [] : [`--only ${values.only}`]),
    ...(values.records === '150' ? [] : [`--records ${values.records}`]),
    ...(values.profile === undefined ? [] : ['--profile DIR']),
  ]
    .join(' ')
    .replace(/ --$/, '');

async function main(): Promise<void> {
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const [wanted, records] = [wantedParts(), recordsPerRound()];
  if (values.profile !== undefined) makeEmptyFolder(values.profile);

  const out = terminal(values.json ? process.stderr : process.stdout);
  const beganMs = performance.now();
  const say = (text: string): void =>
    out.line(`${((performance.now() - beganMs) / 1_000).toFixed(0).padStart(4)} s  ${text}`);
  let stop = async (): Promise<void> => undefined;
  const asked = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Under npm one Ctrl-C comes twice.
      if (asked.signal.aborted) return;
      asked.abort();
      out.line('stopping');
      void stop().finally(() => process.exit(130));
    });
  }
  const onFreshGround: OnFreshGround = async (part, work) => {
    const profile = values.profile === undefined ? null : { dir: values.profile, part };
    const ground = await Ground.prepare((how) => (stop = how), profile);
    const found = await work({ ground, records, say });
    await ground.stop();
    return found;
  };
  try {
    const machine = await machineFacts();
    const measuredAt = `${new Date().toISOString().slice(0, 16)}Z`;
    const found = await measureParts(wanted, say, onFreshGround);
    const profile = values.profile === undefined ? {} : { profile: sharesIn(values.profile) };
    const report = { ...found, ...profile, machine, command: command(), measuredAt };
    show(out, report);
    say('done');
    if (values.json) process.stdout.write(`${lineOf(report)}\n`);
  } catch (error) {
    // Whoever stops it pulls the ground from under what is being measured: that is no failure, and the end is near.
    if (asked.signal.aborted) await new Promise(() => undefined);
    await stop();
    throw error;
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(
      `${colour('red', 'failed')}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  },
);
