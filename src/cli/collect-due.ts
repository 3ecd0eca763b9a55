import { QueueSet } from '../../queues/queue-set.ts';
import { connectRedis } from '../../queues/connection.ts';
import { systemTimer } from '../adapters/system-timer.ts';
import { startRun } from '../app/run-collections.ts';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import { wholeSecond } from '../domain/instant.ts';
import type { Cents } from '../domain/money.ts';
import { ZERO, addMoney, formatMoney } from '../domain/money.ts';
import type { RunProcess } from '../domain/runs.ts';
import type { VerdictName } from '../domain/verdict.ts';
import type { Run } from '../ports/runs.ts';
import type { Terminal } from './terminal.ts';
import { waitForRun } from './wait-for-run.ts';
import { withStores } from './with-stores.ts';

/** In the order of their day. */
const DAY: readonly RunProcess[] = [
  'retry',
  'scheduled',
  'float-retry',
  'stale',
  'float-tomorrow',
  'float-today',
  'recurring-reminders',
  'recurring-payments',
  'pause',
];

/** Runs everything that is due now, one run after the other, while people watch. Gives the runs with their reports. */
export function collectDue(environment: Environment, out: Terminal, signal: AbortSignal): Promise<Run[]> {
  const config = readConfig(environment, {
    redis: sections.redis,
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    clock: sections.clock,
  });
  return withStores(config, async ({ stores: { runs }, clock }) => {
    const redis = connectRedis({
      url: config.redis.REDIS_URL,
      whenDown: 'wait',
      onError: () => undefined,
    });
    const queues = new QueueSet(redis);
    try {
      const done: Run[] = [];
      for (const process of DAY) {
        const started = await startRun({ runs, clock }, process, wholeSecond(clock.now()));
        await queues.ensurePage(started);
        out.line(`run ${started.runId}`);
        const last = await waitForRun({ runs, queues, timer: systemTimer }, started.runId, out, signal);
        if (last === null) throw signal.reason;
        done.push(last);
      }
      return done;
    } finally {
      redis.disconnect();
    }
  });
}

/** Which verdicts make up which column. */
const COLUMNS = {
  collected: ['collected', 'sent'],
  told: ['notified'],
  'not paid': ['declined', 'refused', 'unknown', 'given-up'],
  closed: ['cancelled', 'waived', 'stale', 'pause-skipped', 'defaulted'],
  'left for later': [
    'no-op',
    'deferred',
    'skipped',
    'uncollectable',
    'blocked',
    'held',
    'locked',
    'failed',
    'malformed',
  ],
} as const satisfies Record<string, readonly VerdictName[]>;

/** One line for each run: how many records were due and what came of them. */
export function dayTable(runs: readonly Run[], out: Terminal): void {
  out.table(
    ['run', 'due', ...Object.keys(COLUMNS), 'money collected'],
    runs.map((run) => [
      run.status === 'stopped' ? `${run.process} (stopped itself)` : run.process,
      String(run.due),
      ...Object.values(COLUMNS).map((names) => String(sumOf(run, names).count)),
      `$${formatMoney(sumOf(run, COLUMNS.collected).amount)}`,
    ]),
  );
}

function sumOf(
  { report }: Run,
  names: readonly VerdictName[],
): { readonly count: number; readonly amount: Cents } {
  const tallies = names.flatMap((name) => report?.byVerdict[name] ?? []);
  return {
    count: tallies.reduce((sum, { count }) => sum + count, 0),
    amount: tallies.reduce((sum, { amount }) => addMoney(sum, amount), ZERO),
  };
}
