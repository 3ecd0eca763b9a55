import { join } from 'node:path';
import type { LoggerOptions } from '../adapters/logging/logger.ts';
import { createLogger, logFile } from '../adapters/logging/logger.ts';
import { openMetrics } from '../wiring/metrics.ts';
import type { RunningRole } from '../wiring/role.ts';
import type { RunningApi } from '../api/start-api.ts';
import { startApi } from '../api/start-api.ts';
import type { RunningDashboard } from '../../dashboard/start-dashboard.ts';
import { startDashboard } from '../../dashboard/start-dashboard.ts';
import { startBridges } from '../../workers/bridges/start-bridges.ts';
import { startScheduler } from '../../workers/start-scheduler.ts';
import { startWorkers } from '../../workers/start-workers.ts';
import type { Environment } from '../config/read-config.ts';
import { onlySet, readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import { preferredPort } from '../embedded/free-port.ts';
import type { StackOptions } from '../embedded/stack.ts';
import { startStack } from '../embedded/stack.ts';
import type { BridgeTimes } from '../app/bridge/bridge.ts';
import type { Bank } from './local-bank.ts';
import { bankVariables, startBank } from './local-bank.ts';
import { removeLocalEnvironment, writeLocalEnvironment } from './local-environment.ts';
import { localTokens } from './local-tokens.ts';
import { makeTables } from './make-tables.ts';
import { sandboxClient } from './sandbox-commands.ts';
import { formatInstant } from '../domain/instant.ts';
import type { Terminal } from './terminal.ts';

export interface LocalSystem {
  readonly dataDir: string;
  /** What makes a process part of this system. */
  readonly environment: Environment;
  readonly apiUrl: string;
  summary(): void;
  /** Resolves when the signal aborts; rejects when a part ends by itself. */
  untilStopped(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export interface LocalSystemOptions {
  readonly stack: StackOptions;
  /** Before any role starts: whatever is due must find its members. */
  readonly seed: (environment: Environment) => Promise<void>;
  /** How often the bridges look. Default: as in life. */
  readonly bridgeTimes?: BridgeTimes;
}

const API_PORT = 3_000;
const DASHBOARD_PORT = 3_001;

/** Servers, pretend bank, tables, members, workers, in the order in which they need each other. */
export async function startLocalSystem(
  given: Environment,
  out: Terminal,
  signal: AbortSignal,
  options: LocalSystemOptions,
): Promise<LocalSystem> {
  const environment = onlySet(given);
  const { general } = readConfig(environment, { general: sections.general });
  const folder = options.stack.dataDir;
  out.line('starting Redis, DynamoDB and Kinesis …');
  const stack = await startStack(options.stack);
  const parts: { bank?: Bank; roles: readonly RunningRole[] } = { roles: [] };
  const stop = async (): Promise<void> => {
    removeLocalEnvironment(folder);
    await Promise.all(parts.roles.map((role) => role.stop()));
    await parts.bank?.stop();
    await stack.stop();
  };
  try {
    const servers = {
      REDIS_URL: stack.redisUrl,
      AWS_ENDPOINT_URL_DYNAMODB: stack.dynamodbUrl,
      AWS_ENDPOINT_URL_KINESIS: stack.kinesisUrl,
    };
    // Before the bank starts: it publishes to a stream.
    for await (const { name, what, status } of makeTables(
      { ...environment, ...servers },
      { addIndex: true },
    )) {
      signal.throwIfAborted();
      if (status === 'made') out.line(`made ${name}: ${what}`);
    }
    const bank = await startBank(folder, { ...environment, ...servers });
    parts.bank = bank;
    const variables = {
      ...servers,
      ...bankVariables(bank.url),
      API_TOKENS: environment['API_TOKENS'] ?? localTokens(folder),
    };
    writeLocalEnvironment(folder, variables);
    const unused = Object.entries(variables)
      .filter(([name, value]) => (environment[name] ?? value) !== value)
      .map(([name]) => name);
    if (unused.length > 0) out.line(`not used, as npm start brings its own: ${unused.join(', ')}`);
    const whole = {
      ...environment,
      ...variables,
      PORT: environment['PORT'] ?? String(await preferredPort(API_PORT)),
      DASHBOARD_PORT: environment['DASHBOARD_PORT'] ?? String(await preferredPort(DASHBOARD_PORT)),
    };
    await options.seed(whole);
    const { api, dashboard, others } = await startRoles(whole, folder, {
      level: general.LOG_LEVEL,
      times: options.bridgeTimes,
    });
    parts.roles = [dashboard, api, ...others];
    const apiUrl = `http://127.0.0.1:${api.port}`;
    const consoleUrl = `http://127.0.0.1:${dashboard.port}`;
    const { now } = await sandboxClient(whole).time();
    return {
      dataDir: folder,
      environment: whole,
      apiUrl,
      stop,
      summary: () =>
        summary(out, {
          ...stack,
          bankUrl: bank.url,
          apiUrl,
          consoleUrl,
          tokens: variables.API_TOKENS,
          now: formatInstant(now),
          folder,
        }),
      untilStopped: (asked) =>
        untilStopped(asked, [stack.died.then(({ program, cause }) => `${program} (${cause})`), bank.died]),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type SummaryField =
  | 'redisUrl'
  | 'dynamodbUrl'
  | 'kinesisUrl'
  | 'bankUrl'
  | 'apiUrl'
  | 'consoleUrl'
  | 'tokens'
  | 'now'
  | 'folder';

function summary(
  out: Terminal,
  {
    redisUrl,
    dynamodbUrl,
    kinesisUrl,
    bankUrl,
    apiUrl,
    consoleUrl,
    tokens,
    now,
    folder,
  }: Record<SummaryField, string>,
): void {
  out.line();
  out.table(
    ['running', 'where', 'what'],
    [
      ['Redis', redisUrl, 'queues; append-only, never evicts'],
      ['DynamoDB', dynamodbUrl, 'billing records, history, locks'],
      ['Kinesis', kinesisUrl, 'membership and payment events'],
      [
        'Scheduler, workers, bridges',
        'in this process',
        `runs, collections, janitor, events; log in ${folder}/logs/workers.log`,
      ],
      ['API', apiUrl, 'documentation at /docs'],
      ['Console', consoleUrl, 'sign in with a name and token below; Bull Board at /queues'],
      ['Sandbox bank', bankUrl, `users, accounts, payments; ledger at /ledger; its clock says ${now}`],
    ],
  );
  out.line(`Tokens of the API and the console (name:role:token): ${tokens.replaceAll(',', ' ')}`);
  out.line(
    'In another terminal: npm run cli -- forecast scheduled | npm run cli -- sandbox advance 1d | npm run cli -- doctor',
  );
}

/** In this process: one less to start, and the same code as when each is its own. */
async function startRoles(
  environment: Environment,
  folder: string,
  { level, times }: { readonly level: LoggerOptions['level']; readonly times: BridgeTimes | undefined },
): Promise<{
  readonly api: RunningApi;
  readonly dashboard: RunningDashboard;
  readonly others: readonly RunningRole[];
}> {
  const destination = logFile(join(folder, 'logs', 'workers.log'));
  const log = (role: string) => createLogger({ role, level, destination });
  const metrics = openMetrics(environment);
  const others = [
    await startWorkers(environment, { log: log('workers'), metrics }),
    await startBridges(
      { FEEDER_ENABLED: 'true', ...environment, METRICS_PORT: '' },
      { log: log('bridges'), metrics, ...(times === undefined ? {} : { times }) },
    ),
    // One process, one set of metrics, one port for them.
    await startScheduler({ ...environment, METRICS_PORT: '' }, { log: log('scheduler'), metrics }),
  ];
  return {
    api: await startApi(environment, { log: log('api'), metrics }),
    dashboard: await startDashboard(environment, { log: log('dashboard'), metrics }),
    others,
  };
}

async function untilStopped(signal: AbortSignal, deaths: readonly Promise<string>[]): Promise<void> {
  const asked = new Promise<null>((resolveAsked) => {
    if (signal.aborted) resolveAsked(null);
    signal.addEventListener('abort', () => resolveAsked(null), { once: true });
  });
  const first = await Promise.race([asked, ...deaths]);
  if (first !== null) throw new Error(`${first} ended by itself; its log under the data folder says why`);
}
