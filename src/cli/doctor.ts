import { z } from 'zod';
import { createDynamoClient } from '../adapters/dynamodb/client.ts';
import { inspectTable, tableDefinitions } from '../adapters/dynamodb/tables.ts';
import { createKinesisClient } from '../adapters/kinesis/client.ts';
import { streamIsThere } from '../adapters/kinesis/streams.ts';
import { inspectRedis } from '../adapters/redis/inspect-redis.ts';
import { HttpService } from '../adapters/services/http.ts';
import { sigV4 } from '../adapters/services/sign-request.ts';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import { refuseShortLease } from '../wiring/charging.ts';
import { tableNames } from './make-tables.ts';

/** `warn` works, but not as it should. */
export interface Diagnosis {
  readonly dependency: string;
  readonly what: string;
  readonly health: 'ok' | 'warn' | 'bad';
  readonly detail: string;
}

type Finding = Omit<Diagnosis, 'dependency'>;

type Check = (environment: Environment) => Promise<Finding[]>;

/** Every dependency is looked at, whatever is wrong with the others. */
const CHECKS: Readonly<Record<string, Check>> = {
  Redis: checkRedis,
  DynamoDB: checkDynamo,
  Kinesis: checkKinesis,
  'User service': serviceCheck({
    url: 'USER_SERVICE_URL',
    region: 'USER_SERVICE_REGION',
    path: '/users/doctor-probe',
  }),
  'Transactions service': serviceCheck({
    url: 'TXN_SERVICE_URL',
    token: 'TXN_TOKEN',
    path: '/users/doctor-probe/accounts/primary',
  }),
  'Payments service': serviceCheck({
    url: 'PAYMENTS_SERVICE_URL',
    token: 'PAYMENTS_TOKEN',
    path: '/payments/by-key/doctor-probe',
  }),
  'Notifications service': serviceCheck({
    url: 'NOTIFICATIONS_URL',
    token: 'NOTIFICATIONS_TOKEN',
    path: '/notifications',
  }),
  Clock: checkClock,
  Rules: checkRules,
};

export async function* examine(environment: Environment): AsyncGenerator<Diagnosis> {
  for (const [dependency, check] of Object.entries(CHECKS)) {
    try {
      for (const diagnosis of await check(environment)) yield { dependency, ...diagnosis };
    } catch (error) {
      yield { dependency, what: 'reach', health: 'bad', detail: messageOf(error) };
    }
  }
}

const ok = (what: string, detail: string): Finding => ({ what, health: 'ok', detail });

async function checkRedis(environment: Environment): Promise<Finding[]> {
  const { redis } = readConfig(environment, { redis: sections.redis });
  const findings = await inspectRedis(redis.REDIS_URL);
  return findings.map(({ what, ok: good, detail, remedy }) =>
    good ? ok(what, detail) : { what, health: 'warn', detail: `${detail}: ${remedy ?? ''}` },
  );
}

async function checkDynamo(environment: Environment): Promise<Finding[]> {
  const { dynamodb } = readConfig(environment, { dynamodb: sections.dynamodb });
  const client = createDynamoClient({
    region: dynamodb.DYNAMO_REGION,
    endpoint: dynamodb.AWS_ENDPOINT_URL_DYNAMODB,
  });
  try {
    const findings = await Promise.all(
      tableDefinitions(tableNames(dynamodb)).map((table) => inspectTable(client, table)),
    );
    return findings.flat().map(({ table, what, status, remedy, optional }) => {
      const name = what === 'table' ? table : `${table}, ${what}`;
      if (remedy === undefined) return ok(name, status);
      const isNeeded = optional !== true || (what === 'stream' && environment['FEEDER_ENABLED'] === 'true');
      return { what: name, health: isNeeded ? 'bad' : 'warn', detail: `${status}: ${remedy}` };
    });
  } finally {
    client.destroy();
  }
}

const NO_STREAM = 'missing: `npm run cli -- tables` makes it; in prod whoever owns the stream does';

async function checkKinesis(environment: Environment): Promise<Finding[]> {
  const { kinesis, dynamodb } = readConfig(environment, {
    kinesis: sections.kinesis,
    dynamodb: sections.dynamodb,
  });
  const client = createKinesisClient({
    region: dynamodb.DYNAMO_REGION,
    endpoint: kinesis.AWS_ENDPOINT_URL_KINESIS,
  });
  try {
    const names = [kinesis.USERS_STREAM, kinesis.PAYMENTS_STREAM, kinesis.SUBSCRIPTIONS_STREAM];
    const there = await Promise.all(names.map((name) => streamIsThere(client, name)));
    return names.map((name, i) =>
      there[i] === true ? ok(name, 'there') : { what: name, health: 'bad', detail: NO_STREAM },
    );
  } finally {
    client.destroy();
  }
}

type ServiceVariable = keyof typeof sections.services.shape;

interface Probe {
  readonly url: ServiceVariable;
  /** By which of these it knows us. */
  readonly token?: ServiceVariable;
  readonly region?: ServiceVariable;
  /** Of something that does not exist. */
  readonly path: string;
}

const PROBE_MS = 5_000;

/** Asked as production asks. Any other answer below 500 comes from the service itself. */
function serviceCheck(probe: Probe): Check {
  const knownBy = probe.token ?? probe.region ?? probe.url;
  return async (environment) => {
    const { shape } = sections.services;
    const schema = z.object({ [probe.url]: shape[probe.url], [knownBy]: shape[knownBy] });
    const { [probe.url]: url = '', [knownBy]: secret } = readConfig(environment, { schema }).schema;
    const service = new HttpService({
      name: probe.url,
      url,
      token: probe.token === undefined ? undefined : secret,
      sign: probe.region === undefined || secret === undefined ? undefined : sigV4({ region: secret }),
      timeoutMs: PROBE_MS,
    });
    const { status } = await service.send('GET', probe.path);
    if (status === 401 || status === 403)
      return [{ what: url, health: 'bad', detail: `answers ${status}: ${refusal(knownBy, secret)}` }];
    if (status >= 500)
      return [{ what: url, health: 'bad', detail: `answers ${status}: look at its own logs` }];
    return [ok(url, 'answers')];
  };
}

const refusal = (variable: ServiceVariable, value: string | undefined): string =>
  value === undefined ? `it wants to know who asks, set ${variable}` : `it does not accept our ${variable}`;

async function checkClock(environment: Environment): Promise<Finding[]> {
  const { clock } = readConfig(environment, { clock: sections.clock });
  if (clock.CLOCK_URL === undefined) return [ok('time', 'the system clock')];
  const response = await fetch(clock.CLOCK_URL, { signal: AbortSignal.timeout(5_000) });
  const { now } = (await response.json()) as { now?: unknown };
  return [ok(clock.CLOCK_URL, `the sandbox's clock says ${String(now)}`)];
}

/** Whatever would keep a role from starting. Tokens are known to API and dashboard only. */
async function checkRules(environment: Environment): Promise<Finding[]> {
  const { lock, processor } = readConfig(environment, {
    general: sections.general,
    lock: sections.lock,
    processor: sections.processor,
    workers: sections.workers,
    ownership: sections.ownership,
    bridges: sections.bridges,
    janitor: sections.janitor,
    forecast: sections.forecast,
    policy: sections.policy,
    floats: sections.floats,
    recurring: sections.recurring,
    tiers: sections.tiers,
    gateways: sections.gateways,
    ...(environment['API_TOKENS'] ? { api: sections.api, dashboard: sections.dashboard } : {}),
  });
  refuseShortLease({ lock, processor });
  return [ok('configuration', 'every role can start with it')];
}

/** A refused connection hides behind a general message. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const inner = cause instanceof AggregateError ? (cause.errors as unknown[])[0] : cause;
  const detail = inner instanceof Error && inner.message !== '' ? `: ${inner.message}` : '';
  return `${error.message.replace(/^bad configuration:\s*/, '')}${detail}`;
}
