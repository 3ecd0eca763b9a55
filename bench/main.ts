import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Terminal } from '../src/cli/terminal.ts';
import { colour, terminal } from '../src/cli/terminal.ts';
import { measureApplied } from './applied.ts';
import type { Bench } from './bench.ts';
import { measureBridge } from './bridge.ts';
import { measureEnqueue } from './enqueue.ts';
import type { Figure, Measured } from './figures.ts';
import { FIGURES, aimText, outcomeOf, rounded } from './figures.ts';
import { Ground } from './ground.ts';
import { measureGrowth } from './growth.ts';
import { measurePay } from './pay.ts';
import { measureRequests } from './requests.ts';
import { measureThroughput } from './throughput.ts';

const HELP = `npm run bench -- [--records N] [--json] [--profile DIR]

  --records N    collections in one timed round (150)
  --json         the last line on standard output is one JSON object; everything else goes to standard error
  --profile DIR  processor profiles of every process, to be opened in a browser's developer tools
`;

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '150' },
    json: { type: 'boolean', default: false },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** Each measurement on servers of its own: DynamoDB Local becomes slower with all that it was ever asked. */
type OnFreshGround = <T>(work: (bench: Bench) => Promise<T>) => Promise<T>;

async function measure(say: Bench['say'], onFreshGround: OnFreshGround): Promise<Measured> {
  say('1 of 7: what one collection asks for');
  const { template, ...requests } = await onFreshGround(measureRequests);
  say('2 of 7: the pipeline against a bare loop, then the memory of its worker');
  const throughput = await onFreshGround((bench) => measureThroughput(bench, template));
  say('3 of 7: page jobs against a bare addBulk');
  const enqueue = await onFreshGround(measureEnqueue);
  say('4 of 7: a small table against a large one');
  const growth = await onFreshGround(measureGrowth);
  say('5 of 7: the bridge against a bare loop, then how far it is behind');
  const bridge = await onFreshGround(measureBridge);
  say('6 of 7: events, from the stream to applied');
  const applied = await onFreshGround(measureApplied);
  say('7 of 7: payments by hand against a handler that only enqueues, then who was charged');
  const pay = await onFreshGround(measurePay);
  return { ...requests, ...throughput, ...enqueue, ...growth, ...bridge, ...applied, ...pay };
}

function show(out: Terminal, measured: Measured): void {
  const rows = FIGURES.flatMap((figure: (typeof FIGURES)[number]) => {
    const value = measured[figure.name];
    if (value === undefined) return [];
    return [[figure.name, String(rounded(value)), aimText(figure), shown(figure, value), figure.what]];
  });
  out.line();
  out.table(['figure', 'value', 'aim', '', 'what it is'], rows);
}

function shown(figure: Figure, value: number): string {
  const outcome = outcomeOf(figure, rounded(value));
  return outcome === 'miss' ? colour('red', outcome) : colour('green', outcome);
}

async function main(): Promise<void> {
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const records = Number(values.records);
  if (!Number.isInteger(records) || records < 50 || records > 20_000)
    throw new Error(`--records is ${values.records}; it must be a whole number from 50 to 20000`);
  if (values.profile !== undefined) mkdirSync(values.profile, { recursive: true });

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
  try {
    const measured = await measure(say, async (work) => {
      const ground = await Ground.prepare((how) => (stop = how), { profileDir: values.profile });
      const found = await work({ ground, records, say });
      await ground.stop();
      return found;
    });
    show(out, measured);
    say('done');
    if (values.json) {
      const figures = Object.entries(measured).map(([name, value]) => [name, rounded(value)]);
      process.stdout.write(`${JSON.stringify(Object.fromEntries(figures))}\n`);
    }
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
