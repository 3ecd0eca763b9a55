import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDashboard } from '../../dashboard/start-dashboard.ts';
import { createLogger } from '../../src/adapters/logging/logger.ts';
import { createMetrics } from '../../src/adapters/metrics/prometheus.ts';
import { startApi } from '../../src/api/start-api.ts';
import { freePort } from '../../src/embedded/free-port.ts';
import type { RunningRole } from '../../src/wiring/role.ts';
import { startBridges } from '../../workers/bridges/start-bridges.ts';
import { startScheduler } from '../../workers/start-scheduler.ts';
import { startWorkers } from '../../workers/start-workers.ts';
import { API_TOKENS, NO_SERVICES } from '../support/api.ts';
import type { BillingStore } from '../support/billing-store.ts';
import { billingStore } from '../support/billing-store.ts';
import { SHORT_TIMES } from '../support/bridges.ts';
import type { EventStreamBench } from '../support/event-stream.ts';
import { eventStream } from '../support/event-stream.ts';
import { eventually } from '../support/processes.ts';
import type { PrivateRedis } from '../support/redis-server.ts';
import { privateRedis } from '../support/redis-server.ts';
import { sharedStack } from '../support/stack.ts';
import type { TcpGate } from '../support/tcp-gate.ts';
import { tcpGate } from '../support/tcp-gate.ts';

type Dependency = 'dynamodb' | 'redis' | 'kinesis';
type Tools = Parameters<typeof startWorkers>[1];
type Environment = Readonly<Record<string, string>>;

interface Case {
  readonly start: (environment: Environment, tools: Tools) => Promise<RunningRole>;
  /** What it leans on, and what it says with that down. */
  readonly down: Readonly<Partial<Record<Dependency, 'not ready' | 'degraded'>>>;
  /** What else it looks at. */
  readonly more?: Readonly<Record<string, 'up'>>;
}

const ROLES: Readonly<Record<string, Case>> = {
  workers: { start: startWorkers, down: { dynamodb: 'not ready', redis: 'not ready' } },
  scheduler: { start: startScheduler, down: { dynamodb: 'not ready', redis: 'not ready' } },
  bridges: {
    start: (environment, tools) => startBridges(environment, { ...tools, times: SHORT_TIMES }),
    down: { dynamodb: 'not ready', redis: 'degraded', kinesis: 'not ready' },
    more: { reading: 'up' },
  },
  api: { start: startApi, down: { dynamodb: 'not ready', redis: 'degraded' } },
  dashboard: { start: startDashboard, down: { dynamodb: 'degraded', redis: 'degraded' } },
};

interface Probed extends Case {
  readonly role: string;
  readonly port: number;
  readonly running: RunningRole;
  /** What it logged about what it leans on. */
  readonly told: (readonly [dependency: unknown, message: unknown])[];
}

let store: BillingStore;
let redis: PrivateRedis;
let streams: readonly EventStreamBench[];
let gates: Record<Dependency, TcpGate>;
let roles: readonly Probed[];

beforeAll(async () => {
  [store, redis, streams] = await Promise.all([
    billingStore(),
    privateRedis(),
    Promise.all([eventStream(1), eventStream(1)]),
  ]);
  gates = {
    dynamodb: await tcpGate(sharedStack().dynamodbUrl),
    redis: await tcpGate(redis.url),
    kinesis: await tcpGate(sharedStack().kinesisUrl),
  };
  roles = await Promise.all(Object.entries(ROLES).map(([role, one]) => started(role, one)));
});
afterAll(async () => {
  await Promise.all(roles.map(({ running }) => running.stop()));
  await Promise.all(Object.values(gates).map((gate) => gate.cut()));
  for (const stream of streams) stream.close();
  await redis.stop();
  await store.drop();
});

async function started(role: string, one: Case): Promise<Probed> {
  const port = await freePort();
  const told: Probed['told'] = [];
  const write = (line: string): void => {
    const { dependency, msg } = JSON.parse(line) as Record<string, unknown>;
    if (dependency !== undefined) told.push([dependency, msg]);
  };
  const log = createLogger({ role, level: 'info', destination: { write } });
  const running = await one.start(environment(port), { log, metrics: createMetrics() });
  return { ...one, role, port, running, told };
}

function environment(port: number): Environment {
  return {
    ...NO_SERVICES,
    API_TOKENS,
    PORT: String(port),
    DASHBOARD_PORT: String(port),
    METRICS_PORT: String(port),
    REDIS_URL: gates.redis.url,
    AWS_ENDPOINT_URL_DYNAMODB: gates.dynamodb.url,
    AWS_ENDPOINT_URL_KINESIS: gates.kinesis.url,
    BILLING_TABLE: store.tables.billing,
    HISTORY_TABLE: store.tables.history,
    LOCKS_TABLE: store.tables.locks,
    PIPELINE_TABLE: store.tables.pipeline,
    USERS_STREAM: streams[0]!.name,
    PAYMENTS_STREAM: streams[1]!.name,
  };
}

interface Probe {
  readonly code: number;
  readonly status: string;
  readonly checks: Readonly<Record<string, string>>;
}

const checksOf = ({ down, more }: Case, isDown?: Dependency): Probe['checks'] => ({
  ...Object.fromEntries(Object.keys(down).map((name) => [name, name === isDown ? 'down' : 'up'])),
  ...more,
});

async function probe(port: number): Promise<Probe> {
  const response = await fetch(`http://127.0.0.1:${port}/health/ready`);
  return { code: response.status, ...((await response.json()) as Omit<Probe, 'code'>) };
}

const saying = (port: number, status: string): Promise<Probe> =>
  eventually(`it says ${status}`, async () => {
    const said = await probe(port).catch(() => null);
    return said?.status === status && said;
  });

const expectReady = async (): Promise<void> => {
  for (const one of roles)
    expect([one.role, await saying(one.port, 'ready')]).toEqual([
      one.role,
      { code: 200, status: 'ready', checks: checksOf(one) },
    ]);
};

describe.each(['redis', 'dynamodb', 'kinesis'] as const)('without %s', (name) => {
  it('every role that leans on it says so, and is ready again when it is back', async () => {
    await expectReady();
    for (const { told } of roles) told.length = 0;
    await gates[name].cut();
    try {
      for (const one of roles) {
        const status = one.down[name] ?? 'ready';
        expect([one.role, await saying(one.port, status)]).toEqual([
          one.role,
          { code: status === 'not ready' ? 503 : 200, status, checks: checksOf(one, name) },
        ]);
        const live = await fetch(`http://127.0.0.1:${one.port}/health/live`);
        expect([live.status, await live.json()]).toEqual([200, { status: 'live' }]);
      }
    } finally {
      await gates[name].open();
    }
    await expectReady();
    // A server that rests for a moment is told of as well.
    for (const { role, down, told } of roles)
      expect([role, told.filter(([dependency]) => dependency === name)]).toEqual([
        role,
        name in down
          ? [
              [name, 'a dependency does not answer'],
              [name, 'a dependency answers again'],
            ]
          : [],
      ]);
  });
});

it.each(['workers', 'scheduler'])(
  'the %s tell how many jobs wait: the one while the other is not up',
  async (role) => {
    const { port } = roles.find((one) => one.role === role)!;
    const scraped = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(scraped).toMatch(/^collections_queue_jobs\{queue="membership-events",state="waiting"\} 0$/m);
  },
);

it('workers that are started without Redis say so, and begin when it is there', async () => {
  await gates.redis.cut();
  const port = await freePort();
  const log = createLogger({ role: 'workers', level: 'silent' });
  const starting = startWorkers(environment(port), { log, metrics: createMetrics() });
  try {
    expect((await saying(port, 'not ready')).checks).toEqual({ dynamodb: 'up', redis: 'down' });
  } finally {
    await gates.redis.open();
  }
  const running = await starting;
  expect((await saying(port, 'ready')).code).toBe(200);
  await running.stop();
});
