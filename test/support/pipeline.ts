import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectRedis } from '../../queues/connection.ts';
import { QueueSet } from '../../queues/queue-set.ts';
import { BatchReader } from '../../src/adapters/dynamodb/batch-reader.ts';
import { DynamoRuns } from '../../src/adapters/dynamodb/runs.ts';
import { NO_LOG } from '../../src/adapters/logging/logger.ts';
import { systemTimer } from '../../src/adapters/system-timer.ts';
import { startRun } from '../../src/app/run-collections.ts';
import { runAudit } from '../../src/cli/audit-command.ts';
import type { Instant } from '../../src/domain/instant.ts';
import { formatInstant } from '../../src/domain/instant.ts';
import type { RunId, RunProcess } from '../../src/domain/runs.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import type { CollectionStep } from '../../src/ports/steps.ts';
import type { Run, RunStore } from '../../src/ports/runs.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import { SHORT_TIMES } from './bridges.ts';
import { at } from './records.ts';
import { eventually } from './processes.ts';
import type { PrivateRedis } from './redis-server.ts';
import { privateRedis } from './redis-server.ts';
import { sharedStack, temporaryFolder } from './stack.ts';
import type { World } from './world.ts';
import { world } from './world.ts';

const WORKER = fileURLToPath(new URL('./worker-process.mjs', import.meta.url));
const BRIDGE = fileURLToPath(new URL('./bridge-process.mjs', import.meta.url));
const SCHEDULER = fileURLToPath(new URL('../../dist/workers/scheduler-main.js', import.meta.url));

export interface CrashPoint {
  readonly step: CollectionStep;
  readonly userId: string;
  /** SIGKILL: it dies. SIGSTOP: it sleeps until somebody wakes it. */
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

export interface RunningProcess {
  readonly pid: number;
  /** What it logged. */
  output(): string;
  /** Resolves with the exit code, or the signal that ended it, when all that it wrote is in `output`. */
  readonly ended: Promise<number | string>;
  /** The crash point that it reached, as soon as it does. */
  readonly reached: Promise<CrashPoint>;
  /** Of a bridge: how many events it has stored. */
  stored(): number;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<number | string>;
}

/** Real tables, the real bank, a Redis of its own, and real worker processes on all of them. */
export interface Pipeline {
  readonly here: World;
  readonly redis: PrivateRedis;
  readonly queues: QueueSet;
  readonly runs: RunStore;
  readonly environment: Readonly<Record<string, string>>;
  worker(options?: {
    readonly crashPoints?: readonly CrashPoint[];
    readonly env?: Readonly<Record<string, string>>;
  }): Promise<RunningProcess>;
  bridge(env: Readonly<Record<string, string>>): Promise<RunningProcess>;
  scheduler(env?: Readonly<Record<string, string>>): Promise<RunningProcess>;
  /** Every process so far. */
  started(): readonly RunningProcess[];
  /** Members with a record each that is due. */
  members(count: number, settings?: object, fields?: Partial<Subscription>): Promise<StoredSubscription[]>;
  start(process: RunProcess, tick?: Instant): Promise<Run>;
  over(runId: RunId): Promise<Run>;
  /** The lines of the audit that name a violation; none when all is well. */
  audit(): Promise<string[]>;
  close(): Promise<void>;
}

/** Short, so that a dead worker is missed soon; the lock must still outlast a charge and its outcome. */
const TIMES = {
  LOCK_LEASE_MS: '3000',
  LOCK_HEARTBEAT_MS: '250',
  QUEUE_STALL_MS: '2000',
  PROCESSOR_TIMEOUT_MS: '1000',
};

const MADE_AT_ONCE = 25;

export const TICK = at('2026-11-16T08:00:00Z');

export async function pipeline(env: Readonly<Record<string, string>> = {}): Promise<Pipeline> {
  const [here, redis, folder] = await Promise.all([
    world({ withFloats: true, withRecurring: true }),
    privateRedis(),
    temporaryFolder(),
  ]);
  await here.bank('PUT', '/clock', { now: formatInstant(TICK), frozen: true });
  const { client, tables } = here.store;
  const reader = new BatchReader({ client, table: tables.pipeline, timer: systemTimer, random: Math.random });
  const runs = new DynamoRuns({ client, table: tables.pipeline, reader, log: NO_LOG });
  const connection = connectRedis({ url: redis.url, whenDown: 'wait', onError: () => undefined });
  const queues = new QueueSet(connection);
  const environment = {
    REDIS_URL: redis.url,
    AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
    BILLING_TABLE: tables.billing,
    HISTORY_TABLE: tables.history,
    LOCKS_TABLE: tables.locks,
    PIPELINE_TABLE: tables.pipeline,
    DYNAMO_TABLE: tables.floats,
    COLLECTION_HISTORY_TABLE: tables.collectionHistory,
    BYPASS_TABLE: tables.bypass,
    RECURRING_TABLE: tables.recurring,
    USER_SERVICE_URL: here.url,
    TXN_SERVICE_URL: here.url,
    PAYMENTS_SERVICE_URL: here.url,
    NOTIFICATIONS_URL: here.url,
    CLOCK_URL: `${here.url}/clock`,
    LOG_LEVEL: 'info',
    ...TIMES,
    ...env,
  };
  const started: RunningProcess[] = [];
  const begin = (entry: string, more: Readonly<Record<string, string>>) => {
    const running = runProcess(entry, { ...environment, ...more });
    started.push(running);
    return running;
  };
  return {
    here,
    redis,
    queues,
    runs,
    environment,
    async worker({ crashPoints = [], env: more = {} } = {}) {
      const points = crashPoints.map((point) => ({
        ...point,
        mark: join(folder.path, `${point.step}-${point.userId}`),
      }));
      const running = begin(WORKER, { ...more, CRASH_POINTS: JSON.stringify(points) });
      // One that comes to its crash point before it is wholly up has been up.
      await Promise.race([running.up, running.reached]);
      return running;
    },
    async bridge(more) {
      const running = begin(BRIDGE, { BRIDGE_TIMES: JSON.stringify(SHORT_TIMES), ...more });
      await running.up;
      return running;
    },
    async scheduler(env = {}) {
      const running = begin(SCHEDULER, env);
      await eventually('the scheduler is up', () => running.output().includes('scheduler is up'));
      return running;
    },
    started: () => started,
    async members(count, settings = {}, fields = {}) {
      const made: StoredSubscription[] = [];
      while (made.length < count) {
        const some = Math.min(MADE_AT_ONCE, count - made.length);
        made.push(...(await Promise.all(Array.from({ length: some }, () => here.member(settings, fields)))));
      }
      return made;
    },
    async start(process, tick = TICK) {
      const run = await startRun({ runs, clock: { now: () => tick } }, process, tick);
      await queues.addPage(run);
      return run;
    },
    over: (runId) =>
      eventually(`run ${runId} is over`, async () => {
        const run = await runs.get(runId);
        return run !== null && run.status !== 'running' && run;
      }),
    async audit() {
      const lines: string[] = [];
      const out = {
        line: (text = '') => void lines.push(text),
        progress: () => ({ update: () => undefined, finish: () => undefined }),
      };
      await runAudit(environment, { json: false }, out);
      return lines.filter((line) => line.includes('rule') || !line.includes('no violation'));
    },
    async close() {
      for (const running of started) running.signal('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
      await queues.close();
      connection.disconnect();
      await redis.stop();
      await here.close();
      await folder.remove();
    },
  };
}

function runProcess(
  entry: string,
  env: Readonly<Record<string, string>>,
): RunningProcess & { readonly up: Promise<unknown> } {
  const child = fork(entry, {
    env: { PATH: process.env['PATH'], ...env },
    execArgv: [],
    silent: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-200_000)));
  }
  let stored = 0;
  child.on('message', (received: { stored?: number }) => (stored += received.stored ?? 0));
  const ended = once(child, 'close').then(([code, signal]) => (signal ?? code) as number | string);
  return {
    pid: child.pid ?? 0,
    output: () => output,
    ended,
    up: message(child, 'up', () => output),
    reached: message(child, 'at', () => output) as Promise<CrashPoint>,
    stored: () => stored,
    signal: (name) => void child.kill(name),
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

function message(child: ChildProcess, key: 'up' | 'at', output: () => string): Promise<unknown> {
  const heard = new Promise((resolve, reject) => {
    child.on('message', (received: Record<string, unknown>) => {
      if (key in received) resolve(received[key]);
    });
    child.once('exit', () => reject(new Error(`the process ended: ${output()}`)));
  });
  // Most processes never reach a crash point, and nobody waits for it then.
  heard.catch(() => undefined);
  return heard;
}
