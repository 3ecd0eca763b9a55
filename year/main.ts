import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isClean } from '../src/cli/audit-command.ts';
import type { LocalSystem } from '../src/cli/local-system.ts';
import { startLocalSystem } from '../src/cli/local-system.ts';
import { sandboxClient, seed } from '../src/cli/sandbox-commands.ts';
import type { Terminal } from '../src/cli/terminal.ts';
import { colour, terminal } from '../src/cli/terminal.ts';
import type { Environment } from '../src/config/read-config.ts';
import { calendarDate, midnightOf } from '../src/domain/calendar-date.ts';
import type { StackOptions } from '../src/embedded/stack.ts';
import type { YearPlan } from './happenings.ts';
import { machineFigures } from './machine-figures.ts';
import { PREFIX, yearMember } from './members.ts';
import type { YearOptions } from './options.ts';
import { HELP, readOptions } from './options.ts';
import { yearPage } from './report/page.ts';
import { openStage } from './stage.ts';
import { liveYear } from './year.ts';

/** Always the same, so that a year can be repeated; and to come, so that nothing expires by the machine's clock. */
const YEAR = 2030;

/** DynamoDB Local does one thing after the other: more at once would not make it faster. */
const COLLECTIONS_AT_ONCE = '8';

/** The year has no time to wait a second until an idle bridge looks again. */
const BRIDGE_TIMES = {
  readEveryMs: 50,
  idleMs: 150,
  roundMs: 5_000,
  shardListMs: 30_000,
  deadAfterMs: 20_000,
};

const INTERRUPTED = 130;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options === null) {
    process.stdout.write(HELP);
    return 0;
  }
  const out = terminal(options.json ? process.stderr : process.stdout);
  refuseBadPlaces(options);
  const stopped = stopWhenAsked();
  try {
    return await tell(options, out, stopped);
  } catch (error) {
    if (stopped.aborted) return INTERRUPTED;
    throw error;
  }
}

async function tell(options: YearOptions, out: Terminal, stopped: AbortSignal): Promise<number> {
  const { users, months, seed: chance } = options;
  const plan: YearPlan = {
    users,
    seed: chance,
    from: calendarDate(YEAR, 1, 1),
    to: calendarDate(YEAR, 1 + months, 1),
  };
  const system = await startSystem(options, plan, out, stopped);
  try {
    const stage = await openStage(system);
    try {
      const ended = system.untilStopped(stopped).then(() => Promise.reject(new Error('stopped')));
      const report = await Promise.race([liveYear(system, stage, plan, out, stopped), ended]);
      writeFileSync(options.out, yearPage(report));
      out.line(`The year is told in ${options.out}`);
      if (options.json) process.stdout.write(`${JSON.stringify(machineFigures(report))}\n`);
      return isClean(report.audited) ? 0 : 1;
    } finally {
      await stage.close();
    }
  } finally {
    await system.stop();
  }
}

/** Beside whatever else runs on this machine: a folder of its own and free ports. */
function startSystem(
  { data, users }: YearOptions,
  plan: YearPlan,
  out: Terminal,
  stopped: AbortSignal,
): Promise<LocalSystem> {
  const environment: Environment = {
    ...process.env,
    PORT: '0',
    DASHBOARD_PORT: '0',
    METRICS_PORT: '',
    COLLECTION_CONCURRENCY: COLLECTIONS_AT_ONCE,
  };
  const stack: StackOptions =
    data === null
      ? {
          dataDir: mkdtempSync(join(tmpdir(), 'collections-year-')),
          inMemory: true,
          removeDataDir: true,
        }
      : { dataDir: data };
  return startLocalSystem(environment, { ...out, line: () => undefined }, stopped, {
    stack,
    bridgeTimes: BRIDGE_TIMES,
    async seed(whole) {
      await sandboxClient(whole).setTime(midnightOf(plan.from));
      await seed(whole, { users, prefix: PREFIX, onlyIfMissing: false, memberOf: yearMember }, out);
    },
  });
}

/** Now, and not after minutes. */
function refuseBadPlaces({ out, data }: YearOptions): void {
  refuseBadPage(resolve(out));
  if (data === null) return;
  makeFolder(data);
  if (readdirSync(data).length > 0) throw new Error(`--data: ${data} is not empty`);
}

function makeFolder(data: string): void {
  try {
    mkdirSync(data, { recursive: true });
  } catch (error) {
    throw new Error(`--data: ${data} cannot be made a folder`, { cause: error });
  }
}

function refuseBadPage(page: string): void {
  const folder = dirname(page);
  if (!existsSync(folder)) throw new Error(`--out: there is no folder ${folder}`);
  const isThere = existsSync(page);
  if (isThere && statSync(page).isDirectory())
    throw new Error(`--out: ${page} is a folder; it must be a file`);
  try {
    // Only trying tells: root may write anywhere by the rights of a folder, and still not below /proc.
    closeSync(openSync(page, 'a'));
  } catch (error) {
    throw new Error(`--out: ${page} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
  if (!isThere) rmSync(page);
}

function stopWhenAsked(): AbortSignal {
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopped.abort());
  return stopped.signal;
}

main().then(
  // Connections that idle in a pool would hold the process for a few more seconds.
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(
      `${colour('red', 'failed')}: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  },
);
