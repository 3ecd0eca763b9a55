import type { Command } from 'commander';
import type { QueueSet } from '../../queues/queue-set.ts';
import { NO_LOG } from '../adapters/logging/logger.ts';
import { systemTimer } from '../adapters/system-timer.ts';
import { compareWithForecast } from '../app/compare-forecast.ts';
import { orderRun } from '../app/order-run.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import type { Instant } from '../domain/instant.ts';
import { formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import type { RunProcess } from '../domain/runs.ts';
import { RUN_PROCESSES, isCollecting } from '../domain/runs.ts';
import { VERDICTS } from '../domain/verdict.ts';
import { runFigures } from '../figures/run-figures.ts';
import type { Run } from '../ports/runs.ts';
import { asOf, runProcess } from './arguments.ts';
import type { CliContext } from './context.ts';
import { queuesOn, reachRedis, soon } from './reach-redis.ts';
import { tallyTable } from './tally-table.ts';
import type { Terminal } from './terminal.ts';
import { colour, terminal } from './terminal.ts';
import { waitForRun } from './wait-for-run.ts';
import type { Opened } from './with-stores.ts';
import { withStores } from './with-stores.ts';

interface RunOptions {
  readonly asOf?: Instant;
  readonly wait: boolean;
  readonly json: boolean;
}

/** What a shell reports of a command that Ctrl-C ended. */
const INTERRUPTED = 130;

export function addRunCommand(program: Command, context: CliContext): void {
  program
    .command('run')
    .description(
      'start a run: its due records are handed to the workers, who charge them or, for notify, tell their members. Started twice for the same time it is one run',
    )
    .argument('<process>', `which run: ${RUN_PROCESSES.join(', ')}`, runProcess)
    .option('--as-of <time>', 'for what was due by then, a time in the past; now when left out', asOf)
    .option('--wait', 'show how far it is, and its report; ends with 1 when the run stopped itself', false)
    .option('--json', 'the last line on standard output is one JSON object', false)
    .action(async (name: RunProcess, options: RunOptions) => {
      const out = options.json ? terminal(process.stderr) : terminal();
      process.exitCode = await run(context, name, options, out);
    });
}

function run(
  { environment, target }: CliContext,
  name: RunProcess,
  options: RunOptions,
  out: Terminal,
): Promise<number> {
  const config = readConfig(environment, {
    redis: sections.redis,
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
  });
  return withStores(config, async (opened) => {
    out.line(target);
    const redis = await reachRedis(config.redis.REDIS_URL);
    const queues = redis === null ? null : await queuesOn(redis);
    try {
      const started = await order(opened, queues, name, options, out);
      const last = options.wait ? await wait(opened, queues, started, out) : started;
      if (last === null) return INTERRUPTED;
      if (last.report !== null) showReport(last, out);
      if (options.json) process.stdout.write(`${JSON.stringify(runFigures(last))}\n`);
      return last.status === 'stopped' ? 1 : 0;
    } finally {
      redis?.disconnect();
    }
  });
}

const STATUS: Record<Run['status'], string> = {
  running: 'under way',
  complete: 'complete',
  stopped: colour('red', 'stopped'),
};

async function order(
  { stores: { runs }, clock }: Opened,
  queues: QueueSet | null,
  name: RunProcess,
  { asOf = null }: { readonly asOf?: Instant | null },
  out: Terminal,
): Promise<Run> {
  const ordered = await orderRun({ runs, clock, log: NO_LOG, wake: waking(queues) }, name, asOf);
  if ('ahead' in ordered) throw aheadOfClock(name, ordered.ahead);
  out.line(`run ${ordered.run.runId} is ${STATUS[ordered.run.status]}`);
  if (!ordered.handedOver) {
    out.line(
      `${colour('yellow', '!')} Redis does not answer. The run is stored; the scheduler takes it up when Redis is back`,
    );
  }
  return ordered.run;
}

const waking = (queues: QueueSet | null) => async (run: Run) => {
  const added = queues === null ? null : await soon(queues.ensurePage(run).then(() => true));
  if (added === null) throw new Error('Redis does not answer');
};

function aheadOfClock(name: RunProcess, { tick, now }: { tick: Instant; now: Instant }): Error {
  const [at, is] = [formatInstant(tick), formatInstant(now)];
  const hint = isCollecting(name)
    ? `: \`forecast ${name} --as-of ${at}\` tells what a run would do then`
    : '';
  return new Error(`--as-of ${at} is ahead of the clock, which says ${is}${hint}`);
}

async function wait(
  { stores: { runs } }: Opened,
  queues: QueueSet | null,
  { runId }: Run,
  out: Terminal,
): Promise<Run | null> {
  const interrupted = new AbortController();
  const onInterrupt = (): void => interrupted.abort();
  process.on('SIGINT', onInterrupt);
  try {
    const last = await waitForRun({ runs, queues, timer: systemTimer }, runId, out, interrupted.signal);
    if (last === null)
      out.line(`run ${runId} goes on without this command; start it again to go on watching`);
    return last;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

function showReport(last: Run, out: Terminal): void {
  const { report, forecast, status, notOwned } = last;
  if (report === null) return;
  out.line(
    `run ${last.runId} is ${STATUS[status]}: ${report.records} records, ${formatMoney(report.amount)}`,
  );
  tallyTable(out, 'verdict', VERDICTS, report.byVerdict);
  if (notOwned > 0) out.line(`${notOwned} due records belong to the older service (OWNED_USERS)`);
  if (status === 'stopped')
    out.line(
      `${colour('red', '✗')} the run stopped itself: too many of its members are said to be missing or inactive. ` +
        'Those were left as they are. Is the user service right?',
    );
  if (forecast !== null) showDifferences(compareWithForecast(forecast, report), forecast.asOf, out);
}

function showDifferences(
  differences: ReturnType<typeof compareWithForecast>,
  asOf: Instant,
  out: Terminal,
): void {
  const which = `the forecast as of ${formatInstant(asOf)}`;
  if (differences.length === 0) return out.line(`${colour('green', '✓')} as ${which} said`);
  out.line(`${colour('yellow', '!')} unlike what ${which} said:`);
  out.table(
    ['plan', 'forecast', 'amount', 'decided', 'amount'],
    differences.map(({ plan, forecast, run: decided }) => [
      plan,
      String(forecast.count),
      formatMoney(forecast.amount),
      String(decided.count),
      formatMoney(decided.amount),
    ]),
  );
}
